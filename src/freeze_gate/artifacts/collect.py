"""From the two sides that a user names to all that they show: list, choose, download, verify, read."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from freeze_gate.action.event import Event
from freeze_gate.action.inputs import Inputs, Wanted
from freeze_gate.artifacts.attempts import Attempts
from freeze_gate.artifacts.cache import Archives
from freeze_gate.artifacts.choose import Choice, are_attempts, settle
from freeze_gate.artifacts.listings import Listings, find_by_id, list_runs
from freeze_gate.artifacts.other_attempts import Unread, left_unread, read_others
from freeze_gate.artifacts.select import Candidate, Slot, slot_of_artifact, slots_of_name, up_to
from freeze_gate.errors import UsageError
from freeze_gate.evidence.checks import FIRST, RERUN
from freeze_gate.evidence.kept import Reading
from freeze_gate.evidence.pairing import Shown, gather
from freeze_gate.evidence.side import Fault, Other, Source
from freeze_gate.github.http import Api


class Collected(NamedTuple):
    """What the two runs show, and what nobody has needed yet."""

    first: Shown
    rerun: Shown
    unread: Unread


class Collector:
    """Collects the evidence of one gate."""

    def __init__(self, api: Api, archives: Archives, event: Event) -> None:
        self._api = api
        self._archives = archives
        self._event = event
        self._attempts = Attempts(api, event)

    def collect(self, inputs: Inputs) -> Collected:
        """Collect both sides. Raises `UsageError`, and `NoVerdictError` where GitHub cannot be asked."""
        runs = {FIRST: self._run_id(inputs.first), RERUN: self._run_id(inputs.rerun)}
        listings = self._listings(inputs)
        slots = self._slots(inputs, runs, listings)
        self._archives.fetch(artifact for slot in slots for artifact in slot.needed)
        choices = [choice for slot in slots for choice in self._settle(slot, runs)]
        return Collected(
            self._shown(FIRST, choices, runs[FIRST]),
            self._shown(RERUN, choices, runs[RERUN]),
            left_unread(slots, choices, listings),
        )

    def others(self, unread: Unread) -> Sequence[Other]:
        """Read what other attempts left. Raises `NoVerdictError`."""
        return read_others(unread, self._archives, self._attempts)

    def _run_id(self, wanted: Wanted) -> int:
        return wanted.run_id or self._event.run_id

    def _slots(self, inputs: Inputs, runs: Mapping[str, int], listings: Listings) -> list[Slot]:
        """Find what each side may be made of. Where the rerun's id is of the first's name, the first is before it."""
        if are_attempts(inputs.first, inputs.rerun, one_run=runs[FIRST] == runs[RERUN]):
            return self._of_name(str(inputs.first.name), (FIRST, RERUN), runs[FIRST], listings)
        rerun = self._of_side(RERUN, inputs.rerun, listings)
        first = self._of_side(FIRST, inputs.first, listings)
        if inputs.rerun.artifact_id and not inputs.first.artifact_id and len(first) == 1 and rerun[0].candidates:
            artifact = rerun[0].candidates[0].artifact
            of_one_run = (artifact.run_id or runs[RERUN]) == runs[FIRST]
            both = up_to(first[0], artifact, (FIRST, RERUN)) if of_one_run else None
            return [both] if both else [*first, *rerun]
        return [*first, *rerun]

    def _of_name(self, name: str, sides: tuple[str, ...], run_id: int, listings: Listings) -> list[Slot]:
        return slots_of_name(name, sides, listings[run_id])

    def _of_side(self, side: str, wanted: Wanted, listings: Listings) -> list[Slot]:
        run_id = self._run_id(wanted)
        if wanted.artifact_id is None:
            return self._of_name(str(wanted.name), (side,), run_id, listings)
        found = find_by_id(self._api, wanted.artifact_id, run_id, listings)
        if isinstance(found, Fault):
            return [Slot(f"artifact {wanted.artifact_id}", (side,), (), fault=found)]
        if wanted.run_id and found.run_id and found.run_id != wanted.run_id:
            raise UsageError(
                f"inputs {side}-artifact-id and {side}-run-id are {found.id} and {wanted.run_id}; "
                f"allowed: an artifact of that run, and this one is of run {found.run_id}"
            )
        run_id = found.run_id or run_id
        return [slot_of_artifact(side, found, listings[run_id])]

    def _listings(self, inputs: Inputs) -> Listings:
        wanted: dict[int, list[Wanted]] = {}
        for one in (inputs.first, inputs.rerun):
            wanted.setdefault(self._run_id(one), []).append(one)
        both = are_attempts(inputs.first, inputs.rerun, one_run=len(wanted) == 1)
        for run_id in wanted:
            if both or run_id == self._event.run_id:
                self._attempts.newest(run_id)
        return list_runs(self._api, self._attempts, wanted, least=2 if both else 1)

    def _settle(self, slot: Slot, runs: Mapping[str, int]) -> list[Choice]:
        run_id = runs[slot.sides[0]]
        return settle(slot, lambda candidate: self._attempt(candidate, run_id), self._attempts.known(run_id))

    def _attempt(self, candidate: Candidate, run_id: int) -> int | None:
        """Say which attempt made a candidate: by its name, else its records, else the time of its upload."""
        said = candidate.attempt or self._archives.read(candidate.artifact).attempt
        return said or self._attempts.at(run_id, candidate.artifact.created_at)

    def _shown(self, side: str, choices: Iterable[Choice], run_id: int) -> Shown:
        return gather(self._chosen(choice, run_id) for choice in choices if choice.side == side)

    def _chosen(self, choice: Choice, run_id: int) -> Reading:
        """Return what was read of a choice, with what GitHub says of its run."""
        if choice.candidate is None:
            newest = self._attempts.known(run_id)
            source = Source(choice.label, run_id=run_id, newest_attempt=newest, fault=choice.fault)
            return self._archives.without(source)
        read = self._archives.read(choice.candidate.artifact)
        of_run = choice.candidate.artifact.run_id or run_id
        attempt, newest = self._attempts.of(choice.candidate, of_run), self._attempts.known(of_run)
        source = read.source._replace(label=choice.label, run_id=of_run, attempt=attempt, newest_attempt=newest)
        return read._replace(source=source)
