"""The one function that reaches a verdict: for the action, for `classify`, and for a stored verdict computed again."""

from typing import Final, NamedTuple

from freeze_gate.evidence.checks import (
    BOTH,
    DOOR_CHECKS,
    EVIDENCE_CHECKS,
    FIRST,
    RERUN,
    Bench,
    Check,
    Finding,
    findings,
    in_force,
)
from freeze_gate.evidence.side import Pair, Side
from freeze_gate.verdict.case import GREEN, Case, Result, Verdict
from freeze_gate.verdict.policy import Standing, standing
from freeze_gate.verdict.table import FailureClass, RunRecord, decide, freeze_allowed
from freeze_gate.version import RULES_VERSION

SEVERITY: Final = (
    FailureClass.PROPERTY_MISS,
    FailureClass.FIXTURE_DRIFT,
    FailureClass.UNCLASSIFIED,
    FailureClass.HARNESS_FLAKE,
)
"""Worst first: which pair of several speaks for the run."""


class _Rules(NamedTuple):
    """The checks of one version of the rules. The table behind them has none: it never changes."""

    evidence: tuple[Check, ...]
    door: tuple[Check, ...]


def judge(case: Case, rules: int = RULES_VERSION) -> Result:
    """Reach the verdict of every pair and what follows from all of them, by the rules of a version."""
    bench, checks = _bench(case), _Rules(in_force(EVIDENCE_CHECKS, rules), in_force(DOOR_CHECKS, rules))
    verdicts = tuple(_verdict(pair, bench, case, checks) for pair in case.pairs)
    red = [verdict for verdict in verdicts if not verdict.green]
    deciding = min(range(len(verdicts)), key=lambda index: severity(verdicts[index]))
    allowed = bool(red) and all(verdict.freeze_allowed for verdict in red)
    active = bool(red) and all(verdict.frozen for verdict in red)
    return Result(
        deciding=deciding,
        failure_class=verdicts[deciding].failure_class,
        reason=verdicts[deciding].reason,
        freeze_allowed=allowed,
        freeze_active=active,
        exit_code=int(bool(red) and not active and case.fail_on != "never"),
        verdicts=verdicts,
    )


def _bench(case: Case) -> Bench:
    earlier: dict[str | None, list[Side]] = {}
    for other in case.earlier:
        earlier.setdefault(other.fixture_id, []).append(other.side)
    return Bench(case.in_gate, case.repository, case.policy.requires_sealed_oracle, earlier)


def severity(verdict: Verdict) -> tuple[bool, int, str]:
    """Sort verdicts worst first: green ones last, then by class, then by fixture id."""
    return verdict.green, SEVERITY.index(verdict.failure_class), verdict.fixture_id or ""


def _verdict(pair: Pair, bench: Bench, case: Case, checks: _Rules) -> Verdict:
    reached = _conclusion(pair, bench, checks)
    allowed = freeze_allowed(reached.failure_class)
    seen = pair.first.record if _observed(pair.first) else None
    return Verdict(
        fixture_id=pair.fixture_id,
        freeze_allowed=allowed,
        fixture_sha256=seen and seen.fixture_sha256,
        fixture_path=seen and seen.fixture_path,
        standing=_standing(pair, case) if allowed else None,
        **reached._asdict(),
    )


class _Conclusion(NamedTuple):
    failure_class: FailureClass
    reason: str
    rule: str | None = None
    findings: tuple[Finding, ...] = ()
    door: bool = False


def _conclusion(pair: Pair, bench: Bench, checks: _Rules) -> _Conclusion:
    """Check the evidence, ask the table, and at the door check once more: in this order, and nothing else decides."""
    found = findings(checks.evidence, pair, bench)
    left, right = _claims(pair.first, FIRST, found), _claims(pair.rerun, RERUN, found)
    if _is_green(left, right):
        return _Conclusion(FailureClass.UNCLASSIFIED, GREEN)
    rule = decide(left, right)
    door = freeze_allowed(rule.failure_class)
    if door and (found := findings(checks.door, pair, bench)):
        rule = decide(_claims(pair.first, FIRST, found), _claims(pair.rerun, RERUN, found))
    return _Conclusion(rule.failure_class, found[0].check if found else rule.id, rule.id, found, door)


def _claims(side: Side, name: str, found: tuple[Finding, ...]) -> RunRecord:
    """Return what a side claims; without its digest where a check on it failed, or where nobody saw the bytes."""
    record = side.record
    if record is None:
        return RunRecord(None, None, None)
    failed = side.faults or not _observed(side) or any(finding.side in (name, BOTH) for finding in found)
    return RunRecord(None if failed else record.fixture_sha256, record.oracle_passed, record.transport_ok)


def _observed(side: Side) -> bool:
    """Whether the bytes that the record names were there and hash to what it says."""
    return bool(side.record and side.pin and side.pin.sha256 == side.record.fixture_sha256)


def _is_green(left: RunRecord, right: RunRecord) -> bool:
    same = bool(left.fixture_sha256) and left.fixture_sha256 == right.fixture_sha256
    passed = left.oracle_passed is True and right.oracle_passed is True
    return same and passed and left.transport_ok is not False and right.transport_ok is not False


def _standing(pair: Pair, case: Case) -> Standing | None:
    """Return what the policy says of a flake; one that is not well-formed, or that nobody could read, says nothing."""
    first, rerun = pair.first.record, pair.rerun.record
    if case.policy.state != "read" or pair.fixture_id is None or not first or not rerun or not first.fixture_sha256:
        return None
    return standing(
        case.policy.policy,
        pair.fixture_id,
        first.fixture_sha256,
        case.today,
        case.pull_request,
        oracle_passed=first.oracle_passed is True or rerun.oracle_passed is True,
    )
