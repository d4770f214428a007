"""The decision over the full product of its inputs, both ways round, against a table written from the contract.

The table below shares nothing with the code but the names: it counts, where the code compares in order.
"""

import pickle
from itertools import product
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeze_gate import FailureClass, RunRecord, classify, freeze_allowed
from freeze_gate.evidence.checks import EVIDENCE_CHECKS, FLAKE_CHECKS, CheckContext, run_checks
from freeze_gate.evidence.models import CheckFailure, OtherAttempt, Pair, Side
from freeze_gate.policy.freezes import Policy, PolicyReading
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.models import GREEN, Verdict
from freeze_gate.verdict.table import RULES, match_rule
from tests.builders.evidence import X, Y, make_case, make_pair, make_side

DIGESTS: Final = (X, Y, None)
VERDICTS: Final = (True, False, None)

TABLE: Final = """
digests   oracles that failed   transport faults   class           rule
missing   any                   any                unclassified    digest-missing
unequal   any                   any                fixture_drift   digests-differ
equal     2                     any                property_miss   both-oracles-failed
equal     1                     any                unclassified    split-oracle
equal     0                     some               harness_flake   transport-fault
equal     0                     none               unclassified    nothing-to-blame
"""

Facts = tuple[str | None, bool | None, bool | None]
PRODUCT: Final[list[Facts]] = list(product(DIGESTS, VERDICTS, VERDICTS))
PAIRS: Final = list(product(PRODUCT, PRODUCT))


class Row(NamedTuple):
    """One line of the table."""

    digests: str
    failed: str
    faults: str
    failure_class: str
    rule: str


ROWS: Final = [Row(*line.split()) for line in TABLE.strip().splitlines()[1:]]


def expected(first: Facts, rerun: Facts) -> Row:
    """Look a pair up: every row that fits, of which there must be one."""
    digests, oracles, transports = zip(first, rerun, strict=True)
    told = {
        "digests": "missing" if None in digests else "equal" if len(set(digests)) == 1 else "unequal",
        "failed": str(oracles.count(False)),
        "faults": "some" if False in transports else "none",
    }
    fitting = [row for row in ROWS if all(getattr(row, name) in ("any", value) for name, value in told.items())]
    assert len(fitting) == 1
    return fitting[0]


def test_every_pair_of_records_has_the_class_of_its_row() -> None:
    """All 729 pairs, each both ways round, have the class and the rule that the table says, and nothing else."""
    assert len(PAIRS) == 729
    for first, rerun in PAIRS:
        row = expected(first, rerun)
        for left, right in ((first, rerun), (rerun, first)):
            rule = match_rule(RunRecord(*left), RunRecord(*right))
            assert (rule.id, rule.failure_class) == (row.rule, row.failure_class)
            assert classify(RunRecord(*left), RunRecord(*right)) is rule.failure_class


def test_every_rule_is_reached_and_none_is_added() -> None:
    """The rules are those of the table, in its order, and each decides some pair."""
    assert [(rule.id, rule.failure_class) for rule in RULES] == [(row.rule, row.failure_class) for row in ROWS]
    assert {expected(first, rerun).rule for first, rerun in PAIRS} == {rule.id for rule in RULES}


def test_only_a_flake_may_be_frozen() -> None:
    """A freeze may be requested for one class of the four."""
    assert {kind for kind in FailureClass if freeze_allowed(kind)} == {FailureClass.HARNESS_FLAKE}
    assert [kind.value for kind in FailureClass] == ["property_miss", "fixture_drift", "harness_flake", "unclassified"]


@pytest.mark.parametrize("missing", [None, ""])
def test_an_empty_digest_is_a_missing_one(missing: str | None) -> None:
    """Nothing was pinned, which is not the same as zero bytes pinned."""
    nothing = RunRecord(missing, True, False)
    assert classify(nothing, nothing) is FailureClass.UNCLASSIFIED
    assert classify(nothing, RunRecord(X, False, False)) is FailureClass.UNCLASSIFIED


@pytest.mark.parametrize("odd", [0, 1, "false", "False", "no", "", 0.0, [], b"true"])
def test_a_verdict_is_a_bool_or_none(odd: Any) -> None:
    """Read loosely, a string that says false would be no fail, and the pair a flake."""
    for facts in ((X, odd, True), (X, True, odd)):
        with pytest.raises(TypeError, match="must be True, False or None"):
            RunRecord(*facts)
    good = RunRecord(X, False, False)
    with pytest.raises(TypeError, match="oracle_passed"):
        good._replace(oracle_passed=odd)
    with pytest.raises(TypeError, match="transport_ok"):
        RunRecord._make((X, True, odd))


@pytest.mark.parametrize("odd", [0, 7, b"0b5c", ["0b5c"]])
def test_a_digest_is_a_string_or_none(odd: Any) -> None:
    """Bytes are no digest."""
    with pytest.raises(TypeError, match="fixture_sha256"):
        RunRecord(odd, True, True)


def test_a_run_record_is_frozen_and_keeps_its_type() -> None:
    """It cannot be changed afterwards, and survives being copied."""
    record = RunRecord(X, True, None)
    with pytest.raises(AttributeError):
        record.oracle_passed = False  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(record)) == record  # noqa: S301 - our own bytes
    assert type(record._replace(transport_ok=False)) is RunRecord


# ---- with the evidence around it -----------------------------------------------------------------------------------


def shown(facts: Facts, attempt: int) -> Side:
    """Return a well-made side with these facts."""
    sha256, oracle, transport = facts
    made = make_side(attempt, pin=X if sha256 == X else Y if sha256 else None, oracle=oracle, transport=transport)
    assert made.record
    return made


