"""Tests of `policy.freezes`: when a freeze mutes a flake, and which entry is named when none does."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.evidence.digest import Sha256
from freeze_gate.policy.freezes import (
    ACTIVE,
    NOT_ASKED,
    STATES,
    Freeze,
    FreezeStatus,
    Policy,
    PolicyReading,
    expiry_notice,
    freeze_statuses,
    is_too_long,
    overlaps,
)

SHA = Sha256("0b5c" + "0" * 60)
OTHER = Sha256("f" * 64)
FREEZE = Freeze(
    fixture_id="sorted-patch",
    fixture_sha256=SHA,
    owner="@octo-org/harness",
    reason="executor lane drops connections",
    added=date(2026, 11, 20),
    expires=date(2026, 12, 10),
    unfreeze_when="lane upgrade is out",
)


def state(
    *freezes: Freeze,
    today: date = date(2026, 11, 29),
    pull_request: int | None = None,
    oracle_passed: bool = True,
    most: int = 30,
) -> str | None:
    """Ask about the flake of `sorted-patch`."""
    policy = Policy(most, freezes=freezes)
    statuses = freeze_statuses(policy, "sorted-patch", SHA, today, pull_request, oracle_passed=oracle_passed)
    return statuses[0].state if statuses else None


@pytest.mark.parametrize(
    ("today", "expected"),
    [
        (date(2026, 11, 19), "not_yet"),
        (date(2026, 11, 20), ACTIVE),
        (date(2026, 12, 10), ACTIVE),
        (date(2026, 12, 11), "expired"),
    ],
)
def test_both_edge_days_belong_to_the_freeze(today: date, expected: str) -> None:
    """From 00:00 UTC on the day it was added to 23:59 UTC on its last day."""
    assert state(FREEZE, today=today) == expected


@pytest.mark.parametrize(
    ("freeze", "expected"),
    [
        (FREEZE, ACTIVE),
        (FREEZE._replace(fixture_id="sorted-patch-2"), None),
        (FREEZE._replace(fixture_id="Sorted-Patch"), None),
        (FREEZE._replace(fixture_sha256=OTHER), "other_digest"),
        (FREEZE._replace(expires=date(2099, 12, 31)), "too_long"),
        (FREEZE._replace(pull_request=12), "other_pull_request"),
    ],
)
def test_a_freeze_is_for_one_id_one_digest_and_a_short_time(freeze: Freeze, expected: str | None) -> None:
    """Whatever does not fit keeps the flake red, and is said."""
    assert state(freeze) == expected


def test_an_entry_with_a_pull_request_counts_there_and_nowhere_else() -> None:
    """Another one, or none at all, is not muted by it; an entry without one counts everywhere."""
    only_there = FREEZE._replace(pull_request=12)
    assert [state(only_there, pull_request=number) for number in (12, 13, None)] == [
        ACTIVE,
        "other_pull_request",
        "other_pull_request",
    ]
    assert state(FREEZE, pull_request=13) == ACTIVE


def test_without_a_passing_oracle_nothing_is_muted() -> None:
    """A perfect entry does not show that the patch works."""
    assert state(FREEZE, oracle_passed=False) == "unproven"


@pytest.mark.parametrize(
    ("days", "most", "expected"), [(30, 30, ACTIVE), (31, 30, "too_long"), (31, 90, ACTIVE), (2, 1, "too_long")]
)
def test_the_horizon_is_checked_against_the_limit_of_today(days: int, most: int, expected: str) -> None:
    """The last day may lie `max_freeze_days` after the first, not more; a lowered limit counts at once."""
    freeze = FREEZE._replace(added=date(2026, 11, 28), expires=date(2026, 11, 28) + timedelta(days))
    assert state(freeze, most=most) == expected
    assert is_too_long(freeze, Policy(most)) == (expected == "too_long")


def test_a_limit_beyond_any_calendar_is_harmless() -> None:
    """A stored verdict may claim any number."""
    assert not is_too_long(FREEZE, Policy(2**53 - 1))


def test_the_nearest_entry_is_named() -> None:
    """An active one before all others; then the state that lacks least; of two expired ones the later."""
    lapsed = FREEZE._replace(added=date(2026, 9, 1), expires=date(2026, 9, 20))
    older = FREEZE._replace(added=date(2026, 8, 1), expires=date(2026, 8, 20))
    other = FREEZE._replace(fixture_sha256=OTHER)
    policy = Policy(freezes=(other, older, lapsed))
    statuses = freeze_statuses(policy, "sorted-patch", SHA, date(2026, 11, 29), None, oracle_passed=True)
    assert statuses == [
        FreezeStatus("expired", lapsed),
        FreezeStatus("expired", older),
        FreezeStatus("other_digest", other),
    ]
    assert state(other, older, FREEZE, lapsed) == ACTIVE
    assert state() is None


DAYS = st.dates(date(2026, 10, 1), date(2027, 1, 31))
FREEZES = st.builds(
    Freeze,
    fixture_id=st.sampled_from(["sorted-patch", "other"]),
    fixture_sha256=st.sampled_from([SHA, OTHER]),
    owner=st.just("me"),
    reason=st.just("why"),
    added=DAYS,
    expires=DAYS,
    unfreeze_when=st.just("then"),
    pull_request=st.sampled_from([None, 12, 13]),
)


@given(st.lists(FREEZES, max_size=4).map(tuple), DAYS, st.sampled_from([None, 12]), st.booleans(), st.integers(1, 90))
def test_active_means_exactly_what_the_contract_says(
    freezes: tuple[Freeze, ...], today: date, pull_request: int | None, passed: bool, most: int
) -> None:
    """Said once more, the other way round: some entry fits in every respect, or nothing is muted."""
    fits = [
        passed
        and (freeze.fixture_id, freeze.fixture_sha256) == ("sorted-patch", SHA)
        and freeze.added <= today <= freeze.expires <= freeze.added + timedelta(days=most)
        and (freeze.pull_request is None or freeze.pull_request == pull_request)
        for freeze in freezes
    ]
    said = state(*freezes, today=today, pull_request=pull_request, oracle_passed=passed, most=most)
    assert (said == ACTIVE) == any(fits)
    assert said is None or said in STATES


@given(FREEZES, FREEZES)
def test_overlap_is_symmetric_and_means_a_common_day(one: Freeze, other: Freeze) -> None:
    """Only for one id and one digest together."""
    if one.added <= one.expires and other.added <= other.expires:
        days = [
            {freeze.added + timedelta(n) for n in range((freeze.expires - freeze.added).days + 1)}
            for freeze in (one, other)
        ]
        same = one[:2] == other[:2]
        assert overlaps(one, other) == overlaps(other, one) == (same and not days[0].isdisjoint(days[1]))


@pytest.mark.parametrize(
    ("today", "words"),
    [
        (date(2026, 12, 2), None),
        (date(2026, 12, 3), "expires after 2026-12-10"),
        (date(2026, 12, 10), "expires after 2026-12-10"),
        (date(2026, 12, 11), "expired on 2026-12-10"),
    ],
)
def test_an_entry_is_worth_a_word_for_its_last_week_and_afterwards(today: date, words: str | None) -> None:
    """A week is enough to mend a lane or to ask for more time."""
    assert expiry_notice(FREEZE, today) == words


def test_what_cannot_be_read_counts_as_required() -> None:
    """Only a policy that was read, or is known to be absent, can leave a seal unasked for."""
    readings = {
        NOT_ASKED: False,
        PolicyReading("absent"): False,
        PolicyReading("read"): False,
        PolicyReading("read", Policy(sealed_oracle=True)): True,
        PolicyReading("unusable"): True,
    }
    assert {reading: reading.requires_sealed_oracle for reading in readings} == readings
