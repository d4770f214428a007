"""The verdict of every pair, and what follows from all of them: the deciding pair, the freeze, the exit code."""

from datetime import date, timedelta
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.evidence.digest import ContentDigest
from freeze_gate.evidence.models import CheckFailure, OtherAttempt, Pair, Side, Source
from freeze_gate.policy.freezes import Policy, PolicyReading
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.models import GREEN
from freeze_gate.version import RULES_VERSION
from tests.builders.evidence import (
    DRIFT,
    FLAKE,
    FREEZE,
    MISS,
    SPLIT,
    TODAY,
    UNPROVEN,
    X,
    Y,
    make_case,
    make_pair,
    make_side,
)

GREEN_PAIR = make_pair()
NO_RECORD = Pair("sorted-patch", make_side(1), Side(Source("rerun"), fault=CheckFailure("record-missing", "")))
BY_SEVERITY = [MISS, DRIFT, SPLIT, FLAKE, GREEN_PAIR]
FROZEN = PolicyReading("read", Policy(freezes=(FREEZE,)))


def named(given: Pair, name: str) -> Pair:
    """Give a pair another id."""
    return given._replace(fixture_id=name)


def test_the_worst_pair_decides() -> None:
    """Wherever it stands: a miss, a drift, what is undecided, a flake, and what is green last."""
    for length in range(1, 4):
        for chosen in permutations(range(len(BY_SEVERITY)), length):
            pairs = [named(BY_SEVERITY[place], f"f{place}") for place in chosen]
            result = evaluate(make_case(*pairs))
            assert result.verdict.fixture_id == f"f{min(chosen)}"
            assert (result.failure_class, result.reason) == result.verdict[1:3]
            assert [verdict.fixture_id for verdict in result.verdicts] == [each.fixture_id for each in pairs]
            red = [place for place in chosen if place < 4]
            assert result.freeze_allowed is (red == [3])
            assert result.exit_code == bool(red)


def test_on_a_tie_the_lowest_id_decides() -> None:
    """An archive that could not be read has none, and goes before all."""
    names = ["b", "B", "a", "10", "9"]
    assert evaluate(make_case(*(named(MISS, name) for name in names))).verdict.fixture_id == "10"
    whole = Pair(None, NO_RECORD.rerun, NO_RECORD.rerun)
    assert evaluate(make_case(named(SPLIT, "a"), whole)).verdict.fixture_id is None


def test_a_green_pair_has_nothing_to_mute() -> None:
    """Alone it is unclassified and false with a reason of its own; a fault beside two passes makes it a flake."""
    verdict = evaluate(make_case(GREEN_PAIR)).verdict
    assert (verdict.failure_class, verdict.freeze_allowed, verdict.reason) == ("unclassified", False, GREEN)
    assert evaluate(make_case(GREEN_PAIR)).exit_code == 0
    assert evaluate(make_case(make_pair({"transport": None}, {"transport": None}))).reason == GREEN
    assert evaluate(make_case(make_pair({"transport": False}))).failure_class == "harness_flake"
    assert evaluate(make_case(make_pair({"oracle": None}))).reason == "nothing-to-blame"
    assert evaluate(make_case(GREEN_PAIR._replace(rerun=NO_RECORD.rerun))).reason == "record-missing"


@pytest.mark.parametrize("fault", ["record-missing", "archive-invalid", "artifact-expired"])
def test_missing_evidence_blocks(fault: str) -> None:
    """It is unclassified, and never green."""
    both = Side(Source("x"), fault=CheckFailure(fault, ""))
    result = evaluate(make_case(Pair(None, both, both)))
    assert (result.failure_class, result.reason, result.exit_code) == ("unclassified", fault, 1)
    assert not result.freeze_allowed


def test_the_lines_name_the_first_runs_pin_wherever_its_record_and_bytes_agree() -> None:
    """Also if another check failed; the rerun's never stands there."""
    faulty = MISS._replace(first=MISS.first._replace(fault=CheckFailure("x", "")))
    for each in (MISS, DRIFT, FLAKE, NO_RECORD, GREEN_PAIR, faulty):
        verdict = evaluate(make_case(each)).verdict
        assert (verdict.fixture_sha256, verdict.fixture_path) == (X, f"fixtures/{X}.json")
    for first in (
        MISS.first._replace(pin=None),
        MISS.first._replace(pin=ContentDigest(Y, 5)),
        make_side(1, pin=None, oracle=None),
        NO_RECORD.rerun,
    ):
        verdict = evaluate(make_case(Pair("a", first, MISS.rerun))).verdict
        assert (verdict.fixture_sha256, verdict.fixture_path) == (None, None)


def test_a_freeze_mutes_a_flake_for_its_days() -> None:
    """Both edge days count; a freeze mutes a flake alone: any other red pair beside it blocks."""
    for today, code in (
        (FREEZE.added - timedelta(1), 1),
        (FREEZE.added, 0),
        (FREEZE.expires, 0),
        (FREEZE.expires + timedelta(1), 1),
    ):
        result = evaluate(make_case(FLAKE, policy=FROZEN, today=today))
        assert (result.exit_code, result.freeze_active, result.freeze_allowed) == (code, not code, True)
    assert evaluate(make_case(FLAKE, named(GREEN_PAIR, "g"), policy=FROZEN)).exit_code == 0
    for other in (MISS, DRIFT, SPLIT, named(FLAKE, "b")):
        result = evaluate(make_case(FLAKE, named(other, "b"), policy=FROZEN))
        assert (result.exit_code, result.freeze_active) == (1, False)


