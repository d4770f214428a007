"""From the two sides that a user names to all that they show: list, choose, download, verify, read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

from freeze_gate.choose import Candidate, Choice, Slot, are_attempts, attempt_at, settle, slot_of_artifact, slots_of_name
from freeze_gate.errors import NoVerdictError
from freeze_gate.event import Event
from freeze_gate.evidence.archive import ArchiveError, open_tree
from freeze_gate.evidence.bundle import BundleReader
from freeze_gate.evidence.checks import FIRST, RERUN
from freeze_gate.evidence.pairing import Shown, gather
from freeze_gate.evidence.side import Artifact, Fault, Other, Side, Source
from freeze_gate.github.artifacts import get_artifact, get_attempt, list_artifacts
from freeze_gate.github.download import Downloads
from freeze_gate.github.http import Api
from freeze_gate.inputs import Inputs, Wanted

WORKERS: Final = 8
"""Downloads at a time: enough to hide the latency of a hundred shards, far below GitHub's hundred."""

RESERVE: Final = 12
"""Calls that must be left after the downloads: the policy, the pull request, the label or five tickets."""

AFFORDABLE: Final = (
    "merge the shards into one artifact first (`actions/upload-artifact/merge`), which costs one call a side, or wait "
    "until the limit is reset"
)


class Read(NamedTuple):
    """An artifact with what is in it."""

    source: Source
    sides: tuple[tuple[str, Side], ...] = ()

    @property
    def attempt(self) -> int | None:
        """The one attempt that all of its records name."""
        named = {side.record.run.run_attempt for _, side in self.sides if side.record}
        return named.pop() if len(named) == 1 else None


class Collected(NamedTuple):
    """What the two runs show, and the artifacts of other attempts that nobody has needed yet."""

    first: Shown
    rerun: Shown
    others: tuple[Artifact, ...]


