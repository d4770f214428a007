"""Downloads artifacts, each once. The bytes are verified before they are opened and read."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import BoundedSemaphore
from typing import Final

from freeze_gate.errors import NoVerdictError, describe_shortage
from freeze_gate.evidence.abbreviation import count
from freeze_gate.evidence.archive import RecordBudget
from freeze_gate.evidence.bundle import SourceRecords, read_source
from freeze_gate.evidence.models import Artifact, Source
from freeze_gate.github.client import GitHubClient
from freeze_gate.github.download import ArtifactDownloader

MAX_PARALLEL_DOWNLOADS: Final = 8
"""Enough to hide the latency of a hundred shards, and far below the hundred that GitHub allows."""

_MAX_PARALLEL_READS: Final = 2
"""Archives that are read at a time: each may have a table of contents of some 100 MiB in memory."""

RESERVED_API_CALLS: Final = 4
"""Left for what a flake needs after the downloads: the policy (two calls), the pull request, the label."""


class ArtifactCache:
    """Artifacts that were read, by id. Their bytes stay in `folder`, in files named by the id."""

    def __init__(
        self, client: GitHubClient, downloader: ArtifactDownloader, folder: Path, log: Callable[[str], None]
    ) -> None:
        self._client = client
        self._downloader = downloader
        self._folder = folder
        self._budget = RecordBudget()
        self._reads = BoundedSemaphore(_MAX_PARALLEL_READS)
        self._log = log
        self._read: dict[int, SourceRecords] = {}

    def fetch(self, artifacts: Iterable[Artifact]) -> None:
        """Download and read several at the same time. Raises `NoVerdictError`, also if too few API calls are left."""
        wanted = {artifact.id: artifact for artifact in artifacts if artifact.id not in self._read}
        if wanted:
            self._check_rate_limit(sum(not artifact.expired for artifact in wanted.values()))
            with ThreadPoolExecutor(min(MAX_PARALLEL_DOWNLOADS, len(wanted))) as pool:
                self._read |= zip(wanted, pool.map(self._download_and_read, wanted.values()), strict=True)

    def read(self, artifact: Artifact) -> SourceRecords:
        """Return what is in an artifact. Raises `NoVerdictError`."""
        self.fetch([artifact])
        return self._read[artifact.id]

    def path(self, artifact: Artifact) -> Path:
        """Return the file with the bytes of an artifact that was read."""
        return self._folder / str(artifact.id)

    def _check_rate_limit(self, calls: int) -> None:
        remaining = self._client.remaining
        if remaining is None:
            self._log(f"downloading {count(calls, 'artifact')}, one API call each")
            return
        self._log(f"downloading {count(calls, 'artifact')}, one API call each; left this hour: {remaining}")
        if calls and calls + RESERVED_API_CALLS > remaining:
            raise NoVerdictError(
                f"downloading {count(calls, 'artifact')} takes {count(calls, 'API call')}, what follows takes "
                f"{RESERVED_API_CALLS}, and only {remaining} are left this hour; merge the shards into one "
                "artifact first (`actions/upload-artifact/merge`), which costs one call a side, or wait until the "
                "limit is reset"
            )

    def _download_and_read(self, artifact: Artifact) -> SourceRecords:
        path = self.path(artifact)
        try:
            with path.open("w+b") as file:
                download = self._downloader.download(artifact, file)
        except OSError as error:
            raise NoVerdictError(
                f"an artifact cannot be stored: {describe_shortage(error) or error.strerror}"
            ) from None
        source = Source(artifact.name, artifact, download.sha256, artifact.run_id, fault=download.fault)
        if download.fault:
            return SourceRecords(source)
        with self._reads:
            return read_source(path, source, self._budget)
