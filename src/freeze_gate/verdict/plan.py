"""What follows from a result: which label, which tickets. A value, so that a dry run can show what would be done."""

from typing import Final, NamedTuple

from freeze_gate.verdict.models import Case, Result
from freeze_gate.verdict.table import FailureClass

MAX_TICKETS: Final = 5
"""Tickets of one run: a generator that moved moves many fixtures, and one person reads the tickets."""


class Plan(NamedTuple):
    """What to post. `tickets` are indices of the drifted pairs; `over_cap` the fixture ids beyond the cap."""

    label: bool = False
    tickets: tuple[int, ...] = ()
    over_cap: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def plan(case: Case, result: Result, *, tickets: bool) -> Plan:
    """Say what to post: the label only on an overall flake that nothing mutes, a ticket for each drifted fixture.

    Evidence from another repository opens no ticket: a stranger could fill the tracker with it.
    """
    drifted = result.red[FailureClass.FIXTURE_DRIFT]
    label = result.freeze_allowed and not result.freeze_active
    if drifted and not tickets:
        return Plan(label, notes=("refresh tickets are switched off by the input `tickets`",))
    if drifted and case.from_fork:
        return Plan(
            label, notes=("the evidence comes from another repository, so no refresh ticket is opened or updated",)
        )
    over_cap = tuple(str(case.pairs[place].fixture_id) for place in drifted[MAX_TICKETS:])
    return Plan(label, tuple(drifted[:MAX_TICKETS]), over_cap)