def judged(given: Pair, **facts: Any) -> Verdict:
    """Return the verdict of one pair."""
    return evaluate(make_case(given, **facts)).verdicts[0]


def test_sound_evidence_is_judged_by_the_table_alone() -> None:
    """Where no check fails, the verdict is the table's, except that a green pair never reaches it."""
    for first, rerun in PAIRS:
        if any(facts[0] is None and facts[1] is not None for facts in (first, rerun)):
            continue  # a contradiction: an oracle that checked nothing
        verdict, row = judged(Pair("sorted-patch", shown(first, 1), shown(rerun, 2))), expected(first, rerun)
        same = row.digests == "equal" or (row.rule == "nothing-to-blame")
        if same and first[1] and rerun[1] and False not in (first[2], rerun[2]):
            assert (verdict.reason, verdict.rule, verdict.failure_class) == (GREEN, None, "unclassified")
        else:
            assert (verdict.reason, verdict.rule, verdict.failure_class) == (row.rule, row.rule, row.failure_class)
        assert verdict.freeze_allowed is (row.failure_class == "harness_flake")
        assert (verdict.fixture_sha256, bool(verdict.fixture_path)) == (first[0], first[0] is not None)


@pytest.mark.parametrize("check", EVIDENCE_CHECKS, ids=lambda check: check.id)
def test_any_evidence_fault_makes_any_pair_undecided(check: Any) -> None:
    """Whatever the records say, a fault on either side is the reason, and no class but unclassified is left."""
    fault = CheckFailure(check.id, "")
    for first, rerun in PAIRS[::11]:
        left, right = shown(first, 1), shown(rerun, 2)
        for faulty in (
            Pair("sorted-patch", left._replace(fault=fault), right),
            Pair("sorted-patch", left, right._replace(source=right.source._replace(fault=fault))),
        ):
            verdict = judged(faulty)
            assert (verdict.failure_class, verdict.rule) == ("unclassified", "digest-missing")
            assert check.id in [finding.check for finding in verdict.findings]


def test_a_fault_of_no_known_check_still_closes() -> None:
    """What nobody knows how to name is no reason to believe the rest."""
    given = make_pair({"oracle": None, "transport": False})
    odd = given._replace(first=given.first._replace(fault=CheckFailure("of-tomorrow", "")))
    assert (judged(odd).failure_class, judged(odd).reason) == ("unclassified", "digest-missing")


FAULTY: Final = st.sampled_from([None, *(CheckFailure(check.id, "seen") for check in EVIDENCE_CHECKS)])


@st.composite
def sides(draw: st.DrawFn, attempt: int) -> Side:
    """Make a side with anything in it that a check looks at."""
    facts = draw(st.sampled_from(PRODUCT))
    made = shown(facts, attempt)
    assert made.record
    record = made.record
    oracle = record.oracle._replace(
        egress=draw(st.sampled_from(["sealed", "open", None])),
        egress_attempts=draw(st.sampled_from([0, 3, None])),
        fixture_sha256=draw(st.sampled_from([record.fixture_sha256, X, None])),
    )
    transport = record.transport._replace(pin_complete=draw(st.sampled_from([True, False, None])))
    run = record.run._replace(commit=draw(st.sampled_from(["c" * 40, "c" * 40, "d" * 40, None])))
    return made._replace(
        record=draw(st.sampled_from([record._replace(oracle=oracle, transport=transport, run=run)] * 9 + [None])),
        fault=draw(FAULTY) if draw(st.integers(0, 9)) == 0 else None,
    )


pairs = st.builds(Pair, st.just("sorted-patch"), sides(1), sides(2))
other_attempts = st.lists(
    st.builds(OtherAttempt, st.sampled_from(["sorted-patch", "other", None]), sides(3)), max_size=3
)


@given(pairs, other_attempts, st.booleans(), st.booleans())
def test_checks_can_only_narrow(given: Pair, others: list[OtherAttempt], sealed: bool, github_metadata: bool) -> None:
    """No check turns a pair into a miss, a drift or a flake, and no flake check touches anything but a flake."""
    policy = PolicyReading("read", Policy(sealed_oracle=sealed))
    verdict = judged(given, other_attempts=tuple(others), policy=policy, github_metadata=github_metadata)
    records = [
        RunRecord(each.pin and each.pin.sha256, each.record.oracle_passed, each.record.transport_ok)
        if each.record
        else RunRecord(None, None, None)
        for each in (given.first, given.rerun)
    ]
    bare = classify(*records)
    assert verdict.failure_class in (bare, "unclassified")
    context = CheckContext(github_metadata, "octo-org/widgets", sealed)
    evidence = run_checks(EVIDENCE_CHECKS, given, context)
    if evidence or bare is not FailureClass.HARNESS_FLAKE:
        assert not verdict.flake_checks_run
        assert verdict.findings == evidence
        assert verdict.failure_class == ("unclassified" if evidence else bare)
    else:
        assert verdict.flake_checks_run
        assert {finding.check for finding in verdict.findings} <= {check.id for check in FLAKE_CHECKS}
        assert verdict.freeze_allowed is not bool(verdict.findings)


@given(pairs, st.booleans())
def test_the_two_sides_may_change_places(given: Pair, github_metadata: bool) -> None:
    """The class does not depend on which run was the first; only the reason's side and the shown digest do."""
    turned = given._replace(first=given.rerun, rerun=given.first)
    assert (
        judged(given, github_metadata=github_metadata).failure_class
        == judged(turned, github_metadata=github_metadata).failure_class
    )
