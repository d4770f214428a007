"""What other attempts of the runs left: read before a flake is said, because a fail cannot be rerun away."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from freeze_gate.evidence.made import Made
from freeze_gate.evidence.pairing import Shown, gather
from freeze_gate.evidence.side import Artifact, Other, Side
from freeze_gate.fetch.archives import Archives
from freeze_gate.fetch.attempts import Attempts
from freeze_gate.fetch.choose import Choice
from freeze_gate.fetch.listings import Listings
from freeze_gate.fetch.naming import Slot, attempt_in_name


class Unread(NamedTuple):
    """What nobody has needed yet.

    `kin` are the artifacts of other attempts, as far as names tell. `named` has the ids of all artifacts that names
    tell to be evidence, each with the attempt that its name says.
    """

    kin: tuple[Artifact, ...]
    named: Mapping[int, int | None]
    listings: Listings


def left_unread(slots: Sequence[Slot], choices: Iterable[Choice], listings: Listings) -> Unread:
    """Say what is left besides what was chosen, and copies of it."""
    used = [choice.candidate.artifact for choice in choices if choice.candidate]
    ids, digests = {artifact.id for artifact in used}, {artifact.digest for artifact in used if artifact.digest}
    found = {artifact.id: artifact for slot in slots for artifact in slot.others}
    candidates = {each.artifact.id: each.attempt for slot in slots for each in slot.candidates}
    return Unread(
        tuple(artifact for artifact in found.values() if artifact.id not in ids and artifact.digest not in digests),
        {artifact.id: attempt_in_name(artifact) for artifact in found.values()} | candidates,
        listings,
    )


def read_others(unread: Unread, archives: Archives, attempts: Attempts) -> Sequence[Other]:
    """Read what other attempts left; one that cannot be read is an entry of its own. Raises `NoVerdictError`."""
    strays = [artifact for run_id in unread.listings for artifact in _strays(unread, run_id, attempts)]
    archives.fetch([*unread.kin, *strays])
    shown = [gather([archives.read(artifact)]) for artifact in unread.kin]
    may_be = [gather([archives.read(artifact)]) for artifact in strays]
    shown += [each for each in may_be if not each.sources[0].fault]  # what cannot be read is a log or a build
    entries = [(each, name) for each in shown for name in _ids(each)]
    return Made(len(entries), lambda place: _other(*entries[place]))


def _strays(unread: Unread, run_id: int, attempts: Attempts) -> list[Artifact]:
    """Return all that was made during attempts of which no name tells anything: it may be their evidence."""
    newest, listing = attempts.known(run_id) or 1, unread.listings[run_id]
    told = {unread.named[each.id] for each in listing if each.id in unread.named}
    if newest == 1 or {*range(1, newest + 1)} <= told:
        return []
    made = {each.id: attempts.at(run_id, each.created_at) for each in listing}
    seen = {unread.named[each.id] or made[each.id] for each in listing if each.id in unread.named}
    return [each for each in listing if each.id not in unread.named and made[each.id] not in seen]


def _ids(shown: Shown) -> Iterable[str | None]:
    """Name what an artifact shows; None where it cannot be read. One without a record shows and hides nothing."""
    fault = shown.sources[0].fault
    return [None] if fault and fault.check != "record-missing" else shown.sides


def _other(shown: Shown, name: str | None) -> Other:
    return Other(name, Side(shown.sources[0]) if name is None else shown.sides[name])
