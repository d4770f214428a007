"""What must hold before a pair may be classified: the evidence checks and the flake checks, as one ordered table each.

An **evidence check** that fails makes the digest of its side missing (both digests, if it is about the pair), so that
the first rule of the decision table makes the pair `unclassified`. A **flake check** runs only if the table would
otherwise say `harness_flake`; failing, it makes both digests missing. So a miss, a drift and a split stay what they
are: a flake check can only withdraw a flake. A **green check** does the same to a pair that would otherwise be green.

The order of a table is the order of the reasons: if several checks fail, the first one in the table is the reason, and
the first run goes before the rerun. A check's id is the same in the code, the summary, the verdict document and the
documentation.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Final, NamedTuple

from freeze_gate.evidence.abbreviation import count
from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.models import Pair, Side
from freeze_gate.evidence.record import Run

FIRST: Final = "first"
RERUN: Final = "rerun"
BOTH: Final = "pair"

EVENTS_OF_THE_TESTED_COMMIT: Final = frozenset(
    {"push", "pull_request", "merge_group", "schedule", "workflow_dispatch", "repository_dispatch", "release"}
)
"""The events whose `GITHUB_SHA` is the commit that `actions/checkout` checks out unless it is told otherwise."""


class CheckContext(NamedTuple):
    """What a check may know besides the pair.

    `github_metadata` says whether GitHub's metadata about the artifacts is there. `repository` is `owner/name` as
    GitHub says it. `sealed_oracle` is what the policy requires. `other_attempts` is what the run's other attempts show,
    by fixture id; under None are the artifacts of theirs that could not be read. `rules` is the version of the rules;
    None is the newest.
    """

    github_metadata: bool
    repository: str | None = None
    sealed_oracle: bool = False
    other_attempts: Mapping[str | None, Sequence[Side]] = MappingProxyType({})
    rules: int | None = None


class Check(NamedTuple):
    """One row: the check's id, its sentence for a person, and a function for a side or for the pair.

    The function returns what is wrong, or None if the check holds. A row without a function fails only where the
    evidence was gathered (`CheckFailure`). `since` is the version of the rules that it came with.
    """

    id: str
    sentence: str
    side: Callable[[Side, CheckContext], str | None] | None = None
    pair: Callable[[Pair, CheckContext], str | None] | None = None
    since: int = 1


def checks_of_version(checks: Sequence[Check], rules: int) -> tuple[Check, ...]:
    """Return the checks that existed in a version of the rules, for computing an older verdict again."""
    return tuple(check for check in checks if check.since <= rules)


class Finding(NamedTuple):
    """A check that failed: its id, where (`first`, `rerun` or `pair`), and what is wrong."""

    check: str
    side: str
    detail: str


def run_checks(checks: Sequence[Check], pair: Pair, context: CheckContext) -> tuple[Finding, ...]:
    """Return everything that fails, in the order of the reasons."""
    findings: list[Finding] = []
    sides = ((FIRST, pair.first), (RERUN, pair.rerun))
    faults = {(name, fault.check): fault.detail for name, side in sides for fault in side.faults}
    for check in checks:
        if check.pair and (detail := check.pair(pair, context)) is not None:
            findings.append(Finding(check.id, BOTH, detail))
        for name, side in sides:
            detail = faults.get((name, check.id))
            if detail is None and check.side:
                detail = check.side(side, context)
            if detail is not None:
                findings.append(Finding(check.id, BOTH if check.pair else name, detail))
    return tuple(findings)


def _artifact_same(pair: Pair, _context: CheckContext) -> str | None:
    first, rerun = pair.first, pair.rerun
    if first.source.artifact and rerun.source.artifact and first.source.artifact.id == rerun.source.artifact.id:
        return f"both sides are artifact {first.source.artifact.id}"
    if not first.record or not rerun.record:
        return None
    if first.record.run.capture_id and first.record.run.capture_id == rerun.record.run.capture_id:
        return "both records come from one capture"
    if first.record.run != Run() and first.record_sha256 == rerun.record_sha256:
        return "both records are the same bytes"
    return None


def _archive_digest_mismatch(side: Side, _context: CheckContext) -> str | None:
    published = side.source.artifact and side.source.artifact.digest
    if published and side.source.sha256 and published != f"sha256:{side.source.sha256}":
        return f"published {published}, downloaded sha256:{side.source.sha256}"
    return None


def _record_contradiction(side: Side, context: CheckContext) -> str | None:
    return "; ".join(map(str, contradictions(side.record, context.rules))) or None if side.record else None


def _fixture_missing(side: Side, _context: CheckContext) -> str | None:
    if side.record and side.record.fixture_sha256 and not side.pin and not side.fault:
        return f"there is no {side.record.fixture_path} in the bundle"
    return None


def _fixture_digest_mismatch(side: Side, _context: CheckContext) -> str | None:
    if side.record and side.record.fixture_sha256 and side.pin and side.pin.sha256 != side.record.fixture_sha256:
        return f"the record says {side.record.fixture_sha256}, the bytes hash to {side.pin.sha256}"
    return None


def _oracle_input_mismatch(side: Side, _context: CheckContext) -> str | None:
    oracle_sha256 = side.record and side.record.oracle.fixture_sha256
    if side.record and oracle_sha256 and oracle_sha256 != side.record.fixture_sha256:
        return f"the oracle was given {oracle_sha256}"
    return None


def _run_mismatch(pair: Pair, context: CheckContext) -> str | None:
    if not context.github_metadata:
        return None
    for name, side in ((FIRST, pair.first), (RERUN, pair.rerun)):
        if side.record and (detail := _run_contradiction(side.record.run, side, context.repository)):
            return f"{name}: {detail}"
    return None


def _run_contradiction(run: Run, side: Side, repository: str | None) -> str | None:
    """Say where a record's run contradicts what GitHub says of the artifact that the record came in."""
    source = side.source
    run_id = (source.artifact and source.artifact.run_id) or source.run_id
    if run.run_id is None or run.run_attempt is None or run.commit is None:
        return "the record does not name its run, attempt and commit"
    if run.repository and repository and run.repository.lower() != repository.lower():
        return f"the record is from {run.repository}"
    if run_id and run.run_id != run_id:
        return f"the record is from run {run.run_id}, the artifact from run {run_id}"
    if source.attempt and run.run_attempt != source.attempt:
        return f"the record is from attempt {run.run_attempt}, the artifact from attempt {source.attempt}"
    if source.newest_attempt and run.run_attempt > source.newest_attempt:
        return f"the record is from attempt {run.run_attempt}, and the run is at attempt {source.newest_attempt}"
    return None


