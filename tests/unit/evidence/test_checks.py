"""The evidence checks and the flake checks, each by what makes it fail, and the order of the reasons."""

from typing import Any

import pytest

from freeze_gate.evidence.checks import (
    BOTH,
    EVIDENCE_CHECKS,
    FIRST,
    FLAKE_CHECKS,
    RERUN,
    Check,
    CheckContext,
    checks_of_version,
    run_checks,
)
from freeze_gate.evidence.digest import ContentDigest
from freeze_gate.evidence.models import CheckFailure, Pair, Side
from freeze_gate.evidence.record import Oracle, Run, Transport
from tests.builders.evidence import X, Y, make_pair, make_side

GATE = CheckContext(github_metadata=True, repository="octo-org/widgets")
OFFLINE = CheckContext(github_metadata=False)
ALL = (*EVIDENCE_CHECKS, *FLAKE_CHECKS)


def changed(given: Side, **facts: Any) -> Side:
    """Return a side whose record says something else."""
    assert given.record
    return given._replace(record=given.record._replace(**facts))


def from_run(given: Side, **facts: Any) -> Side:
    """Return a side whose record names another run."""
    assert given.record
    return changed(given, run=given.record.run._replace(**facts))


def from_artifact(given: Side, **facts: Any) -> Side:
    """Return a side whose artifact is another one."""
    assert given.source.artifact
    return given._replace(source=given.source._replace(artifact=given.source.artifact._replace(**facts)))


def failed(given: Pair, context: CheckContext = OFFLINE) -> list[tuple[str, str]]:
    """Return the ids and the sides of all that fails."""
    return [(finding.check, finding.side) for finding in run_checks(ALL, given, context)]


A, B = make_side(1)._replace(source=make_side(1).source._replace(sha256=Y)), make_side(2)


def test_sound_evidence_fails_nothing() -> None:
    """In the gate, and offline."""
    assert failed(make_pair(), GATE) == failed(make_pair(), OFFLINE) == []


def test_the_order_is_that_of_the_contract() -> None:
    """The reason is the first that fails; an id is never renamed."""
    assert [check.id for check in EVIDENCE_CHECKS] == [
        "artifact-missing",
        "artifact-expired",
        "artifact-ambiguous",
        "artifact-same",
        "archive-digest-mismatch",
        "archive-invalid",
        "archive-limits",
        "record-missing",
        "record-duplicate",
        "record-invalid",
        "record-contradiction",
        "fixture-missing",
        "fixture-digest-mismatch",
        "oracle-input-mismatch",
        "run-mismatch",
        "commit-mismatch",
    ]
    assert [check.id for check in FLAKE_CHECKS] == [
        "oracle-egress",
        "oracle-unsealed",
        "oracle-unreported",
        "commit-unknown",
        "pin-partial",
        "earlier-fail",
    ]
    assert [check.id for check in ALL if check.pair] == [
        "artifact-same",
        "run-mismatch",
        "commit-mismatch",
        "pin-partial",
        "earlier-fail",
    ]
    assert all(check.sentence.endswith(".") for check in ALL)


@pytest.mark.parametrize("check", EVIDENCE_CHECKS, ids=lambda check: check.id)
@pytest.mark.parametrize("detail", ["words", ""])
def test_what_was_met_while_gathering_fails_the_check_it_names(check: Any, detail: str) -> None:
    """On either side, of the record or of its whole source; of both sides where the check is about the pair."""
    fault = CheckFailure(check.id, detail)
    for given, name in (
        (Pair("a", A._replace(fault=fault), B), FIRST),
        (Pair("a", A._replace(source=A.source._replace(fault=fault)), B), FIRST),
        (Pair("a", A, B._replace(fault=fault)), RERUN),
        (Pair("a", A, B._replace(source=B.source._replace(fault=fault))), RERUN),
    ):
        assert (check.id, BOTH if check.pair else name) in failed(given)
        assert detail in [finding.detail for finding in run_checks(ALL, given, OFFLINE)]


def test_the_first_run_goes_before_the_rerun_within_a_check() -> None:
    """However each was found."""
    ours = from_artifact(A, digest=f"sha256:{X}")
    theirs = B._replace(fault=CheckFailure("archive-digest-mismatch", "reported"))
    assert failed(Pair("a", ours, theirs)) == [("archive-digest-mismatch", FIRST), ("archive-digest-mismatch", RERUN)]
    gone = Side(B.source, fault=CheckFailure("record-missing", ""))
    assert [check for check, _ in failed(Pair("a", changed(A, transport_ok=False), gone))] == [
        "record-missing",
        "record-contradiction",
    ]


SAME_CAPTURE = from_run(B, capture_id=A.record.run.capture_id if A.record else None)

