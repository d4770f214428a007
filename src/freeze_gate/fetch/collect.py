"""From the two sides that a user names to all that they show: list, choose, download, verify, read."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from freeze_gate.errors import UsageError
from freeze_gate.event import Event
from freeze_gate.evidence.checks import FIRST, RERUN
from freeze_gate.evidence.kept import Reading
from freeze_gate.evidence.made import Made
from freeze_gate.evidence.pairing import Shown, gather
from freeze_gate.evidence.side import Artifact, Fault, Other, Side, Source
from freeze_gate.fetch.archives import Archives
from freeze_gate.fetch.attempts import Attempts
from freeze_gate.fetch.choose import Choice, are_attempts, settle
from freeze_gate.fetch.naming import Candidate, Slot, attempt_in_name, slot_of_artifact, slots_of_name, up_to
from freeze_gate.github.artifacts import get_artifact, list_artifacts
from freeze_gate.github.http import Api
from freeze_gate.inputs import Inputs, Wanted

Listings = dict[int, tuple[Artifact, ...]]
"""The artifacts of runs, by the run's id."""


class Collected(NamedTuple):
    """What the two runs show, and what nobody has needed yet.

    `others` are the artifacts of other attempts, as far as names tell. `named` has the ids of all artifacts that names
    tell to be evidence, each with the attempt that its name says.
    """

    first: Shown
    rerun: Shown
    others: tuple[Artifact, ...]
    named: Mapping[int, int | None]
    listings: Listings


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
        listings = self._listings(inputs, runs)
        slots = self._slots(inputs, runs, listings)
        self._archives.fetch(artifact for slot in slots for artifact in slot.needed)
        choices = [choice for slot in slots for choice in self._settle(slot, runs)]
        candidates = {each.artifact.id: each.attempt for slot in slots for each in slot.candidates}
        return Collected(
            self._shown(FIRST, choices, runs[FIRST]),
            self._shown(RERUN, choices, runs[RERUN]),
            tuple(_others(slots, choices)),
            {other.id: attempt_in_name(other) for slot in slots for other in slot.others} | candidates,
            listings,
        )

    def others(self, collected: Collected) -> Sequence[Other]:
        """Read what other attempts left; one that cannot be read is an entry of its own. Raises `NoVerdictError`."""
        strays = [artifact for run_id in collected.listings for artifact in self._strays(collected, run_id)]
        self._archives.fetch([*collected.others, *strays])
        shown = [gather([self._archives.read(artifact)]) for artifact in collected.others]
        may_be = [gather([self._archives.read(artifact)]) for artifact in strays]
        shown += [each for each in may_be if not each.sources[0].fault]  # what cannot be read is a log or a build
        entries = [(each, name) for each in shown for name in _ids(each)]
        return Made(len(entries), lambda place: _other(*entries[place]))

    def _strays(self, collected: Collected, run_id: int) -> list[Artifact]:
        """Return all that was made during attempts of which no name tells anything: it may be their evidence."""
        newest, listing = self._attempts.known(run_id) or 1, collected.listings[run_id]
        told = {collected.named[each.id] for each in listing if each.id in collected.named}
        if newest == 1 or {*range(1, newest + 1)} <= told:
            return []
        made = {each.id: self._attempts.at(run_id, each.created_at) for each in listing}
        seen = {collected.named[each.id] or made[each.id] for each in listing if each.id in collected.named}
        return [each for each in listing if each.id not in collected.named and made[each.id] not in seen]

    def _run_id(self, wanted: Wanted) -> int:
        return wanted.run_id or self._event.run_id

    def _slots(self, inputs: Inputs, runs: Mapping[str, int], listings: Listings) -> list[Slot]:
        """Find what each side may be made of. Where the rerun's id is of the first's name, the first is before it."""
        if are_attempts(inputs.first, inputs.rerun, one_run=runs[FIRST] == runs[RERUN]):
            return self._of_name(str(inputs.first.name), (FIRST, RERUN), runs[FIRST], listings)
        rerun = self._of_side(RERUN, inputs.rerun, listings)
        first = self._of_side(FIRST, inputs.first, listings)
        if inputs.rerun.artifact_id and not inputs.first.artifact_id:
            both = [slot for each in first if (slot := up_to(each, inputs.rerun.artifact_id, (FIRST, RERUN)))]
            return both or [*first, *rerun]
        return [*first, *rerun]

    def _of_name(self, name: str, sides: tuple[str, ...], run_id: int, listings: Listings) -> list[Slot]:
        slots = slots_of_name(name, sides, listings[run_id], self._attempts.known(run_id))
        if self._attempts.known(run_id):
            said = (candidate.attempt or 0 for slot in slots for candidate in slot.candidates)
            self._attempts.newest(run_id, max(said, default=0))
        return slots

    def _of_side(self, side: str, wanted: Wanted, listings: Listings) -> list[Slot]:
        run_id = self._run_id(wanted)
        if wanted.artifact_id is None:
            return self._of_name(str(wanted.name), (side,), run_id, listings)
        found = self._by_id(wanted.artifact_id, run_id, listings)
        if isinstance(found, Fault):
            return [Slot(f"artifact {wanted.artifact_id}", (side,), (), fault=found)]
        if wanted.run_id and found.run_id and found.run_id != wanted.run_id:
            raise UsageError(
                f"inputs {side}-artifact-id and {side}-run-id are {found.id} and {wanted.run_id}; "
                f"allowed: an artifact of that run, and this one is of run {found.run_id}"
            )
        run_id = found.run_id or run_id
        return [slot_of_artifact(side, found, listings[run_id], self._attempts.known(run_id))]

    def _by_id(self, artifact_id: int, run_id: int, listings: Listings) -> Artifact | Fault:
        """Return an artifact as it is listed, else as GitHub describes it: then it is added to its run's listing."""
        listed = next((artifact for artifact in listings[run_id] if artifact.id == artifact_id), None)
        found = listed or get_artifact(self._api, artifact_id)
        if isinstance(found, Artifact) and not listed:
            of_run = found.run_id or run_id
            if of_run not in listings:  # its run was not named, and its other attempts count too
                listings[of_run] = list_artifacts(self._api, of_run)
            listings[of_run] = tuple({each.id: each for each in (*listings[of_run], found)}.values())
        return found

    def _listings(self, inputs: Inputs, runs: Mapping[str, int]) -> Listings:
        """List each run once, both at the same time; ask again while something that was named is not there."""
        wanted: dict[int, list[Wanted]] = {}
        for one in (inputs.first, inputs.rerun):
            wanted.setdefault(self._run_id(one), []).append(one)
        both = are_attempts(inputs.first, inputs.rerun, one_run=len(wanted) == 1)
        if both:
            self._attempts.newest(runs[FIRST])

        def listing(run_id: int) -> tuple[Artifact, ...]:
            exact = any(one.artifact_id for one in wanted[run_id])
            names = [str(one.name) for one in wanted[run_id] if not one.artifact_id]
            return list_artifacts(
                self._api,
                run_id,
                lambda found: all(self._is_there(name, run_id, found, both=both, exact=exact) for name in names),
            )

        with ThreadPoolExecutor(len(wanted)) as pool:
            return dict(zip(wanted, pool.map(listing, wanted), strict=True))

    def _is_there(self, name: str, run_id: int, listing: Sequence[Artifact], *, both: bool, exact: bool) -> bool:
        """Whether a listing is worth no second look at a name.

        It holds what the newest attempt left, and where both sides are attempts, what one before left. Where a side is
        named by its id, nobody waits for a newer one.
        """
        newest = self._attempts.known(run_id) or 1
        slots = slots_of_name(name, (FIRST,), listing)
        if not all(slot.candidates and len(slot.candidates) >= min(newest, 1 + both) for slot in slots):
            return False
        return exact or all(self._made_by(slot.candidates[0], run_id) in (None, newest) for slot in slots)

    def _made_by(self, candidate: Candidate, run_id: int) -> int | None:
        """Return the attempt of a candidate as GitHub tells it: by its name, else by the time of its upload.

        Of a run that was not asked about only names are known.
        """
        if candidate.attempt or not self._attempts.known(run_id):
            return candidate.attempt
        return self._attempts.at(run_id, candidate.artifact.created_at)

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
        if self._attempts.known(of_run):
            self._attempts.newest(of_run, read.attempt or 0)
        attempt, newest = self._made_by(choice.candidate, of_run), self._attempts.known(of_run)
        source = read.source._replace(label=choice.label, run_id=of_run, attempt=attempt, newest_attempt=newest)
        return read._replace(source=source)


def _others(slots: Iterable[Slot], choices: Iterable[Choice]) -> Iterable[Artifact]:
    """Return what other attempts left, without the artifacts that were chosen and copies of them."""
    used = [choice.candidate.artifact for choice in choices if choice.candidate]
    ids, digests = {artifact.id for artifact in used}, {artifact.digest for artifact in used if artifact.digest}
    found = {artifact.id: artifact for slot in slots for artifact in slot.others}
    return [artifact for artifact in found.values() if artifact.id not in ids and artifact.digest not in digests]


def _ids(shown: Shown) -> Iterable[str | None]:
    """Name what an artifact shows; None where it cannot be read. One without a record shows and hides nothing."""
    fault = shown.sources[0].fault
    return [None] if fault and fault.check != "record-missing" else shown.sides


def _other(shown: Shown, name: str | None) -> Other:
    return Other(name, Side(shown.sources[0]) if name is None else shown.sides[name])
