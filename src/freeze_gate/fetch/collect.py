"""From the two sides that a user names to all that they show: list, choose, download, verify, read."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from freeze_gate.event import Event
from freeze_gate.evidence.checks import FIRST, RERUN
from freeze_gate.evidence.kept import Reading
from freeze_gate.evidence.made import Made
from freeze_gate.evidence.pairing import Shown, gather
from freeze_gate.evidence.side import Artifact, Fault, Other, Side, Source
from freeze_gate.fetch.archives import Archives
from freeze_gate.fetch.attempts import Attempts
from freeze_gate.fetch.choose import Choice, are_attempts, settle
from freeze_gate.fetch.naming import Candidate, Slot, slot_of_artifact, slots_of_name
from freeze_gate.github.artifacts import get_artifact, list_artifacts
from freeze_gate.github.http import Api
from freeze_gate.inputs import Inputs, Wanted

Listings = dict[int, tuple[Artifact, ...]]
"""The artifacts of runs, by the run's id."""


class Collected(NamedTuple):
    """What the two runs show, and the artifacts of other attempts that nobody has needed yet."""

    first: Shown
    rerun: Shown
    others: tuple[Artifact, ...]


class Collector:
    """Collects the evidence of one gate."""

    def __init__(self, api: Api, archives: Archives, event: Event) -> None:
        self._api = api
        self._archives = archives
        self._event = event
        self._attempts = Attempts(api, event)
        self._placed: dict[int, int] = {}  # attempts by artifact, where only the time of its upload says them

    def collect(self, inputs: Inputs) -> Collected:
        """Collect both sides. Raises `UsageError`, and `NoVerdictError` where GitHub cannot be asked."""
        runs = {FIRST: self._run_id(inputs.first), RERUN: self._run_id(inputs.rerun)}
        slots = self._slots(inputs, runs)
        self._archives.fetch(artifact for slot in slots for artifact in slot.needed)
        choices = [choice for slot in slots for choice in self._settle(slot, runs)]
        return Collected(
            self._shown(FIRST, choices, runs[FIRST]),
            self._shown(RERUN, choices, runs[RERUN]),
            tuple(_others(slots, choices)),
        )

    def others(self, artifacts: Sequence[Artifact]) -> Sequence[Other]:
        """Read what other attempts left; one that cannot be read is an entry of its own. Raises `NoVerdictError`."""
        self._archives.fetch(artifacts)
        shown = [gather([self._archives.read(artifact)]) for artifact in artifacts]
        entries = [(each, name) for each in shown for name in ([None] if each.sources[0].fault else each.sides)]
        return Made(len(entries), lambda place: _other(*entries[place]))

    def _run_id(self, wanted: Wanted) -> int:
        return wanted.run_id or self._event.run_id

    def _slots(self, inputs: Inputs, runs: Mapping[str, int]) -> list[Slot]:
        attempts = are_attempts(inputs.first, inputs.rerun, one_run=runs[FIRST] == runs[RERUN])
        listings = self._listings(inputs, attempts=attempts)
        if attempts:
            newest = self._attempts.known(runs[FIRST])
            return slots_of_name(str(inputs.first.name), (FIRST, RERUN), listings[runs[FIRST]], newest)
        sides = ((FIRST, inputs.first), (RERUN, inputs.rerun))
        return [slot for side, wanted in sides for slot in self._of_side(side, wanted, listings)]

    def _of_side(self, side: str, wanted: Wanted, listings: Listings) -> list[Slot]:
        run_id = self._run_id(wanted)
        listing = listings[run_id]
        if wanted.artifact_id is None:
            return slots_of_name(str(wanted.name), (side,), listing, self._attempts.known(run_id))
        listed = next((artifact for artifact in listing if artifact.id == wanted.artifact_id), None)
        found = listed or get_artifact(self._api, wanted.artifact_id)
        if isinstance(found, Fault):
            return [Slot(f"artifact {wanted.artifact_id}", (side,), (), fault=found)]
        if found.run_id and found.run_id not in listings:  # its run was not named, and its other attempts count too
            listings[found.run_id] = list_artifacts(self._api, found.run_id)
        run_id = found.run_id or run_id
        return [slot_of_artifact(side, found, listings[run_id], self._attempts.known(run_id))]

    def _listings(self, inputs: Inputs, *, attempts: bool) -> Listings:
        """List each run once, both at the same time; ask again while something that was named is not there."""
        wanted: dict[int, list[Wanted]] = {}
        for one in (inputs.first, inputs.rerun):
            wanted.setdefault(self._run_id(one), []).append(one)

        def listing(run_id: int) -> tuple[Artifact, ...]:
            several = 2 if attempts and (self._attempts.known(run_id) or 1) > 1 else 1
            return list_artifacts(
                self._api, run_id, lambda found: all(_is_there(one, found, several) for one in wanted[run_id])
            )

        with ThreadPoolExecutor(len(wanted)) as pool:
            return dict(zip(wanted, pool.map(listing, wanted), strict=True))

    def _settle(self, slot: Slot, runs: Mapping[str, int]) -> list[Choice]:
        run_id = runs[slot.sides[0]]
        return settle(slot, lambda candidate: self._attempt(candidate, run_id), self._attempts.known(run_id))

    def _attempt(self, candidate: Candidate, run_id: int) -> int | None:
        """Say which attempt made a candidate: by its name, else its records, else the time of its upload."""
        said = candidate.attempt or self._archives.read(candidate.artifact).attempt
        if said is None and (placed := self._attempts.at(run_id, candidate.artifact.created_at)):
            self._placed[candidate.artifact.id] = placed
        return said or self._placed.get(candidate.artifact.id)

    def _shown(self, side: str, choices: Iterable[Choice], run_id: int) -> Shown:
        return gather(self._chosen(choice, run_id) for choice in choices if choice.side == side)

    def _chosen(self, choice: Choice, run_id: int) -> Reading:
        """Return what was read of a choice, with what GitHub says of its run."""
        if choice.candidate is None:
            newest = self._attempts.known(run_id)
            source = Source(choice.label, run_id=run_id, newest_attempt=newest, fault=choice.fault)
            return self._archives.without(source)
        artifact = choice.candidate.artifact
        read = self._archives.read(artifact)
        of_run = artifact.run_id or run_id
        attempt = choice.candidate.attempt or self._placed.get(artifact.id)
        newest = self._attempts.known(of_run)
        source = read.source._replace(label=choice.label, run_id=of_run, attempt=attempt, newest_attempt=newest)
        return read._replace(source=source)


def _is_there(wanted: Wanted, listing: Sequence[Artifact], several: int) -> bool:
    """Whether a listing is worth no second look. An id that is not in it is asked for by itself."""
    if wanted.artifact_id is not None:
        return bool(listing)
    slots = slots_of_name(str(wanted.name), (FIRST,), listing)
    return all(slot.candidates and len(slot.candidates) >= several for slot in slots)


def _others(slots: Iterable[Slot], choices: Iterable[Choice]) -> Iterable[Artifact]:
    """Return what other attempts left, without the artifacts that were chosen and copies of them."""
    used = [choice.candidate.artifact for choice in choices if choice.candidate]
    ids, digests = {artifact.id for artifact in used}, {artifact.digest for artifact in used if artifact.digest}
    found = {artifact.id: artifact for slot in slots for artifact in slot.others}
    return [artifact for artifact in found.values() if artifact.id not in ids and artifact.digest not in digests]


def _other(shown: Shown, name: str | None) -> Other:
    return Other(name, Side(shown.sources[0]) if name is None else shown.sides[name])
