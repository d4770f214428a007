"""Which artifacts a name, a glob or an id stands for, grouped by what they are called without their attempt. Pure."""

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from freeze_gate.action.inputs import ATTEMPT
from freeze_gate.evidence.side import Artifact, Fault

_ATTEMPT: Final = r"[1-9][0-9]{0,8}"
_MARK: Final = "\0"  # stands for {attempt} while a glob is translated; no artifact's name can hold it


class Candidate(NamedTuple):
    """An artifact that fits, with the attempt that its name says."""

    artifact: Artifact
    attempt: int | None = None


class Slot(NamedTuple):
    """Candidates of one name, newest first, and the sides that they are for: both means the newest two attempts.

    `others` are all artifacts of this name, those of further attempts too: they are read before a flake is said.
    `copies` were left out of the candidates because another one has the same bytes. `exact` says that the newest one
    was named by its id.
    """

    label: str
    sides: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    others: tuple[Candidate, ...] = ()
    fault: Fault | None = None
    copies: int = 0
    exact: bool = False

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


def up_to(slot: Slot, artifact: Artifact, sides: tuple[str, ...]) -> Slot | None:
    """Return a slot for both sides whose newest candidate is an artifact, or a copy of it; None where there is none."""
    ids = [candidate.artifact.id for candidate in slot.candidates]
    digests = [candidate.artifact.digest for candidate in slot.candidates]
    if artifact.id in ids:
        place = ids.index(artifact.id)
    elif artifact.digest and artifact.digest in digests:
        place = digests.index(artifact.digest)
    else:
        return None
    return slot._replace(sides=sides, candidates=slot.candidates[place:], exact=True)


def attempt_in_name(artifact: Artifact) -> int | None:
    """Return the attempt that the name of an artifact ends in, as the capture action's do."""
    return _apart(artifact)[1]


def slot_of_artifact(side: str, artifact: Artifact, listing: Sequence[Artifact]) -> Slot:
    """Return the slot of an artifact that was named by its id: nothing to choose, but other attempts to know of."""
    candidate = Candidate(artifact, attempt_in_name(artifact))
    return _with_others([Slot(artifact.name, (side,), (candidate,))], listing)[0]


def _literally(name: str) -> Callable[[Artifact], tuple[str, int | None] | None]:
    return lambda artifact: (name, attempt_in_name(artifact)) if artifact.name == name else None


def _as_glob(name: str) -> Callable[[Artifact], tuple[str, int | None] | None]:
    """Read `*` and `?`. A bracket is a bracket: an artifact's name may hold one, and a class could hold {attempt}."""
    plain = name.replace("[", "[[]").replace(ATTEMPT, _MARK)
    pattern = re.compile(fnmatch.translate(plain).replace(_MARK, f"(?P<attempt>{_ATTEMPT})"))

    def match(artifact: Artifact) -> tuple[str, int | None] | None:
        found = pattern.match(artifact.name)
        if not found or "attempt" not in pattern.groupindex:
            return _apart(artifact) if found else None
        start, end = found.span("attempt")
        return artifact.name[:start] + ATTEMPT + artifact.name[end:], int(found["attempt"])

    return match


def _apart(artifact: Artifact) -> tuple[str, int | None]:
    """Part a name that ends in `-<run id>-<attempt>`, as the capture action's do, from its attempt."""
    found = artifact.run_id and re.fullmatch(rf"(.*-{artifact.run_id}-)({_ATTEMPT})", artifact.name)
    return (found[1] + ATTEMPT, int(found[2])) if found else (artifact.name, None)


def _slot(label: str, sides: tuple[str, ...], group: Sequence[Candidate]) -> Slot:
    if len(group) > 1 and all(candidate.artifact.expired for candidate in group):
        detail = f"all {len(group)} artifacts named {label} have expired"
        return Slot(label, sides, tuple(group), fault=Fault("artifact-expired", detail))
    newest_first = sorted(group, key=lambda each: (each.attempt or 0, each.artifact.created_at or ""), reverse=True)
    distinct = tuple(_distinct(newest_first))
    return Slot(label, sides, distinct, copies=len(newest_first) - len(distinct))


def _distinct(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Drop the second copy of equal bytes: an upload that was retried leaves two."""
    seen: set[tuple[int | None, str]] = set()
    for candidate in candidates:
        digest = candidate.artifact.digest
        if digest is None or (candidate.attempt, digest) not in seen:
            yield candidate
        seen |= {(candidate.attempt, digest)} if digest else set()


def _missing(name: str) -> Fault:
    hint = " (only * and ? stand for something else in it)" if "[" in name else ""
    return Fault(
        "artifact-missing",
        f"no artifact named {name}{hint} in the run: the job uploaded none, it was deleted, or the token lacks "
        "`actions: read`",
    )


def _with_others(slots: Sequence[Slot], listing: Iterable[Artifact]) -> list[Slot]:
    """Add what has the name of a candidate in any attempt, also where the input names one attempt or gives an id."""
    named: dict[str, list[Candidate]] = {}
    for artifact in listing:
        label, attempt = _apart(artifact)
        named.setdefault(label, []).append(Candidate(artifact, attempt))
    return [slot._replace(others=tuple(_others(slot, named))) for slot in slots]


def _others(slot: Slot, named: Mapping[str, Sequence[Candidate]]) -> Iterable[Candidate]:
    labels = dict.fromkeys(_apart(candidate.artifact)[0] for candidate in slot.candidates)
    others = {other.artifact.id: other for label in labels for other in named.get(label, ())}
    return (others | {candidate.artifact.id: candidate for candidate in slot.candidates}).values()