def _commit_mismatch(pair: Pair, _context: CheckContext) -> str | None:
    first, rerun = pair.first, pair.rerun
    facts: list[tuple[str, str | int | None, str | int | None]] = []
    if first.record and rerun.record:
        facts.append(("commit", first.record.run.commit, rerun.record.run.commit))
        facts.append(("checkout", first.record.run.checkout, rerun.record.run.checkout))
    if first.source.artifact and rerun.source.artifact:
        one, other = first.source.artifact, rerun.source.artifact
        facts.append(("head_sha", one.head_sha, other.head_sha))
        facts.append(("head_repository_id", one.head_repository_id, other.head_repository_id))
    for name, left, right in facts:
        if left and right and left != right:
            return f"{name} is {left} and {right}"
    return None


def _oracle_egress(side: Side, _context: CheckContext) -> str | None:
    attempts = side.record and side.record.oracle.egress_attempts
    return f"the oracle tried to reach the network {count(attempts, 'time')}" if attempts else None


def _oracle_unsealed(side: Side, context: CheckContext) -> str | None:
    if not context.sealed_oracle or not side.record or side.record.oracle_passed is None:
        return None
    egress = side.record.oracle.egress
    return None if egress == "sealed" else f"the oracle ran {egress or 'with a seal that nobody recorded'}"


def _oracle_unreported(side: Side, _context: CheckContext) -> str | None:
    if not side.record or side.record.oracle.outcome != "unreported":
        return None
    return "the oracle started on the lane, and the lane never said how it ended"


def _commit_unknown(side: Side, _context: CheckContext) -> str | None:
    run = side.record.run if side.record else Run()
    if run.checkout or run.event is None or run.event in EVENTS_OF_THE_TESTED_COMMIT:
        return None
    return f"the record names no checkout, and under {run.event} GITHUB_SHA is not the tested commit"


