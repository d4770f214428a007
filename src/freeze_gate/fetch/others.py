"""What other attempts of the runs left: read before a flake is said, because a fail cannot be rerun away."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from freeze_gate.evidence.made import Made
from freeze_gate.evidence.pairing import Shown, gather
from freeze_gate.evidence.side import Artifact, Fault, Other, Side
from freeze_gate.fetch.archives import Archives
from freeze_gate.fetch.attempts import Attempts
from freeze_gate.fetch.choose import Choice
from freeze_gate.fetch.listings import Listings
from freeze_gate.fetch.naming import Slot, attempt_in_name


class Unread(NamedTuple):
    """What nobody has needed yet.

    `kin` are the artifacts of other attempts, as far as names tell. `named` are all whose names tell that they are
    evidence, by their ids, each with the attempt that its name says. `used` are the ids of those that were chosen.
    """

    kin: tuple[Artifact, ...]
    named: Mapping[int, int | None]
    used: frozenset[int]
    listings: Listings


def left_unread(slots: Sequence[Slot], choices: Iterable[Choice], listings: Listings) -> Unread:
    """Say what is left besides what was chosen, and copies of it."""
    used = [choice.candidate.artifact for choice in choices if choice.candidate]
    ids, digests = frozenset(each.id for each in used), {each.digest for each in used if each.digest}
    found = {artifact.id: artifact for slot in slots for artifact in slot.others}
    candidates = {each.artifact.id: each.attempt for slot in slots for each in slot.candidates}
    return Unread(
        tuple(artifact for artifact in found.values() if artifact.id not in ids and artifact.digest not in digests),
        {artifact.id: attempt_in_name(artifact) for artifact in found.values()} | candidates,
        ids,
        listings,
    )


def read_others(unread: Unread, archives: Archives, attempts: Attempts) -> Sequence[Other]:
    """Read what other attempts left; one that cannot be read is an entry of its own. Raises `NoVerdictError`."""
    archives.fetch(unread.kin)
    kin = {artifact.id: gather([archives.read(artifact)]) for artifact in unread.kin}
    telling = unread.used | {artifact_id for artifact_id, each in kin.items() if [*_ids(each)]}
    strays = [each for run_id in unread.listings for each in _strays(unread, run_id, telling, attempts)]
    archives.fetch(strays)
    may_be = [gather([archives.read(artifact)]) for artifact in strays]
    shown = [*kin.values(), *(each for each in may_be if _may_be_evidence(each.sources[0].fault))]
    entries = [(each, name) for each in shown for name in _ids(each)]
    return Made(len(entries), lambda place: _other(*entries[place]))


def _strays(unread: Unread, run_id: int, telling: Collection[int], attempts: Attempts) -> list[Artifact]:
    """Return all that was made during attempts of which nothing tells what they recorded: it may be their evidence.

    So may what was made nobody knows when.
    """
    newest, listing = attempts.newest(run_id), unread.listings[run_id]
    told = {unread.named[each.id] for each in listing if each.id in telling}
    if newest == 1 or {*range(1, newest + 1)} <= told:
        return []
    made = {each.id: attempts.at(run_id, each.created_at) for each in listing}
    seen = {unread.named[each.id] or made[each.id] for each in listing if each.id in telling} - {None}
    return [each for each in listing if each.id not in unread.named and made[each.id] not in seen]


def _may_be_evidence(fault: Fault | None) -> bool:
    """Whether a stray counts: what cannot be read is a log or a build, but what has expired nobody can know."""
    return fault is None or fault.check == "artifact-expired"


def _ids(shown: Shown) -> Iterable[str | None]:
    """Name what an artifact shows; None where it cannot be read. One without a record shows and hides nothing."""
    fault = shown.sources[0].fault
    return [None] if fault and fault.check != "record-missing" else shown.sides


def _other(shown: Shown, name: str | None) -> Other:
    return Other(name, Side(shown.sources[0]) if name is None else shown.sides[name])
