"""The budget of seconds that a run may lose by waiting."""

import pytest

from freeze_gate.github.wait_budget import WaitBudget
from tests.standin import Pretended


@pytest.fixture
def pretended() -> Pretended:
    """Return a clock on which waiting takes no time."""
    return Pretended()


def test_waits_until_the_budget_is_used_up(pretended: Pretended) -> None:
    """A wait that fits passes, one that does not fit is refused and costs nothing."""
    budget = WaitBudget(10, pretended.clock)
    assert budget.wait(6)
    assert not budget.wait(5)
    assert budget.wait(4)
    assert (pretended.slept, budget.left) == ([6, 4], 0)


def test_the_time_of_the_failed_try_is_lost_too(pretended: Pretended) -> None:
    """A try that hung for eight seconds leaves two of ten."""
    budget = WaitBudget(10, pretended.clock)
    since = pretended.read()
    pretended.sleep(8)
    assert not budget.wait(3, since)
    assert budget.left == 2
    assert budget.wait(2)


def test_waiting_at_the_same_time_is_paid_once() -> None:
    """Two sides that wait for the same reset lose its seconds once, not twice."""
    pretended = Pretended()
    still = pretended.clock._replace(sleep=lambda _seconds: None)  # the second wait begins while the first one goes on
    budget = WaitBudget(100, still)
    assert budget.wait(60)
    assert budget.wait(60)
    assert budget.left == 40
    assert budget.wait(70)
    assert budget.left == 30


def test_a_wait_of_nothing_always_fits(pretended: Pretended) -> None:
    """An empty budget still lets a server that says `Retry-After: 0` be asked again."""
    assert WaitBudget(0, pretended.clock).wait(0)
