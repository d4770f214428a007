"""What the other attempts of the runs recorded, for the check `earlier-fail`: a fail cannot be rerun away.

GitHub does not say which job or attempt an artifact comes from. So before a flake is said, two steps look for a fail:

1. Every artifact that has the name of a selected one is read, whatever its attempt: `{attempt}` and the ending that the
   capture action adds (`-<run id>-<attempt>`) stand for any attempt. One that cannot be read counts like a fail.
2. An attempt that left no record under one of these names may have used another name. So everything that it left is
   read, and every artifact whose attempt is unknown. A record counts, and so does an artifact that has expired. What
   is no readable archive is a log or a build, unless its name has the ending of the capture action.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from freeze_gate.artifacts.attempts import Attempts
from freeze_gate.artifacts.cache import Archives
from freeze_gate.artifacts.choose import Choice
from freeze_gate.artifacts.listings import Listings
from freeze_gate.artifacts.select import Candidate, Slot, attempt_in_name
from freeze_gate.evidence.kept import Reading
from freeze_gate.evidence.pairing import gather
from freeze_gate.evidence.side import Artifact, Other, Side


class Unread(NamedTuple):
    """What is left of the listings besides the selected artifacts. `named` has the name of one of them."""

    selected: tuple[Artifact, ...]
    named: tuple[Artifact, ...]
    slots: tuple[Slot, ...]
    listings: Listings


def left_unread(slots: Sequence[Slot], choices: Iterable[Choice], listings: Listings) -> Unread:
    """Return what was not selected, and is no copy of a selected artifact."""
    selected = tuple(choice.candidate.artifact for choice in choices if choice.candidate)
    named = {other.artifact.id: other.artifact for slot in slots for other in slot.others}
    return Unread(selected, tuple(_without(named.values(), selected)), tuple(slots), listings)


def read_others(unread: Unread, archives: Archives, attempts: Attempts) -> Sequence[Other]:
    """Read what other attempts left. Raises `NoVerdictError`."""
    archives.fetch(unread.named)
    evidence = {artifact.id for artifact in (*unread.selected, *unread.named) if _entries(archives.read(artifact))}
    unnamed = [artifact for run_id in unread.listings for artifact in _unnamed(unread, run_id, evidence, attempts)]
    archives.fetch(unnamed)
    readings = [archives.read(artifact) for artifact in unread.named]
    readings += [archives.read(artifact) for artifact in unnamed if not _is_no_bundle(archives.read(artifact))]
    return [other for reading in readings for other in _entries(reading)]


def _unnamed(unread: Unread, run_id: int, evidence: Iterable[int], attempts: Attempts) -> list[Artifact]:
    """Return what the second step reads of a run. `evidence` has the ids of the artifacts that hold a record."""
    newest, listing = attempts.newest(run_id), unread.listings[run_id]
    if newest == 1:
        return []
    ids, named = {artifact.id for artifact in listing}, {artifact.id for artifact in unread.named}
    accounted = set(range(1, newest + 1))
    for slot in unread.slots:
        of_run = [other for other in slot.others if other.artifact.id in ids]
        if of_run:
            accounted &= {attempts.of(other, run_id) for other in of_run if other.artifact.id in evidence}
    if len(accounted) == newest:
        return []
    return [
        artifact
        for artifact in _without(listing, unread.selected)
        if artifact.id not in named
        and attempts.of(Candidate(artifact, attempt_in_name(artifact)), run_id) not in accounted
    ]


def _without(artifacts: Iterable[Artifact], selected: Sequence[Artifact]) -> list[Artifact]:
    """Leave out selected artifacts and their copies."""
    ids = {artifact.id for artifact in selected}
    digests = {artifact.digest for artifact in selected if artifact.digest}
    return [artifact for artifact in artifacts if artifact.id not in ids and artifact.digest not in digests]


def _is_no_bundle(reading: Reading) -> bool:
    """Whether an artifact with a name of its own is a log or a build."""
    artifact, fault = reading.source.artifact, reading.source.fault
    unreadable = fault is not None and fault.check in ("archive-invalid", "archive-limits")
    return unreadable and not (artifact and attempt_in_name(artifact))


def _entries(reading: Reading) -> list[Other]:
    """Return what an artifact shows: one entry without an id where it cannot be read, none where it has no record."""
    fault = reading.source.fault
    if fault and fault.check != "record-missing":
        return [Other(None, Side(reading.source))]
    return [Other(fixture_id, side) for fixture_id, side in gather([reading]).sides.items()]