EVIDENCE: dict[str, tuple[Pair, str, str]] = {
    "one artifact": (Pair("a", A, from_artifact(B, id=101)), "artifact-same", BOTH),
    "one capture": (Pair("a", A, SAME_CAPTURE), "artifact-same", BOTH),
    "one record": (
        Pair("a", from_run(A, capture_id=None), B._replace(record_sha256=A.record_sha256)),
        "artifact-same",
        BOTH,
    ),
    "other bytes": (Pair("a", from_artifact(A, digest=f"sha256:{X}"), B), "archive-digest-mismatch", FIRST),
    "another algorithm": (Pair("a", A, from_artifact(B, digest=f"sha512:{Y}")), "archive-digest-mismatch", RERUN),
    "a contradiction": (Pair("a", A, changed(B, transport_ok=False)), "record-contradiction", RERUN),
    "no pin": (Pair("a", A._replace(pin=None), B), "fixture-missing", FIRST),
    "another pin": (Pair("a", A, B._replace(pin=ContentDigest(Y, 1))), "fixture-digest-mismatch", RERUN),
    "another input": (
        Pair("a", changed(A, oracle=Oracle("passed", fixture_sha256=Y)), B),
        "oracle-input-mismatch",
        FIRST,
    ),
    "an input of nothing": (
        Pair("a", A, changed(make_side(2, pin=None, oracle=None), oracle=Oracle(fixture_sha256=Y))),
        "oracle-input-mismatch",
        RERUN,
    ),
    "another commit": (Pair("a", A, from_run(B, commit="e" * 40)), "commit-mismatch", BOTH),
    "another checkout": (
        Pair("a", from_run(A, checkout="1" * 40), from_run(B, checkout="2" * 40)),
        "commit-mismatch",
        BOTH,
    ),
    "another head": (
        Pair("a", from_artifact(A, head_sha="1" * 40), from_artifact(B, head_sha="2" * 40)),
        "commit-mismatch",
        BOTH,
    ),
    "another fork": (
        Pair("a", from_artifact(A, head_repository_id=1), from_artifact(B, head_repository_id=2)),
        "commit-mismatch",
        BOTH,
    ),
}


@pytest.mark.parametrize(("given", "check", "name"), EVIDENCE.values(), ids=EVIDENCE)
def test_an_evidence_check_fails_on_what_it_is_about(given: Pair, check: str, name: str) -> None:
    """And on nothing else."""
    assert failed(given) == [(check, name)]


RUNS: dict[str, Side] = {
    "no run": changed(A, run=Run()),
    "no run id": from_run(A, run_id=None),
    "no attempt": from_run(A, run_attempt=None),
    "another repository": from_run(A, repository="octo-org/gadgets"),
    "another run": from_run(A, run_id=4243),
    "another attempt": from_run(A, run_attempt=2),
    "an attempt to come": from_run(A._replace(source=A.source._replace(attempt=None)), run_attempt=4),
    "an artifact of another run": from_artifact(A, run_id=1),
}


@pytest.mark.parametrize("given", RUNS.values(), ids=RUNS)
def test_in_the_gate_a_record_must_name_the_run_of_its_artifact(given: Side) -> None:
    """On either side; offline there is nothing to compare with."""
    assert failed(Pair("a", given, B), GATE) == [("run-mismatch", BOTH)]
    assert failed(Pair("a", B, given), GATE) == [("run-mismatch", BOTH)]
    assert failed(Pair("a", given, B)) == []


def test_a_record_without_a_commit_names_no_run() -> None:
    """The two sides could not be compared."""
    assert failed(Pair("a", from_run(A, commit=None), B), GATE) == [("run-mismatch", BOTH)]


def test_what_github_does_not_say_contradicts_nothing() -> None:
    """Older uploaders and servers publish less; the repository's case is not kept."""
    bare = A._replace(source=A.source._replace(artifact=None, run_id=None, attempt=None, newest_attempt=None))
    assert failed(Pair("a", from_run(bare, repository="Octo-Org/Widgets"), B), GATE) == []
    assert failed(Pair("a", from_run(bare, repository=None), B), GATE) == []
    assert failed(Pair("a", bare, B), CheckContext(github_metadata=True)) == []


def test_equal_records_without_a_run_are_two_runs() -> None:
    """Nothing in them could tell two runs apart, so it proves nothing that nothing does."""
    bare = changed(A, run=Run())
    assert failed(Pair("a", bare, changed(B, run=Run())._replace(record_sha256=bare.record_sha256))) == []


def partial(given: Side) -> Side:
    """Return a side that pinned a truncated sample."""
    return changed(given, transport=Transport(fault="truncated", pin_complete=False), transport_ok=False)


def other_attempts(*others: Side, under: str | None = "a") -> CheckContext:
    """Return a context that knows of other attempts."""
    return CheckContext(github_metadata=False, other_attempts={under: others})


