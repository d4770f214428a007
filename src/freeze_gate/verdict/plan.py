"""What to post for a result: the label and the refresh tickets. A value, so that a dry run can show it."""

from typing import Final, NamedTuple

from freeze_gate.verdict.models import Case, Result
from freeze_gate.verdict.table import FailureClass

MAX_TICKETS: Final = 5
"""Tickets of one run. A changed generator changes many fixtures, and a person has to read each ticket."""


class Plan(NamedTuple):
    """What to post. `tickets` are indices of the drifted pairs; `over_cap` the fixture ids beyond the cap."""

    label: bool = False
    tickets: tuple[int, ...] = ()
    over_cap: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def plan(case: Case, result: Result, *, tickets: bool) -> Plan:
    """Plan the label, if the whole run is a flake that is not frozen, and a ticket for each drifted fixture.

    Evidence from another repository opens no ticket: a stranger could fill the tracker with them.
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
