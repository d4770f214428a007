"""The one function that reaches a verdict, for the action, for `classify` and for computing a stored verdict again."""

from typing import Final, NamedTuple

from freeze_gate.evidence.checks import (
    BOTH,
    EVIDENCE_CHECKS,
    FIRST,
    FLAKE_CHECKS,
    GREEN_CHECKS,
    RERUN,
    Check,
    CheckContext,
    Finding,
    checks_of_version,
    run_checks,
)
from freeze_gate.evidence.models import Pair, Side
from freeze_gate.policy import freezes
from freeze_gate.policy.freezes import FreezeStatus
from freeze_gate.verdict.models import GREEN, Case, Result, Verdict
from freeze_gate.verdict.table import FailureClass, Rule, RunRecord, freeze_allowed, match_rule
from freeze_gate.version import RULES_VERSION

SEVERITY: Final = (
    FailureClass.PROPERTY_MISS,
    FailureClass.FIXTURE_DRIFT,
    FailureClass.UNCLASSIFIED,
    FailureClass.HARNESS_FLAKE,
)
"""Worst first: which pair of several speaks for the run."""


class _Checks(NamedTuple):
    """The checks of one version of the rules. The decision table has no versions: it never changes."""

    evidence: tuple[Check, ...]
    flake: tuple[Check, ...]
    green: tuple[Check, ...]


def evaluate(case: Case, rules: int = RULES_VERSION) -> Result:
    """Return the verdict of every pair and what follows from all of them, by a version of the rules."""
    context = _context(case, rules)
    checks = _Checks(*(checks_of_version(table, rules) for table in (EVIDENCE_CHECKS, FLAKE_CHECKS, GREEN_CHECKS)))
    verdicts = [_verdict(pair, context, case, checks) for pair in case.pairs]
    red: dict[FailureClass, list[int]] = {failure_class: [] for failure_class in SEVERITY}
    for index, verdict in enumerate(verdicts):
        if not verdict.green:
            red[verdict.failure_class].append(index)
    all_frozen = all(verdict.frozen for verdict in verdicts if not verdict.green)
    deciding = min(range(len(verdicts)), key=lambda index: _severity(verdicts[index]))
    worst = verdicts[deciding]
    return Result(
        deciding=deciding,
        failure_class=worst.failure_class,
        reason=worst.reason,
        freeze_allowed=worst.freeze_allowed,  # a flake is the least severe class: then every red pair is a flake
        freeze_active=all_frozen and not worst.green,
        exit_code=int(not worst.green and not all_frozen and case.fail_on != "never"),
        verdicts=verdicts,
        red=red,
    )


def _context(case: Case, rules: int) -> CheckContext:
    other_attempts: dict[str | None, list[Side]] = {}
    for other in case.other_attempts:
        other_attempts.setdefault(other.fixture_id, []).append(other.side)
    return CheckContext(
        github_metadata=case.github_metadata,
        repository=case.repository,
        sealed_oracle=case.policy.requires_sealed_oracle,
        other_attempts=other_attempts,
        rules=rules,
    )


def _severity(verdict: Verdict) -> tuple[bool, int, str]:
    """Sort verdicts worst first: green ones last, then by class, then by fixture id."""
    return verdict.green, SEVERITY.index(verdict.failure_class), verdict.fixture_id or ""


def _verdict(pair: Pair, context: CheckContext, case: Case, checks: _Checks) -> Verdict:
    """Run the evidence checks, ask the table, and run the checks of what came out. Nothing else decides."""
    findings = run_checks(checks.evidence, pair, context)
    rule = _match_rule_unless_green(pair, findings)
    is_flake = rule is not None and freeze_allowed(rule.failure_class)
    if is_flake or rule is None:  # then no evidence check failed
        findings = run_checks(checks.flake if is_flake else checks.green, pair, context)
        rule = _match_rule_unless_green(pair, findings)
    failure_class = rule.failure_class if rule else FailureClass.UNCLASSIFIED
    reason = rule.id if rule else GREEN
    record = pair.first.record if _is_pin_verified(pair.first) else None
    return Verdict(
        fixture_id=pair.fixture_id,
        failure_class=failure_class,
        reason=findings[0].check if findings else reason,
        rule=rule and rule.id,
        findings=findings,
        flake_checks_run=is_flake,
        freeze_allowed=freeze_allowed(failure_class),
        fixture_sha256=record and record.fixture_sha256,
        fixture_path=record and record.fixture_path,
        freeze_status=next(iter(freeze_statuses(pair, case)), None) if freeze_allowed(failure_class) else None,
    )


def _match_rule_unless_green(pair: Pair, findings: tuple[Finding, ...]) -> Rule | None:
    first, rerun = _claims(pair.first, FIRST, findings), _claims(pair.rerun, RERUN, findings)
    same_bytes = bool(first.fixture_sha256) and first.fixture_sha256 == rerun.fixture_sha256
    both_passed = first.oracle_passed is True and rerun.oracle_passed is True
    no_fault = first.transport_ok is not False and rerun.transport_ok is not False
    return None if same_bytes and both_passed and no_fault else match_rule(first, rerun)


def _claims(side: Side, name: str, findings: tuple[Finding, ...]) -> RunRecord:
    """Return what a side claims, without its digest if a check on it failed or its bytes were not verified."""
    record = side.record
    if record is None:
        return RunRecord(None, None, None)
    has_failed = side.faults or any(finding.side in (name, BOTH) for finding in findings)
    sha256 = record.fixture_sha256 if _is_pin_verified(side) and not has_failed else None
    return RunRecord(sha256, record.oracle_passed, record.transport_ok)


def _is_pin_verified(side: Side) -> bool:
    """Whether the pinned bytes are there and hash to what the record says."""
    return bool(side.record and side.pin and side.pin.sha256 == side.record.fixture_sha256)


def freeze_statuses(pair: Pair, case: Case) -> list[FreezeStatus]:
    """Return what the policy says about a flake, the nearest to active first. One that was not read says nothing."""
    first, rerun = pair.first.record, pair.rerun.record
    if case.policy.state != "read" or pair.fixture_id is None or not first or not rerun or not first.fixture_sha256:
        return []
    return freezes.freeze_statuses(
        case.policy.policy,
        pair.fixture_id,
        first.fixture_sha256,
        case.today,
        case.pull_request,
        oracle_passed=first.oracle_passed is True or rerun.oracle_passed is True,
    )
