"""The artifacts of one run of the gate: each downloaded once, verified, and only then opened and read."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from freeze_gate.errors import NoVerdictError
from freeze_gate.evidence.archive import ArchiveError, open_tree
from freeze_gate.evidence.bundle import BundleReader
from freeze_gate.evidence.kept import Reading, Rows, keep
from freeze_gate.evidence.side import Artifact, Source
from freeze_gate.github.download import Downloads
from freeze_gate.github.http import Api

WORKERS: Final = 8
"""Downloads at a time: enough to hide the latency of a hundred shards, far below GitHub's hundred."""

RESERVE: Final = 4
"""Calls that must be left after the downloads for what a flake still needs: the policy (two), the pull, the label."""


class Archives:
    """Artifacts by id, kept in `folder`, each named by its id."""

    def __init__(self, api: Api, downloads: Downloads, folder: Path, rows: Rows, say: Callable[[str], None]) -> None:
        self._api = api
        self._downloads = downloads
        self._folder = folder
        self._rows = rows
        self._say = say
        self._read: dict[int, Reading] = {}

    def fetch(self, artifacts: Iterable[Artifact]) -> None:
        """Read several at the same time. Raises `NoVerdictError`, also where the hourly limit cannot pay for them."""
        wanted = {artifact.id: artifact for artifact in artifacts if artifact.id not in self._read}
        if wanted:
            self._afford(sum(not artifact.expired for artifact in wanted.values()))
            with ThreadPoolExecutor(min(WORKERS, len(wanted))) as pool:
                self._read |= zip(wanted, pool.map(self._one, wanted.values()), strict=True)

    def read(self, artifact: Artifact) -> Reading:
        """Return what is in an artifact. Raises `NoVerdictError`."""
        self.fetch([artifact])
        return self._read[artifact.id]

    def without(self, source: Source) -> Reading:
        """Return what a source shows that has no artifact: nothing."""
        return Reading(source, self._rows)

    def path(self, artifact: Artifact) -> Path:
        """Return where an artifact's bytes are kept."""
        return self._folder / str(artifact.id)

    def _afford(self, calls: int) -> None:
        left = self._api.remaining
        known = "" if left is None else f", of {left} that are left this hour"
        self._say(f"artifacts to read: {calls}, each for one API call{known}")
        if left is not None and calls and calls + RESERVE > left:
            raise NoVerdictError(
                f"reading {calls} artifacts takes {calls} of the {left} API calls that are left this hour, and "
                f"{RESERVE} more are kept for what follows; merge the shards into one artifact first "
                "(`actions/upload-artifact/merge`), which costs one call a side, or wait until the limit is reset"
            )

    def _one(self, artifact: Artifact) -> Reading:
        path = self.path(artifact)
        try:
            with path.open("w+b") as file:
                arrived = self._downloads.fetch(artifact, file)
        except OSError as error:
            raise NoVerdictError(
                f"an artifact cannot be stored ({error.strerror}): free some space, run again"
            ) from None
        source = Source(artifact.name, artifact, arrived.sha256, artifact.run_id, fault=arrived.fault)
        if arrived.fault:
            return self.without(source)
        try:
            with open_tree(path) as tree:
                return keep(source, self._rows, BundleReader(tree, source).sides())
        except ArchiveError as error:
            return self.without(source._replace(fault=error.fault))
