"""What must hold before a pair may be judged: the evidence checks and the flake checks, as one ordered table each.

An **evidence check** that fails makes the digest of its side missing (both digests, where it is about the pair), so
that the pair is undecided by the first rule of the decision table. A **flake check** is looked at only where the table
would otherwise say `harness_flake`; failing, it makes both digests missing. A miss, a drift and a split therefore stay
what they are: a flake check only ever takes a flake back.

The order is that of the reasons: where several fail, the first in the table is named, and the first run before the
rerun. An id joins the code, the summary, the verdict file and the README's heading.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Final, NamedTuple

from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.record import Run
from freeze_gate.evidence.side import Pair, Side

FIRST: Final = "first"
RERUN: Final = "rerun"
BOTH: Final = "pair"


class Bench(NamedTuple):
    """What a check may know besides the pair.

    `github_metadata` says whether GitHub's metadata about the artifacts is there. `repository` is `owner/name` as
    GitHub says it. `sealed_oracle` is what the policy requires. `other_attempts` is what the run's other attempts show,
    by fixture id; under None stand those of their artifacts that could not be read.
    """

    github_metadata: bool
    repository: str | None = None
    sealed_oracle: bool = False
    other_attempts: Mapping[str | None, Sequence[Side]] = MappingProxyType({})


Detail = str | None
"""What was seen where a check fails; None where it holds."""


class Check(NamedTuple):
    """One row: its id, its sentence for a person, and how it fails: for a side, or for the pair.

    A fault that was met while the evidence was gathered fails the check that it names; a row without a function is
    about such faults alone. `since` is the version of the rules that the check came with.
    """

    id: str
    sentence: str
    side: Callable[[Side, Bench], Detail] | None = None
    pair: Callable[[Pair, Bench], Detail] | None = None
    since: int = 1


def in_force(checks: Sequence[Check], rules: int) -> tuple[Check, ...]:
    """Return the checks of a version of the rules, so that an older verdict is judged as it was then."""
    return tuple(check for check in checks if check.since <= rules)


class Finding(NamedTuple):
    """A check that failed: its id, where (`first`, `rerun` or `pair`), and what exactly was seen."""

    check: str
    side: str
    detail: str


def findings(checks: Sequence[Check], pair: Pair, bench: Bench) -> tuple[Finding, ...]:
    """Return all that fails, in the order of the reasons: as the checks stand, and the first run before the rerun."""
    sides = ((FIRST, pair.first), (RERUN, pair.rerun))
    faults = {(name, fault.check): fault.detail for name, side in sides for fault in side.faults}
    found = []
    for check in checks:
        if check.pair and (detail := check.pair(pair, bench)) is not None:
            found.append(Finding(check.id, BOTH, detail))
        if check.side or faults:
            for name, side in sides:
                detail = faults.get((name, check.id))
                if detail is None and check.side:
                    detail = check.side(side, bench)
                if detail is not None:
                    found.append(Finding(check.id, BOTH if check.pair else name, detail))
    return tuple(found)


def _same(pair: Pair, _bench: Bench) -> Detail:
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


def _archive_digest(side: Side, _bench: Bench) -> Detail:
    published = side.source.artifact and side.source.artifact.digest
    if published and side.source.sha256 and published != f"sha256:{side.source.sha256}":
        return f"published {published}, downloaded sha256:{side.source.sha256}"
    return None


def _contradiction(side: Side, _bench: Bench) -> Detail:
    return "; ".join(map(str, contradictions(side.record))) or None if side.record else None


def _no_pin(side: Side, _bench: Bench) -> Detail:
    if side.record and side.record.fixture_sha256 and not side.pin and not side.fault:
        return f"there is no {side.record.fixture_path} in the bundle"
    return None


def _other_pin(side: Side, _bench: Bench) -> Detail:
    if side.record and side.record.fixture_sha256 and side.pin and side.pin.sha256 != side.record.fixture_sha256:
        return f"the record says {side.record.fixture_sha256}, the bytes hash to {side.pin.sha256}"
    return None


def _other_input(side: Side, _bench: Bench) -> Detail:
    seen = side.record and side.record.oracle.fixture_sha256
    if side.record and seen and seen != side.record.fixture_sha256:
        return f"the oracle was given {seen}"
    return None


def _run(pair: Pair, bench: Bench) -> Detail:
    if not bench.github_metadata:
        return None
    sides = ((FIRST, pair.first), (RERUN, pair.rerun))
    return next((f"{name}: {words}" for name, side in sides for words in _runs(side, bench)), None)


def _runs(side: Side, bench: Bench) -> Iterator[str]:
    """Say where a record's run contradicts what GitHub says of the artifact that it came in."""
    if not side.record:
        return
    run, source = side.record.run, side.source
    if run.run_id is None or run.run_attempt is None or run.commit is None:
        yield "the record does not name its run, attempt and commit"
        return
    if run.repository and bench.repository and run.repository.lower() != bench.repository.lower():
        yield f"the record is from {run.repository}"
    run_id = (source.artifact and source.artifact.run_id) or source.run_id
    if run_id and run.run_id != run_id:
        yield f"the record is from run {run.run_id}, the artifact from run {run_id}"
    if source.attempt and run.run_attempt != source.attempt:
        yield f"the record is from attempt {run.run_attempt}, the artifact from attempt {source.attempt}"
    if source.newest_attempt and run.run_attempt > source.newest_attempt:
        yield f"the record is from attempt {run.run_attempt}, and the run is at attempt {source.newest_attempt}"


