"""Which artifacts a name, a glob or an id stands for, grouped by what they are called without their attempt. Pure."""

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from freeze_gate.evidence.side import Artifact, Fault
from freeze_gate.inputs import ATTEMPT

_MARK: Final = "\0"  # stands for {attempt} while a glob is translated; no artifact's name can hold it
_ATTEMPT: Final = r"[1-9][0-9]{0,8}"


class Candidate(NamedTuple):
    """An artifact that fits, with the attempt that its name says."""

    artifact: Artifact
    attempt: int | None = None


class Slot(NamedTuple):
    """Candidates of one name, newest first, and the sides that they are for: both means the newest two attempts.

    `others` are all artifacts that attempts of this name left: they are read before a flake is said.
    """

    label: str
    sides: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    others: tuple[Artifact, ...] = ()
    fault: Fault | None = None

    @property
    def needed(self) -> tuple[Artifact, ...]:
        """The artifacts that have to be read to settle it.

        Where their names say no attempt, one more than there are sides, to see that it is of another attempt.
        """
        named = all(candidate.attempt for candidate in self.candidates)
        enough = len(self.sides) if named else len(self.sides) + 1
        return tuple(candidate.artifact for candidate in self.candidates[:enough])


def slots_of_name(name: str, sides: tuple[str, ...], listing: Sequence[Artifact]) -> list[Slot]:
    """Group what fits a name or a glob by its name without the attempt. Where nothing fits, one slot with a fault.

    What is called exactly so goes before what the name would match as a glob. Names that end as the capture action's
    do are parted from their attempt without being asked.
    """
    matches = _literally(name) if any(artifact.name == name for artifact in listing) else _as_glob(name)
    groups: dict[str, list[Candidate]] = {}
    for artifact in listing:
        if found := matches(artifact):
            label, attempt = found
            groups.setdefault(label, []).append(Candidate(artifact, attempt))
    slots = [_slot(label, sides, group) for label, group in sorted(groups.items())]
    return _with_others(slots or [Slot(name, sides, (), fault=_missing(name))], listing)


def slot_of_artifact(side: str, artifact: Artifact, listing: Sequence[Artifact]) -> Slot:
    """Return the slot of an artifact that was named by its id: nothing to choose, but other attempts to know of."""
    _, attempt = _apart(artifact)
    return _with_others([Slot(artifact.name, (side,), (Candidate(artifact, attempt),))], listing)[0]


def _literally(name: str) -> Callable[[Artifact], tuple[str, int | None] | None]:
    return lambda artifact: (name, _apart(artifact)[1]) if artifact.name == name else None


def _as_glob(name: str) -> Callable[[Artifact], tuple[str, int | None] | None]:
    pattern = re.compile(fnmatch.translate(name.replace(ATTEMPT, _MARK)).replace(_MARK, rf"(?P<attempt>{_ATTEMPT})"))

    def match(artifact: Artifact) -> tuple[str, int | None] | None:
        found = pattern.match(artifact.name)
        if not found or "attempt" not in pattern.groupindex:
            return _apart(artifact) if found else None
        start, end = found.span("attempt")
        return artifact.name[:start] + ATTEMPT + artifact.name[end:], int(found["attempt"])

    return match


def _apart(artifact: Artifact) -> tuple[str, int | None]:
    """Part a name that ends in `-<run id>-<attempt>`, as the capture action's do, from its attempt."""
    found = re.fullmatch(rf"(.*-{artifact.run_id}-)({_ATTEMPT})", artifact.name)
    return (found[1] + ATTEMPT, int(found[2])) if found else (artifact.name, None)


def _slot(label: str, sides: tuple[str, ...], group: Sequence[Candidate]) -> Slot:
    if len(group) > 1 and all(candidate.artifact.expired for candidate in group):
        detail = f"all {len(group)} artifacts named {label} have expired"
        return Slot(label, sides, tuple(group), fault=Fault("artifact-expired", detail))
    newest_first = sorted(group, key=lambda each: (each.attempt or 0, each.artifact.created_at or ""), reverse=True)
    return Slot(label, sides, tuple(_distinct(newest_first)))


def _distinct(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Drop the second copy of equal bytes: an upload that was retried leaves two."""
    seen: set[tuple[int | None, str]] = set()
    for candidate in candidates:
        digest = candidate.artifact.digest
        if digest is None or (candidate.attempt, digest) not in seen:
            yield candidate
        seen |= {(candidate.attempt, digest)} if digest else set()


def _missing(name: str) -> Fault:
    return Fault(
        "artifact-missing",
        f"no artifact named {name} in the run: the job uploaded none, it was deleted, or the token lacks "
        "`actions: read`",
    )


def _with_others(slots: Sequence[Slot], listing: Iterable[Artifact]) -> list[Slot]:
    """Add what further attempts left, also where only one of them was named.

    An expired artifact counts: nobody can see that it recorded no fail.
    """
    kin: dict[str, list[Artifact]] = {}
    for artifact in listing:
        kin.setdefault(_apart(artifact)[0], []).append(artifact)
    return [slot._replace(others=tuple(_others(slot, kin))) for slot in slots]


def _others(slot: Slot, kin: dict[str, list[Artifact]]) -> Iterator[Artifact]:
    families = dict.fromkeys(_apart(candidate.artifact)[0] for candidate in slot.candidates)
    found = {candidate.artifact.id: candidate.artifact for candidate in slot.candidates}
    found |= {artifact.id: artifact for family in families for artifact in kin.get(family, ())}
    yield from found.values()