FAIL = make_side(3, oracle=False)
REPLAY = changed(B, transport_ok=None, transport=Transport())
UNSEALED = {word: changed(A, oracle=Oracle("passed", egress=word)) for word in ("open", None)}

FLAKE: dict[str, tuple[Pair, CheckContext, list[tuple[str, str]]]] = {
    "a sealed oracle": (Pair("a", A, B), CheckContext(github_metadata=False, sealed_oracle=True), []),
    "an attempt to get out": (
        Pair("a", A, changed(B, oracle=Oracle("passed", egress_attempts=3))),
        OFFLINE,
        [("oracle-egress", RERUN)],
    ),
    "an open oracle": (Pair("a", UNSEALED["open"], B), OFFLINE, []),
    "a result that a lane lost": (
        Pair("a", changed(A, oracle_passed=None, oracle=Oracle("unreported", lane="ssh")), B),
        OFFLINE,
        [("oracle-unreported", FIRST)],
    ),
    "a lane that was not reached": (
        Pair("a", changed(A, oracle_passed=None, oracle=Oracle("not_run", lane="ssh")), B),
        OFFLINE,
        [],
    ),
    "an open oracle where a seal is required": (
        Pair("a", UNSEALED["open"], B),
        CheckContext(github_metadata=False, sealed_oracle=True),
        [("oracle-unsealed", FIRST)],
    ),
    "an unknown seal where one is required": (
        Pair("a", A, UNSEALED[None]),
        CheckContext(github_metadata=False, sealed_oracle=True),
        [("oracle-unsealed", RERUN)],
    ),
    "an oracle that never ran": (
        Pair("a", changed(A, oracle=Oracle(), oracle_passed=None), B),
        CheckContext(github_metadata=False, sealed_oracle=True),
        [],
    ),
    "a comment's event without a checkout": (
        Pair("a", from_run(A, event="issue_comment", checkout="1" * 40), from_run(B, event="issue_comment")),
        OFFLINE,
        [("commit-unknown", RERUN)],
    ),
    "a comment's event with checkouts": (
        Pair(
            "a",
            from_run(A, event="issue_comment", checkout="1" * 40),
            from_run(B, event="issue_comment", checkout="1" * 40),
        ),
        OFFLINE,
        [],
    ),
    "an event that is not known": (Pair("a", from_run(A, event="deployment"), B), OFFLINE, [("commit-unknown", FIRST)]),
    "a pull request without a checkout": (Pair("a", from_run(A, event="pull_request"), B), OFFLINE, []),
    "a truncated sample and its replay": (Pair("a", partial(A), REPLAY), OFFLINE, [("pin-partial", BOTH)]),
    "a truncated sample on the rerun": (Pair("a", REPLAY, partial(B)), OFFLINE, [("pin-partial", BOTH)]),
    "two truncated samples": (Pair("a", partial(A), partial(B)), OFFLINE, [("pin-partial", BOTH)]),
    "a truncated sample and a whole sample": (Pair("a", partial(A), B), OFFLINE, []),
    "another attempt that passed": (Pair("a", A, B), other_attempts(make_side(3)), []),
    "another attempt that failed": (Pair("a", A, B), other_attempts(make_side(3), FAIL), [("earlier-fail", BOTH)]),
    "another attempt that failed on other bytes": (
        Pair("a", A, B),
        other_attempts(make_side(3, pin=Y, oracle=False)),
        [],
    ),
    "another fixture that failed": (Pair("a", A, B), other_attempts(FAIL, under="b"), []),
    "another attempt that cannot be read": (
        Pair("a", A, B),
        other_attempts(Side(A.source), under=None),
        [("earlier-fail", BOTH)],
    ),
    "another attempt that contradicts itself": (
        Pair("a", A, B),
        other_attempts(changed(FAIL, fixture_sha256=None, fixture_path=None)),
        [("earlier-fail", BOTH)],
    ),
}


@pytest.mark.parametrize(("given", "context", "expected"), FLAKE.values(), ids=FLAKE)
def test_a_flake_check_fails_on_what_it_is_about(
    given: Pair, context: CheckContext, expected: list[tuple[str, str]]
) -> None:
    """And on nothing else."""
    assert [(finding.check, finding.side) for finding in run_checks(FLAKE_CHECKS, given, context)] == expected


def test_a_check_is_in_force_from_the_rules_that_it_came_with() -> None:
    """An older verdict is judged without it, a newer one with it; the order stays."""
    old, new = Check("old", "Old."), Check("new", "New.", since=2)
    assert checks_of_version((new, old), 1) == (old,)
    assert checks_of_version((new, old), 2) == checks_of_version((new, old), 3) == (new, old)