def _pin_partial(pair: Pair, _context: CheckContext) -> str | None:
    first, rerun = pair.first.record, pair.rerun.record
    for name, record, other in ((FIRST, first, rerun), (RERUN, rerun, first)):
        has_whole_sample = other is not None and other.transport_ok is True
        if record and record.transport.pin_complete is False and not has_whole_sample:
            return f"the {name} pinned a truncated sample, and the other side got no whole one"
    return None


def _earlier_fail(pair: Pair, context: CheckContext) -> str | None:
    pins = {side.record.fixture_sha256 for side in (pair.first, pair.rerun) if side.record}
    for side in chain(context.other_attempts.get(None, ()), context.other_attempts.get(pair.fixture_id, ())):
        record = side.record
        if record is None or contradictions(record, context.rules):
            return f"another attempt's evidence could not be read: {side.source.label}"
        if record.oracle_passed is False and record.fixture_sha256 in pins:
            return f"attempt {record.run.run_attempt} recorded a failed oracle on these bytes"
    return None


def _newest_attempt_missing(pair: Pair, _context: CheckContext) -> str | None:
    """Two attempts under one name: the newest one of the run is the rerun, and what it left may be a fail."""
    first, rerun = pair.first, pair.rerun
    newest = rerun.source.newest_attempt
    if first.source.label != rerun.source.label or first.run_id != rerun.run_id or not newest:
        return None
    if not (first.attempt and rerun.attempt and first.attempt < rerun.attempt < newest):
        return None
    return (
        f"attempts {first.attempt} and {rerun.attempt} were compared, and the run is at attempt {newest}, of which "
        "nothing was compared"
    )


EVIDENCE_CHECKS: Final = (
    Check("artifact-missing", "No artifact was found."),
    Check("artifact-expired", "The artifact has expired and cannot be downloaded any more."),
    Check("artifact-ambiguous", "Several artifacts fit, and nothing says which one is meant."),
    Check("artifact-same", "Both sides are the same evidence; one run was looked at twice.", pair=_artifact_same),
    Check(
        "archive-digest-mismatch", "The downloaded bytes are not those that were uploaded.", _archive_digest_mismatch
    ),
    Check("archive-invalid", "The artifact is not a zip that can be read safely."),
    Check("archive-limits", "The artifact is larger than the gate is willing to read."),
    Check("record-missing", "There is no record of this fixture id on one side."),
    Check("record-duplicate", "Several different records claim this fixture id."),
    Check("record-invalid", "The record does not follow its format."),
    Check("record-contradiction", "The record says two things that cannot both be true.", _record_contradiction),
    Check("fixture-missing", "The pinned file is not in the bundle.", _fixture_missing),
    Check("fixture-digest-mismatch", "The pinned bytes are not those that the record names.", _fixture_digest_mismatch),
    Check("oracle-input-mismatch", "The oracle was given other bytes than the pinned ones.", _oracle_input_mismatch),
    Check("run-mismatch", "The record does not come from the run that its artifact comes from.", pair=_run_mismatch),
    Check("commit-mismatch", "The two runs tested different code.", pair=_commit_mismatch),
)

FLAKE_CHECKS: Final = (
    Check(
        "oracle-egress",
        "The oracle tried to reach the network, so it did not check the pinned file alone.",
        _oracle_egress,
    ),
    Check("oracle-unsealed", "The policy requires a sealed oracle, and this one was not.", _oracle_unsealed),
    Check(
        "oracle-unreported",
        "An oracle started on a lane, and its result never arrived.",
        _oracle_unreported,
        since=3,
    ),
    Check("commit-unknown", "Nothing says which code this run tested.", _commit_unknown, since=2),
    Check("pin-partial", "Only a truncated sample was ever checked.", pair=_pin_partial),
    Check("earlier-fail", "Another attempt recorded a failed oracle on the same bytes.", pair=_earlier_fail),
)

GREEN_CHECKS: Final = (Check("artifact-missing", "No artifact was found.", pair=_newest_attempt_missing, since=4),)