def _commit(pair: Pair, _bench: Bench) -> Detail:
    first, rerun = pair.first, pair.rerun
    facts = [("commit", first.record and first.record.run.commit, rerun.record and rerun.record.run.commit)]
    if first.source.artifact and rerun.source.artifact:
        ours, theirs = first.source.artifact, rerun.source.artifact
        facts.append(("head_sha", ours.head_sha, theirs.head_sha))
        facts.append(("head_repository_id", str(ours.head_repository_id or ""), str(theirs.head_repository_id or "")))
    return next((f"{name} is {a} and {b}" for name, a, b in facts if a and b and a != b), None)


def _egress(side: Side, _bench: Bench) -> Detail:
    attempts = side.record and side.record.oracle.egress_attempts
    return f"the oracle tried to reach the network {attempts} times" if attempts else None


def _unsealed(side: Side, bench: Bench) -> Detail:
    if bench.sealed_oracle and side.record and side.record.oracle_passed is not None:
        egress = side.record.oracle.egress
        return None if egress == "sealed" else f"the oracle ran {egress or 'with a seal that nobody recorded'}"
    return None


def _partial(pair: Pair, _bench: Bench) -> Detail:
    sides = ((FIRST, pair.first.record, pair.rerun.record), (RERUN, pair.rerun.record, pair.first.record))
    for name, record, other in sides:
        if record and record.transport.pin_complete is False and not (other and other.transport_ok is True):
            return f"the {name} pinned a cut-off answer, and the other side got no whole one"
    return None


def _earlier(pair: Pair, bench: Bench) -> Detail:
    pinned = {side.record.fixture_sha256 for side in (pair.first, pair.rerun) if side.record}
    for side in chain(bench.other_attempts.get(None, ()), bench.other_attempts.get(pair.fixture_id, ())):
        record = side.record
        if record is None or contradictions(record):
            return f"another attempt's evidence could not be read: {side.source.label}"
        if record.oracle_passed is False and record.fixture_sha256 in pinned:
            return f"attempt {record.run.run_attempt} recorded a failed oracle on these bytes"
    return None


EVIDENCE_CHECKS: Final = (
    Check("artifact-missing", "No artifact was found for this side."),
    Check("artifact-expired", "The artifact has expired and cannot be downloaded any more."),
    Check("artifact-ambiguous", "Several artifacts fit, and nothing says which one is meant."),
    Check("artifact-same", "Both sides are the same evidence; one run was looked at twice.", pair=_same),
    Check("archive-digest-mismatch", "The downloaded bytes are not those that were uploaded.", _archive_digest),
    Check("archive-invalid", "The artifact is not a zip that can be read safely."),
    Check("archive-limits", "The artifact is larger than the gate is willing to read."),
    Check("record-missing", "There is no record of this fixture id on one side."),
    Check("record-duplicate", "Several different records claim this fixture id."),
    Check("record-invalid", "The record does not follow its format."),
    Check("record-contradiction", "The record says two things that cannot both be true.", _contradiction),
    Check("fixture-missing", "The pinned file is not in the bundle.", _no_pin),
    Check("fixture-digest-mismatch", "The pinned bytes are not those that the record names.", _other_pin),
    Check("oracle-input-mismatch", "The oracle was given other bytes than the pinned ones.", _other_input),
    Check("run-mismatch", "The record does not come from the run that its artifact comes from.", pair=_run),
    Check("commit-mismatch", "The two runs tested different code.", pair=_commit),
)

FLAKE_CHECKS: Final = (
    Check("oracle-egress", "The oracle reached for the network, so it did not check the pinned file alone.", _egress),
    Check("oracle-unsealed", "The policy requires a sealed oracle, and this one was not.", _unsealed),
    Check("pin-partial", "Only a cut-off answer was ever checked.", pair=_partial),
    Check("earlier-fail", "Another attempt recorded a failed oracle on the same bytes.", pair=_earlier),
)
