"""Which artifacts are the first run's and which the rerun's. Pure: it is given listings and a way to read a candidate.

GitHub says of no artifact which attempt of its run made it, keeps several live artifacts of one name after a rerun,
and numbers them in no order. So the order is that of `created_at`, the attempt is what the records say (or the name,
where it holds `{attempt}`), and where the two disagree nothing is chosen.
"""

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from freeze_gate.errors import UsageError
from freeze_gate.evidence.checks import FIRST, RERUN
from freeze_gate.evidence.side import Artifact, Fault
from freeze_gate.inputs import ATTEMPT, Wanted

_NAMED: Final = 6  # candidates that a message lists
_MARK: Final = "\0"  # stands for {attempt} while a glob is translated; no artifact's name can hold it


class Candidate(NamedTuple):
    """An artifact that fits, with the attempt that its name says."""

    artifact: Artifact
    attempt: int | None = None


class Slot(NamedTuple):
    """Candidates of one name, newest first, and the sides that they are for: both means the newest two attempts.

    `others` are artifacts that other attempts may have left: they are read before a flake is said.
    """

    label: str
    sides: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    others: tuple[Artifact, ...] = ()
    fault: Fault | None = None

    @property
    def needed(self) -> tuple[Artifact, ...]:
        """The artifacts that have to be read to settle it: the newest two tell whether the order can be trusted."""
        return tuple(candidate.artifact for candidate in self.candidates[:2])


class Choice(NamedTuple):
    """What a slot came to: an artifact for a side, or the fault that the side has instead."""

    side: str
    artifact: Artifact | None
    fault: Fault | None = None


class AmbiguousError(Exception):
    """Several candidates and no honest way to choose."""


def are_attempts(first: Wanted, rerun: Wanted, *, one_run: bool) -> bool:
    """Whether the two sides are two attempts of one job. Raises `UsageError` where only one name says so."""
    if not one_run or first.name is None or rerun.name is None:
        return False
    if (ATTEMPT in first.name) != (ATTEMPT in rerun.name):
        raise UsageError(
            f"inputs first-artifact and rerun-artifact are {first.name!r} and {rerun.name!r}; "
            "allowed: {attempt} in both names of one run, or in neither"
        )
    return first.name == rerun.name


def slots_of_name(name: str, sides: tuple[str, ...], listing: Sequence[Artifact]) -> list[Slot]:
    """Group what fits a name or a glob by its name without the attempt. At least one slot, empty where nothing fits."""
    matches = _matcher(name)
    groups: dict[str, list[Candidate]] = {}
    for artifact in listing:
        if found := matches(artifact.name):
            groups.setdefault(found.label, []).append(Candidate(artifact, found.attempt))
    return [_slot(label, sides, group) for label, group in sorted(groups.items())] or [_slot(name, sides, [])]


def slot_of_artifact(side: str, artifact: Artifact, listing: Sequence[Artifact]) -> Slot:
    """Return the slot of an artifact that was named by its id: nothing to choose, but other attempts to know of."""
    family = _family(artifact)
    others = tuple(other for other in listing if other.id != artifact.id and not other.expired and family(other.name))
    return Slot(artifact.name, (side,), (Candidate(artifact),), others)


class _Match(NamedTuple):
    label: str
    attempt: int | None


def _matcher(name: str) -> Callable[[str], _Match | None]:
    pattern = fnmatch.translate(name.replace(ATTEMPT, _MARK)).replace(_MARK, r"(?P<attempt>[1-9][0-9]{0,8})")
    matches = re.compile(pattern).match

    def match(candidate: str) -> _Match | None:
        if candidate == name:
            return _Match(name, None)
        found = matches(candidate)
        if not found or "attempt" not in found.groupdict():
            return _Match(candidate, None) if found else None
        start, end = found.span("attempt")
        return _Match(candidate[:start] + ATTEMPT + candidate[end:], int(found["attempt"]))

    return match


def _family(artifact: Artifact) -> Callable[[str], bool]:
    """Return whether a name is this artifact's in another attempt: equal, or but for the attempt behind the run's id.

    `-<run id>-<attempt>` is how the capture action ends its names.
    """
    ending = re.search(rf"-{artifact.run_id}-([1-9][0-9]*)\Z", artifact.name)
    if not ending:
        return artifact.name.__eq__
    stem = artifact.name[: ending.start(1)]
    return lambda name: name.startswith(stem) and name[len(stem) :].isdecimal()


