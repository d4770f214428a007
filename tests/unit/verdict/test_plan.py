"""What is posted follows from the result alone."""

import pytest

from freeze_gate.evidence.models import Pair
from freeze_gate.policy.freezes import Policy, PolicyReading
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.plan import MAX_TICKETS, Plan, plan
from tests.builders import evidence as samples

MUTED = PolicyReading("read", Policy(freezes=(samples.FREEZE,)))


def planned(*pairs: Pair, tickets: bool = True, **facts: object) -> Plan:
    """Plan for the case that the gate would make of some pairs."""
    case = samples.make_case(*pairs, **facts)
    return plan(case, evaluate(case), tickets=tickets)


def other(pair: Pair, fixture_id: str) -> Pair:
    """Return a pair of another fixture id."""
    sides = (
        side._replace(record=side.record and side.record._replace(fixture_id=fixture_id))
        for side in (pair.first, pair.rerun)
    )
    return Pair(fixture_id, *sides)


@pytest.mark.parametrize(
    ("pair", "right"),
    [
        (samples.MISS, Plan()),
        (samples.SPLIT, Plan()),
        (samples.make_pair(), Plan()),
        (samples.FLAKE, Plan(label=True)),
        (samples.UNPROVEN, Plan(label=True)),
        (samples.DRIFT, Plan(tickets=(0,))),
    ],
)
def test_a_label_for_a_flake_and_a_ticket_for_a_drift(pair: Pair, right: Plan) -> None:
    """And nothing for anything else."""
    assert planned(pair) == right


@pytest.mark.parametrize("beside", [samples.MISS, samples.SPLIT, samples.DRIFT])
def test_a_flake_beside_anything_red_is_not_labelled(beside: Pair) -> None:
    """The label speaks for the whole run."""
    assert not planned(samples.FLAKE, other(beside, "zz")).label


def test_a_flake_beside_green_is_labelled() -> None:
    """A green pair is left out."""
    assert planned(samples.FLAKE, other(samples.make_pair(), "zz")).label


def test_what_a_freeze_mutes_is_not_asked_for_again() -> None:
    """Unless a second flake is not muted."""
    assert planned(samples.FLAKE, policy=MUTED) == Plan()
    assert planned(samples.FLAKE, other(samples.FLAKE, "zz"), policy=MUTED).label


def test_every_drifted_fixture_has_its_ticket_up_to_the_cap() -> None:
    """The rest are named."""
    pairs = [other(samples.DRIFT, f"s{number}") for number in range(MAX_TICKETS + 2)]

    assert planned(*pairs) == Plan(tickets=tuple(range(MAX_TICKETS)), over_cap=("s5", "s6"))


def test_a_drift_beside_a_miss_has_its_ticket_too() -> None:
    """Whichever pair decides."""
    assert planned(samples.MISS, other(samples.DRIFT, "zz")).tickets == (1,)


def test_evidence_from_a_fork_opens_no_ticket_and_may_ask_for_a_label() -> None:
    """A stranger could fill the tracker."""
    assert not planned(samples.DRIFT, from_fork=True).tickets
    assert planned(samples.DRIFT, from_fork=True).notes
    assert planned(samples.FLAKE, from_fork=True) == Plan(label=True)


def test_tickets_that_are_switched_off_are_not_opened_and_that_is_said() -> None:
    """Only where there would be one."""
    assert planned(samples.DRIFT, tickets=False) == Plan(
        notes=("refresh tickets are switched off by the input `tickets`",)
    )
    assert planned(samples.FLAKE, tickets=False) == Plan(label=True)
