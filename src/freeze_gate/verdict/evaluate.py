"""The one function that reaches a verdict: for the action, for `classify`, and for a stored verdict computed again."""

from typing import Final, NamedTuple

from freeze_gate.evidence.checks import (
    BOTH,
    EVIDENCE_CHECKS,
    FIRST,
    FLAKE_CHECKS,
    RERUN,
    Check,
    CheckContext,
    Finding,
    checks_of_version,
    run_checks,
)
from freeze_gate.evidence.models import Pair, Side
from freeze_gate.policy.freezes import FreezeStatus, freeze_status
from freeze_gate.verdict.models import GREEN, Case, Result, Verdict
from freeze_gate.verdict.table import FailureClass, RunRecord, freeze_allowed, match_rule
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
    flake: tuple[Check, ...]


def evaluate(case: Case, rules: int = RULES_VERSION) -> Result:
    """Reach the verdict of every pair and what follows from all of them, by the rules of a version."""
    context = _context(case)
    checks = _Rules(checks_of_version(EVIDENCE_CHECKS, rules), checks_of_version(FLAKE_CHECKS, rules))
    verdicts = [_verdict(pair, context, case, checks) for pair in case.pairs]
    red: dict[FailureClass, list[int]] = {kind: [] for kind in SEVERITY}
    deciding, verdict, all_frozen = 0, verdicts[0], True
    worst = _severity(verdict)
    for place, each in enumerate(verdicts):
        if (severity := _severity(each)) < worst:
            deciding, verdict, worst = place, each, severity
        if not each.green:
            red[each.failure_class].append(place)
            all_frozen = all_frozen and each.frozen
    return Result(
        deciding=deciding,
        failure_class=verdict.failure_class,
        reason=verdict.reason,
        freeze_allowed=freeze_allowed(verdict.failure_class),  # a flake is the least: then every red pair is one
        freeze_active=all_frozen and not verdict.green,
        exit_code=int(not verdict.green and not all_frozen and case.fail_on != "never"),
        verdicts=verdicts,
        red=red,
    )


def _context(case: Case) -> CheckContext:
    other_attempts: dict[str | None, list[Side]] = {}
    for other in case.other_attempts:
        other_attempts.setdefault(other.fixture_id, []).append(other.side)
    return CheckContext(case.github_metadata, case.repository, case.policy.requires_sealed_oracle, other_attempts)


def _severity(verdict: Verdict) -> tuple[bool, int, str]:
    """Sort verdicts worst first: green ones last, then by class, then by fixture id."""
    return verdict.green, SEVERITY.index(verdict.failure_class), verdict.fixture_id or ""


def _verdict(pair: Pair, context: CheckContext, case: Case, checks: _Rules) -> Verdict:
    reached = _conclusion(pair, context, checks)
    allowed = freeze_allowed(reached.failure_class)
    seen = pair.first.record if _observed(pair.first) else None
    return Verdict(
        fixture_id=pair.fixture_id,
        freeze_allowed=allowed,
        fixture_sha256=seen and seen.fixture_sha256,
        fixture_path=seen and seen.fixture_path,
        freeze_status=_freeze_status(pair, case) if allowed else None,
        **reached._asdict(),
    )


class _Conclusion(NamedTuple):
    failure_class: FailureClass
    reason: str
    rule: str | None = None
    findings: tuple[Finding, ...] = ()
    flake_checks_run: bool = False


def _conclusion(pair: Pair, context: CheckContext, checks: _Rules) -> _Conclusion:
    """Check the evidence, ask the table, and for a flake check once more: in this order, and nothing else decides."""
    found = run_checks(checks.evidence, pair, context)
    left, right = _claims(pair.first, FIRST, found), _claims(pair.rerun, RERUN, found)
    if _is_green(left, right):
        return _Conclusion(FailureClass.UNCLASSIFIED, GREEN)
    rule = match_rule(left, right)
    is_flake = freeze_allowed(rule.failure_class)
    if is_flake and (found := run_checks(checks.flake, pair, context)):
        rule = match_rule(_claims(pair.first, FIRST, found), _claims(pair.rerun, RERUN, found))
    return _Conclusion(rule.failure_class, found[0].check if found else rule.id, rule.id, found, is_flake)


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


def _freeze_status(pair: Pair, case: Case) -> FreezeStatus | None:
    """Return what the policy says of a flake; one that is not well-formed, or that nobody could read, says nothing."""
    first, rerun = pair.first.record, pair.rerun.record
    if case.policy.state != "read" or pair.fixture_id is None or not first or not rerun or not first.fixture_sha256:
        return None
    return freeze_status(
        case.policy.policy,
        pair.fixture_id,
        first.fixture_sha256,
        case.today,
        case.pull_request,
        oracle_passed=first.oracle_passed is True or rerun.oracle_passed is True,
    )