def _slot(label: str, sides: tuple[str, ...], group: Sequence[Candidate]) -> Slot:
    live = [candidate for candidate in group if not candidate.artifact.expired]
    if not live:
        return Slot(label, sides, (), fault=_absent(label, group))
    newest_first = sorted(live, key=lambda each: (each.attempt or 0, each.artifact.created_at or ""), reverse=True)
    candidates = tuple(_distinct(newest_first))
    return Slot(label, sides, candidates, tuple(candidate.artifact for candidate in candidates))


def _distinct(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """Drop the second copy of equal bytes: an upload that was retried leaves two."""
    digests: set[str] = set()
    for candidate in candidates:
        if candidate.artifact.digest not in digests:
            yield candidate
        digests |= {candidate.artifact.digest} if candidate.artifact.digest else set()


def _absent(label: str, group: Sequence[Candidate]) -> Fault:
    if group:
        return Fault("artifact-expired", f"all {len(group)} artifacts named {label} have expired")
    return Fault(
        "artifact-missing",
        f"no artifact named {label} in the run: the job uploaded none, it was deleted, or the token lacks `actions: read`",
    )


def settle(slot: Slot, attempt_of: Callable[[Candidate], int | None], newest_attempt: int | None) -> list[Choice]:
    """Choose from a slot. `attempt_of` says which attempt made a candidate, None where nothing says.

    Two sides: the rerun is the newest attempt's, the first that of the attempt before. One side: the newest attempt's.
    """
    if slot.fault:
        return [Choice(side, None, slot.fault) for side in slot.sides]
    if len(slot.candidates) == 1:
        return _only_one(slot, attempt_of, newest_attempt)
    try:
        newest, before = islice(_by_attempt(slot.candidates, attempt_of), 2)
    except AmbiguousError as error:
        fault = Fault("artifact-ambiguous", f"{error}: {_list(slot.candidates)}")
        return [Choice(side, None, fault) for side in slot.sides]
    if len(slot.sides) == 1:
        return [Choice(slot.sides[0], newest)]
    return [Choice(FIRST, before), Choice(RERUN, newest)]


def _by_attempt(
    candidates: Sequence[Candidate], attempt_of: Callable[[Candidate], int | None]
) -> Iterator[Artifact]:
    """Yield candidates, newest attempt first, as long as their times and what they say of themselves agree."""
    before: tuple[str | None, int] | None = None
    for candidate in candidates:
        attempt, created = attempt_of(candidate), candidate.artifact.created_at
        if attempt is None:
            raise AmbiguousError("nothing says which attempt made one of them")
        if before and attempt == before[1]:
            raise AmbiguousError("two are of one attempt")
        if before and attempt > before[1]:
            raise AmbiguousError("their records and their times disagree")
        if before and candidate.attempt is None and (created is None or created == before[0]):
            raise AmbiguousError("they were created in the same second")
        before = created, attempt
        yield candidate.artifact


def _only_one(
    slot: Slot, attempt_of: Callable[[Candidate], int | None], newest_attempt: int | None
) -> list[Choice]:
    only = slot.candidates[0]
    if len(slot.sides) == 1:
        return [Choice(slot.sides[0], only.artifact)]
    attempt = attempt_of(only) or newest_attempt
    if attempt == 1:
        detail = (
            'there is only one attempt of this run yet; press "Re-run failed jobs" to have a second one to compare with'
        )
        return [Choice(FIRST, only.artifact), Choice(RERUN, None, Fault("artifact-missing", detail))]
    detail = (
        f"only attempt {attempt or '(not known)'} left an artifact named {slot.label}; put {ATTEMPT} into the artifact's "
        "name, or rerun in a separate run, so that the earlier one is kept"
    )
    return [Choice(FIRST, None, Fault("artifact-missing", detail)), Choice(RERUN, only.artifact)]


def _list(candidates: Sequence[Candidate]) -> str:
    named = (f"{each.artifact.id} of {each.artifact.created_at or 'no known time'}" for each in candidates[:_NAMED])
    more = len(candidates) - _NAMED
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def attempt_at(created_at: str | None, started_at: Mapping[int, str | None]) -> int | None:
    """Return the attempt in whose time window an artifact was created; None where a start is not known.

    All times are UTC to the second, so an upload in the very second of a start has two answers: None.
    """
    if created_at is None or None in started_at.values():
        return None
    begun = [attempt for attempt, started in started_at.items() if started is not None and started <= created_at]
    if not begun or created_at == started_at[max(begun)]:
        return None
    return max(begun)