def test_a_freeze_without_a_passing_oracle_is_never_active() -> None:
    """Nothing shows that the patch works."""
    result = evaluate(make_case(UNPROVEN, policy=FROZEN))
    assert (result.failure_class, result.freeze_allowed, result.exit_code) == ("harness_flake", True, 1)
    assert result.verdict.freeze_status
    assert result.verdict.freeze_status.state == "unproven"


@pytest.mark.parametrize("state", ["not_asked", "absent", "unusable"])
def test_only_a_policy_that_was_read_freezes(state: str) -> None:
    """Whatever stands in what could not be read whole."""
    result = evaluate(make_case(FLAKE, policy=FROZEN._replace(state=state)))
    assert (result.exit_code, result.verdict.freeze_status) == (1, None)


def test_a_policy_that_cannot_be_used_counts_every_requirement() -> None:
    """A flake whose oracle was not sealed is not let through."""
    assert FLAKE.rerun.record
    unsealed = FLAKE.rerun.record._replace(oracle=FLAKE.rerun.record.oracle._replace(egress="open"))
    given = FLAKE._replace(rerun=FLAKE.rerun._replace(record=unsealed))
    assert evaluate(make_case(given, policy=PolicyReading("absent"))).failure_class == "harness_flake"
    result = evaluate(make_case(given, policy=PolicyReading("unusable")))
    assert (result.failure_class, result.reason) == ("unclassified", "oracle-unsealed")


def test_another_attempts_fail_takes_the_flake_of_its_fixture_back() -> None:
    """A fail of another attempt is not undone by a rerun that passed."""
    fail = OtherAttempt("sorted-patch", make_side(3, oracle=False))
    assert evaluate(make_case(FLAKE, other_attempts=(fail,))).reason == "earlier-fail"
    assert evaluate(make_case(FLAKE, other_attempts=(fail._replace(fixture_id="b"),))).failure_class == "harness_flake"
    assert evaluate(make_case(MISS, other_attempts=(fail,))).failure_class == "property_miss"
    assert evaluate(make_case(FLAKE, other_attempts=(OtherAttempt(None, Side(Source("x"))),))).reason == "earlier-fail"


def test_observation_only_turns_one_into_zero_and_nothing_else() -> None:
    """The class and the freeze stay what they are."""
    for each in BY_SEVERITY:
        blocking, watching = evaluate(make_case(each)), evaluate(make_case(each, fail_on="never"))
        assert watching._replace(verdicts=()) == blocking._replace(exit_code=0, verdicts=())
        assert [*watching.verdicts] == [*blocking.verdicts]


days = st.dates(date(2026, 1, 1), date(2027, 12, 31))
freezes = st.builds(
    lambda sha256, added, expires, pull, name: FREEZE._replace(
        fixture_id=name, fixture_sha256=sha256, added=added, expires=expires, pull_request=pull
    ),
    st.sampled_from([X, Y]),
    days,
    days,
    st.sampled_from([None, 12, 13]),
    st.sampled_from(["sorted-patch", "other"]),
)
policies = st.builds(
    lambda state, most, found: PolicyReading(state, Policy(max_freeze_days=most, freezes=tuple(found))),
    st.sampled_from(["read", "unusable", "absent", "not_asked"]),
    st.integers(1, 90),
    st.lists(freezes, max_size=4),
)


any_pairs = st.lists(
    st.sampled_from([MISS, DRIFT, SPLIT, UNPROVEN, NO_RECORD, FLAKE, GREEN_PAIR]), min_size=1, max_size=3
)


@given(policies, any_pairs)
def test_no_policy_whatever_lets_anything_but_a_proven_flake_pass(policy: PolicyReading, pairs: list[Pair]) -> None:
    """Exit code 0 stands for green pairs and for flakes that one of whose oracles passed."""
    result = evaluate(make_case(*pairs, policy=policy))
    if result.exit_code == 0:
        assert all(each in (FLAKE, GREEN_PAIR) for each in pairs)
    if FLAKE in pairs and result.exit_code == 0:
        assert policy.state == "read"
        freezes = policy.policy.freezes
        assert any(freeze.added <= TODAY <= freeze.expires and freeze.fixture_sha256 == X for freeze in freezes)


def test_the_verdict_does_not_depend_on_the_order_of_the_pairs() -> None:
    """Only the index does."""
    pairs = [named(each, f"f{place}") for place, each in enumerate(BY_SEVERITY)]

    def outcome(chosen: Any) -> Any:
        result = evaluate(make_case(*chosen))
        return sorted(map(repr, result.verdicts)), result.verdict, result[1:6]

    assert len({repr(outcome(chosen)) for chosen in permutations(pairs)}) == 1


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (GREEN_PAIR, "artifact-missing"),
        (MISS, "both-oracles-failed"),
        (DRIFT, "digests-differ"),
        (SPLIT, "split-oracle"),
        (FLAKE, "transport-fault"),
    ],
)
@pytest.mark.parametrize("rules", [3, RULES_VERSION])
def test_a_newer_attempt_without_evidence_takes_back_a_pass_alone(pair: Pair, reason: str, rules: int) -> None:
    """Attempts 1 and 2 of three; and rules before this check know nothing of it."""
    sides = [
        side._replace(source=side.source._replace(label="bundle", run_id=4242, attempt=attempt, newest_attempt=3))
        for attempt, side in enumerate((pair.first, pair.rerun), 1)
    ]

    result = evaluate(make_case(Pair(pair.fixture_id, *sides)), rules)

    assert result.reason == ("green" if pair is GREEN_PAIR and rules == 3 else reason)
