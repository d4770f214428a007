"""Which artifact is the first run's and which the rerun's. Pure: it is given candidates and a way to place one.

GitHub says of no artifact which attempt of its run made it, keeps several live artifacts of one name after a rerun,
and numbers them in no order. So the order is that of `created_at`, the attempt is what the name says where it holds
one, else the record, and where order and attempts disagree nothing is chosen.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Final, NamedTuple

from freeze_gate.action.inputs import ATTEMPT, Wanted
from freeze_gate.artifacts.select import Candidate, Slot
from freeze_gate.errors import UsageError
from freeze_gate.evidence.abbreviation import abbreviate
from freeze_gate.evidence.checks import FIRST, RERUN
from freeze_gate.evidence.side import Fault

_NAMED: Final = 6  # candidates that a message lists

PlaceOf = Callable[[Candidate], int | None]
"""Says which attempt made a candidate; None where nothing says it."""


class Choice(NamedTuple):
    """What a slot came to: a candidate for a side, or the fault that the side has instead."""

    side: str
    label: str
    candidate: Candidate | None = None
    fault: Fault | None = None


class AmbiguousError(Exception):
    """Several candidates and no honest way to choose."""


def are_attempts(first: Wanted, rerun: Wanted, *, one_run: bool) -> bool:
    """Whether the two sides are two attempts of one job. Raises `UsageError` where only one name says so."""
    if not one_run or None in (first.name, rerun.name) or (first.artifact_id or rerun.artifact_id):
        return False
    if (ATTEMPT in str(first.name)) != (ATTEMPT in str(rerun.name)):
        raise UsageError(
            f"inputs first-artifact and rerun-artifact are {first.name!r} and {rerun.name!r}; "
            "allowed: {attempt} in both names of one run, or in neither"
        )
    return first.name == rerun.name


def settle(slot: Slot, attempt_of: PlaceOf, newest_attempt: int | None) -> list[Choice]:
    """Choose from a slot: for two sides the newest attempt's and that of the attempt before, for one the newest's.

    `newest_attempt` is the run's own number; None where it is not known.
    """
    if slot.fault:
        return [Choice(side, slot.label, fault=slot.fault) for side in slot.sides]
    if len(slot.candidates) == 1:
        return _only_one(slot, attempt_of, newest_attempt)
    try:
        chosen = list(islice(_newest_first(slot, attempt_of), len(slot.sides)))
    except AmbiguousError as error:
        fault = Fault("artifact-ambiguous", f"{error}: {_list(slot.candidates)}")
        return [Choice(side, slot.label, fault=fault) for side in slot.sides]
    return [Choice(side, slot.label, found) for side, found in zip(reversed(slot.sides), chosen, strict=True)]


def _newest_first(slot: Slot, attempt_of: PlaceOf) -> Iterator[Candidate]:
    """Yield candidates, each once it is known that the next one is of an earlier attempt. Raises `AmbiguousError`."""
    placed = ((candidate, attempt_of(candidate)) for candidate in slot.candidates)
    for (newer, attempt), (older, before) in pairwise(placed):
        if attempt is None or before is None:
            raise AmbiguousError("nothing says which attempt made one of them")
        if attempt == before:
            raise AmbiguousError("two are of one attempt")
        if attempt < before:
            raise AmbiguousError("their records and their times disagree")
        times = newer.artifact.created_at, older.artifact.created_at
        if newer.attempt is None and (None in times or times[0] == times[1]):
            raise AmbiguousError("they were created in the same second")
        yield newer
    yield slot.candidates[-1]


def _only_one(slot: Slot, attempt_of: PlaceOf, newest_attempt: int | None) -> list[Choice]:
    only = slot.candidates[0]
    if len(slot.sides) == 1:
        return [Choice(slot.sides[0], slot.label, only)]
    if slot.exact:
        detail = f"no attempt before that of artifact {only.artifact.id} left one named {slot.label}"
        return [Choice(FIRST, slot.label, fault=_missing(detail)), Choice(RERUN, slot.label, only)]
    attempt = attempt_of(only) or newest_attempt
    copies = f" ({slot.copies} more with the same bytes count as one with it)" if slot.copies else ""
    if attempt != 1:
        cure = f"put {ATTEMPT} into the artifact's name, or rerun in a separate run, so that the earlier one is kept"
        detail = (
            f"only attempt {attempt or '(not known)'} left an artifact named {slot.label}{copies}"
            f"{'' if ATTEMPT in slot.label else f'; {cure}'}"
        )
        return [Choice(FIRST, slot.label, fault=_missing(detail)), Choice(RERUN, slot.label, only)]
    detail = (
        f"no later attempt left an artifact named {slot.label}{copies}, and the run is at attempt {newest_attempt}"
        if (newest_attempt or 1) > 1
        else "there is only one attempt of this run yet; "
        'press "Re-run failed jobs" to have a second one to compare with'
    )
    return [Choice(FIRST, slot.label, only), Choice(RERUN, slot.label, fault=_missing(detail))]


def _missing(detail: str) -> Fault:
    return Fault("artifact-missing", detail)


def _list(candidates: Sequence[Candidate]) -> str:
    def show(candidate: Candidate) -> str:
        return f"{candidate.artifact.id} of {candidate.artifact.created_at or 'no known time'}"

    return ", ".join(abbreviate(candidates, _NAMED, show))
