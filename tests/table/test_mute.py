"""No policy makes a pair that is not a `harness_flake` exit 0, and none mutes a flake that no oracle passed."""

import json
from datetime import date, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from freeze_gate.policy.file import read_policy
from freeze_gate.policy.freezes import NOT_ASKED, Freeze, Policy, PolicyReading
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.table import FailureClass
from tests.builders.evidence import FREEZE, TODAY, X, Y, make_case, make_pair

# Most of what is drawn is nearly a proven flake, nearly with a fitting entry: there the mistakes would be.
PINS = st.sampled_from([X, X, X, X, X, Y, None])
ORACLES = st.sampled_from([True, True, None, False])
TRANSPORTS = st.sampled_from([False, False, True, None])
SIDES = st.fixed_dictionaries({}, optional={"pin": PINS, "oracle": ORACLES, "transport": TRANSPORTS})
IDS = st.sampled_from(["sorted-patch", "sorted-patch", "other"])
PAIRS = st.builds(make_pair, SIDES, SIDES, IDS)
FREEZES = st.fixed_dictionaries(
    {"fixture_id": IDS},
    optional={
        "fixture_sha256": st.sampled_from([X, Y]),
        "added": st.sampled_from([TODAY - timedelta(31), TODAY, TODAY + timedelta(1)]),
        "expires": st.sampled_from([TODAY - timedelta(1), TODAY, TODAY + timedelta(40), date(2099, 12, 31)]),
        "pull_request": st.sampled_from([12, 13]),
    },
).map(lambda fields: FREEZE._replace(**fields))
POLICIES = st.builds(
    Policy,
    max_freeze_days=st.sampled_from([30, 30, 30, 0, 90, 2**53 - 1]),
    sealed_oracle=st.booleans(),
    freezes=st.lists(FREEZES, max_size=3).map(tuple),
)
READINGS = st.builds(PolicyReading, st.sampled_from(["read"] * 5 + ["unusable", "absent", "not_asked"]), POLICIES)


@settings(max_examples=200)
@given(st.lists(PAIRS, min_size=1, max_size=3, unique_by=lambda each: each.fixture_id), READINGS)
def test_no_policy_mutes_anything_but_a_proven_flake(pairs: list[Any], reading: PolicyReading) -> None:
    """Where the exit code is 0, every pair is green, or a proven flake that an entry of today is about."""
    result = evaluate(make_case(*pairs, policy=reading))
    without = evaluate(make_case(*pairs, policy=NOT_ASKED))
    for each, verdict, plain in zip(pairs, result.verdicts, without.verdicts, strict=True):
        assert verdict.failure_class in (plain.failure_class, FailureClass.UNCLASSIFIED)
        assert verdict.green == plain.green
        if result.exit_code == 0 and not verdict.green:
            assert verdict.failure_class == FailureClass.HARNESS_FLAKE
            assert reading.state == "read"
            assert True in (each.first.record.oracle_passed, each.rerun.record.oracle_passed)
            assert any(_is_about(freeze, each.fixture_id, reading.policy) for freeze in reading.policy.freezes)


def _is_about(freeze: Freeze, fixture_id: str, policy: Policy) -> bool:
    """Say once more, apart from the code, when an entry of today is about pull request 12 and the pinned bytes."""
    in_time = freeze.added <= TODAY <= freeze.expires and (freeze.expires - freeze.added).days <= policy.max_freeze_days
    return in_time and freeze[:2] in ((fixture_id, X), (fixture_id, Y)) and freeze.pull_request in (None, 12)


ENTRY = {
    "fixture_id": "sorted-patch",
    "fixture_sha256": X,
    "owner": "@me",
    "reason": "why",
    "added": "2026-11-20",
    "expires": "2026-12-10",
    "unfreeze_when": "then",
}
CHANGES = {
    "fixture_id": st.sampled_from(["*", "other"]),
    "fixture_sha256": st.sampled_from([Y, "*"]),
    "owner": st.just(""),
    "added": st.sampled_from(["2026-11-29", "2026-11-30", "2026-10-01"]),
    "expires": st.sampled_from(["2026-11-28", "2026-11-29", "2099-12-31"]),
}
ENTRIES = st.fixed_dictionaries({}, optional=CHANGES).map(lambda changes: {**ENTRY, **changes})
FILES = st.fixed_dictionaries(
    {"schema": st.just("freeze-gate/policy/1"), "freezes": st.lists(ENTRIES, max_size=2)},
    optional={"max_freeze_days": st.sampled_from([90, 91, 30, 1]), "everything": st.just(True)},
)


@settings(max_examples=100)
@given(PAIRS, FILES)
def test_no_file_whatever_does_either(each: Any, file: dict[str, Any]) -> None:
    """The same from the file's bytes on: one that is refused mutes nothing at all."""
    reading = read_policy(json.dumps(file).encode(), "p", TODAY)
    result = evaluate(make_case(each, policy=reading))
    if result.exit_code == 0 and not result.verdict.green:
        assert reading.state == "read"
        assert result.failure_class == FailureClass.HARNESS_FLAKE
        assert any(_is_about(freeze, each.fixture_id, reading.policy) for freeze in reading.policy.freezes)


def test_a_proven_flake_is_muted_at_all() -> None:
    """Else the tests above would hold for a tool that never mutes."""
    flake = make_pair({"oracle": None, "transport": False})
    assert evaluate(make_case(flake, policy=PolicyReading("read", Policy(freezes=(FREEZE,))))).exit_code == 0
    unproven = make_pair({"oracle": None, "transport": False}, {"oracle": None})
    result = evaluate(make_case(unproven, policy=PolicyReading("read", Policy(freezes=(FREEZE,)))))
    assert (result.exit_code, result.failure_class) == (1, FailureClass.HARNESS_FLAKE)