class Collector:
    """Collects the evidence of one gate. Artifacts are kept in `folder`, each read once."""

    def __init__(self, api: Api, downloads: Downloads, folder: Path, event: Event, say: Callable[[str], None]) -> None:  # noqa: PLR0913
        self._api = api
        self._downloads = downloads
        self._folder = folder
        self._event = event
        self._say = say
        self._read: dict[int, Read] = {}
        self._placed: dict[int, int] = {}  # attempts by artifact, where GitHub's word says them

    def collect(self, inputs: Inputs) -> Collected:
        """Collect both sides. Raises `UsageError`, and `NoVerdictError` where GitHub cannot be asked."""
        slots = self._slots(inputs)
        needed = {artifact.id: artifact for slot in slots for artifact in slot.needed}
        self._afford(len(needed))
        self._fetch(needed.values())
        choices = [choice for slot in slots for choice in self._settle(slot, inputs)]
        used = {choice.artifact.id for choice in choices if choice.artifact}
        others = {other.id: other for slot in slots for other in slot.others if other.id not in used}
        return Collected(
            self._shown(FIRST, choices, inputs), self._shown(RERUN, choices, inputs), tuple(others.values())
        )

    def others(self, artifacts: Sequence[Artifact]) -> tuple[Other, ...]:
        """Read what other attempts left: an artifact that cannot be read is an entry of its own. Raises `NoVerdictError`."""
        self._afford(sum(artifact.id not in self._read for artifact in artifacts))
        self._fetch(artifacts)
        return tuple(
            Other(name, side)
            for artifact in artifacts
            for name, side in self._read[artifact.id].sides or ((None, Side(self._read[artifact.id].source)),)
        )

    def path(self, artifact: Artifact) -> Path:
        """Return where an artifact's bytes are kept."""
        return self._folder / str(artifact.id)

    def _slots(self, inputs: Inputs) -> list[Slot]:
        first, rerun = (wanted.run_id or self._event.run_id for wanted in (inputs.first, inputs.rerun))
        attempts = are_attempts(inputs.first, inputs.rerun, one_run=first == rerun)
        listings = self._listings(inputs, attempts=attempts)
        if attempts and inputs.first.name is not None:
            return slots_of_name(inputs.first.name, (FIRST, RERUN), listings[first])
        return [
            slot
            for side, wanted, run_id in ((FIRST, inputs.first, first), (RERUN, inputs.rerun, rerun))
            for slot in self._side_slots(side, wanted, listings[run_id])
        ]

    def _side_slots(self, side: str, wanted: Wanted, listing: Sequence[Artifact]) -> list[Slot]:
        if wanted.artifact_id is None:
            return slots_of_name(wanted.name or "", (side,), listing)
        listed = next((artifact for artifact in listing if artifact.id == wanted.artifact_id), None)
        found = listed or get_artifact(self._api, wanted.artifact_id)
        if isinstance(found, Fault):
            return [Slot(f"artifact {wanted.artifact_id}", (side,), (), fault=found)]
        return [slot_of_artifact(side, found, listing)]

    def _listings(self, inputs: Inputs, *, attempts: bool) -> Mapping[int, tuple[Artifact, ...]]:
        """List each run once, both at the same time; ask again while something that was named is not there."""
        wanted: dict[int, list[Wanted]] = {}
        for one in (inputs.first, inputs.rerun):
            wanted.setdefault(one.run_id or self._event.run_id, []).append(one)
        several = 2 if attempts and self._event.run_attempt > 1 else 1

        def listing(run_id: int) -> tuple[Artifact, ...]:
            return list_artifacts(self._api, run_id, lambda found: all(_is_there(one, found, several) for one in wanted[run_id]))

        with ThreadPoolExecutor(len(wanted)) as pool:
            return dict(zip(wanted, pool.map(listing, wanted), strict=True))

    def _afford(self, calls: int) -> None:
        left = self._api.remaining
        self._say(f"reading {calls} artifacts, one API call each; {'an unknown number' if left is None else left} left this hour")
        if left is not None and calls and calls + RESERVE > left:
            raise NoVerdictError(
                f"reading {calls} artifacts takes {calls} of the {left} API calls that are left this hour, and {RESERVE} "
                f"more are kept for what follows; {AFFORDABLE}"
            )

    def _fetch(self, artifacts: Iterable[Artifact]) -> None:
        wanted = [artifact for artifact in artifacts if artifact.id not in self._read]
        if wanted:
            with ThreadPoolExecutor(min(WORKERS, len(wanted))) as pool:
                self._read |= {read.source.artifact.id: read for read in pool.map(self._one, wanted) if read.source.artifact}

    def _one(self, artifact: Artifact) -> Read:
        """Download, verify, and only then open one artifact."""
        path = self.path(artifact)
        with path.open("w+b") as file:
            arrived = self._downloads.fetch(artifact, file)
        source = Source(artifact.name, artifact, arrived.sha256, artifact.run_id, fault=arrived.fault)
        if arrived.fault:
            return Read(source)
        try:
            with open_tree(path) as tree:
                return Read(source, tuple(BundleReader(tree, source).sides()))
        except ArchiveError as error:
            return Read(source._replace(fault=error.fault))

    def _settle(self, slot: Slot, inputs: Inputs) -> list[Choice]:
        run_id = self._run_id(slot.sides[0], inputs)
        newest = self._newest_attempt(run_id)
        return settle(slot, lambda candidate: self._attempt(candidate, run_id, newest), newest)

    def _attempt(self, candidate: Candidate, run_id: int, newest: int | None) -> int | None:
        """Say which attempt made a candidate: by its name, else its records, else the time of its upload."""
        artifact = candidate.artifact
        placed = candidate.attempt
        if placed is None:
            if said := self._read_one(artifact).attempt:
                return said
            starts = {n: get_attempt(self._api, run_id, n).started_at for n in range(1, (newest or 0) + 1)}
            placed = attempt_at(artifact.created_at, starts)
        if placed is not None:
            self._placed[artifact.id] = placed
        return placed

    def _read_one(self, artifact: Artifact) -> Read:
        self._fetch([artifact])
        return self._read[artifact.id]

    def _shown(self, side: str, choices: Iterable[Choice], inputs: Inputs) -> Shown:
        mine = [self._chosen(choice, inputs) for choice in choices if choice.side == side]
        return gather((read.source for read in mine), (found for read in mine for found in read.sides))

    def _chosen(self, choice: Choice, inputs: Inputs) -> Read:
        """Return what was read of a choice, with what GitHub says of its run."""
        wanted = inputs.first if choice.side == FIRST else inputs.rerun
        run_id = self._run_id(choice.side, inputs)
        if choice.artifact is None:
            label = wanted.name or f"artifact {wanted.artifact_id}"
            return Read(Source(label, run_id=run_id, newest_attempt=self._newest_attempt(run_id), fault=choice.fault))
        read = self._read_one(choice.artifact)
        of_run = choice.artifact.run_id or run_id
        source = read.source._replace(
            run_id=of_run, attempt=self._placed.get(choice.artifact.id), newest_attempt=self._newest_attempt(of_run)
        )
        return Read(source, tuple((name, side._replace(source=source)) for name, side in read.sides))

    def _run_id(self, side: str, inputs: Inputs) -> int:
        return (inputs.first if side == FIRST else inputs.rerun).run_id or self._event.run_id

    def _newest_attempt(self, run_id: int) -> int | None:
        """Return the run's own attempt, known without a question where it is the run of the event."""
        return self._event.run_attempt if run_id == self._event.run_id else None


def _is_there(wanted: Wanted, listing: Sequence[Artifact], several: int) -> bool:
    if wanted.artifact_id is not None:
        return any(artifact.id == wanted.artifact_id for artifact in listing)
    slots = slots_of_name(wanted.name or "", (FIRST,), listing)
    return all(slot.fault is None and len(slot.candidates) >= several for slot in slots)
