"""The check `earlier-fail`: a fail that another attempt recorded is found before a flake is said."""

from typing import Any

import pytest

from tests.builders.bundle import Capture, make_capture
from tests.builders.policy import POLICY_PATH, make_policy
from tests.builders.record import OTHER_SAMPLE
from tests.builders.zip import make_zip
from tests.standin import Fault
from tests.support.attempts import BY_ATTEMPT, ONE_NAME, TWO_NAMES, dropped, failed, ids, upload
from tests.support.gate_job import Job, api_calls, override_listing


@pytest.mark.parametrize("inputs", [ONE_NAME, BY_ATTEMPT], ids=["one name", "{attempt}"])
def test_a_fail_of_an_earlier_attempt_cannot_be_rerun_away(job: Job, inputs: dict[str, str]) -> None:
    """Attempts 2 and 3 would be a flake."""
    job.attempts(3)
    for capture in (failed(1), dropped(2), make_capture(3)):
        attempt = capture.record.run.run_attempt or 0
        job.upload("bundle" if inputs is ONE_NAME else f"bundle-{attempt}", capture, attempt=attempt)

    outcome = job.gate(**inputs)

    assert outcome.said == ("unclassified", False, "earlier-fail")
    assert "Other attempts of this run" in outcome.summary
    assert not job.pull.issue.labels


@pytest.mark.parametrize(
    "first",
    [make_capture(1), failed(1, pin=OTHER_SAMPLE), failed(1, fixture_id="another")],
    ids=["a pass", "a fail on other bytes", "a fail of another fixture"],
)
def test_other_attempts_that_recorded_no_fail_on_these_bytes_allow_the_freeze(job: Job, first: Capture) -> None:
    """The check is about one id and one digest."""
    job.attempts(3)
    for attempt, capture in enumerate((first, dropped(2), make_capture(3)), 1):
        job.upload(f"bundle-{attempt}", capture, attempt=attempt)

    assert job.gate(**BY_ATTEMPT).said == ("harness_flake", True, "transport-fault")


@pytest.mark.parametrize("facts", [{"expired": True}, {"gone": True}, {"digest": f"sha256:{'0' * 64}"}], ids=str)
def test_an_earlier_attempt_that_cannot_be_read_forbids_the_freeze(job: Job, facts: dict[str, Any]) -> None:
    """Nobody can see that it recorded no fail; waiting until it expires must not help."""
    job.attempts(3)
    for attempt, capture in enumerate((make_capture(1), dropped(2), make_capture(3)), 1):
        job.upload(f"bundle-{attempt}", capture, attempt=attempt, **(facts if attempt == 1 else {}))

    assert job.gate(**BY_ATTEMPT).said == ("unclassified", False, "earlier-fail")


def test_two_jobs_with_plain_names_are_each_the_newest_of_theirs(job: Job) -> None:
    """Names without an attempt, after all failed jobs ran again; the fail of the first attempt is not forgotten."""
    job.attempts(2)
    for attempt, first, rerun in ((1, failed(1), failed(1)), (2, dropped(2), make_capture(2))):
        job.upload("first", first, attempt=attempt)
        job.upload("rerun", rerun, attempt=attempt)

    assert job.gate().said == ("unclassified", False, "earlier-fail")


def test_the_capture_action_s_names_tell_of_other_attempts(job: Job) -> None:
    """Ids from outputs: the failed first attempt is found by its name all the same."""
    job.attempts(2)
    job.upload("agent-patch-4242-1", failed(1), attempt=1)
    job.upload("agent-patch-4242-2", dropped(2), attempt=2)
    job.upload("agent-patch-rerun-4242-2", make_capture(2), attempt=2)

    outcome = job.gate(**ids(*job.run.artifacts[-2:]))

    assert outcome.said == ("unclassified", False, "earlier-fail")


def test_names_of_single_attempts_do_not_hide_the_others(job: Job) -> None:
    """Two exact names in place of `{attempt}` leave the fail before them visible."""
    job.attempts(3)
    for attempt, capture in enumerate((failed(1), dropped(2), make_capture(3)), 1):
        job.upload(f"agent-patch-4242-{attempt}", capture, attempt=attempt)

    outcome = job.gate(first_artifact="agent-patch-4242-2", rerun_artifact="agent-patch-4242-3")

    assert outcome.said == ("unclassified", False, "earlier-fail")


def test_an_id_of_a_run_that_was_not_named_brings_that_run_s_attempts(job: Job) -> None:
    """The other attempts are those of the artifact's own run."""
    other = job.repository.add_run(77, attempts=["2026-11-29T06:00:00Z", "2026-11-29T07:00:00Z"])
    job.upload("bundle", failed(1, run_id=77), run=other, attempt=1)
    first = job.upload("bundle", dropped(2, run_id=77), run=other, attempt=2)
    rerun = job.upload("rerun", make_capture(1))

    outcome = job.gate(
        first_artifact="", rerun_artifact="", first_artifact_id=str(first.id), rerun_artifact_id=str(rerun.id)
    )

    assert outcome.said == ("unclassified", False, "earlier-fail")


@pytest.mark.parametrize(
    ("earlier", "first", "rerun"),
    [
        (["first-1"], "first-2", "rerun-2"),
        (["try 1 of first"], "try 2 of first", "try 2 of rerun"),
        (["first-shard-a-4242-1", "first-shard-b-4242-1"], "first-4242-2", "rerun-4242-2"),
    ],
    ids=["a number at the end", "a number within", "shards that nobody merged"],
)
@pytest.mark.parametrize("named", ["names", "ids"])
def test_whatever_its_name_a_fail_of_the_attempt_before_is_found(
    job: Job, earlier: list[str], first: str, rerun: str, named: str
) -> None:
    """Names that a workflow makes of the attempt's number, and shards whose merge was cancelled."""
    job.attempts(2)
    for name in earlier:
        job.upload(name, failed(1), attempt=1)
    sides = {"first": job.upload(first, dropped(2), attempt=2), "rerun": job.upload(rerun, make_capture(2), attempt=2)}
    ids = {f"{side}_artifact_id": str(artifact.id) for side, artifact in sides.items()}

    outcome = job.gate(first_artifact=first, rerun_artifact=rerun, **(ids if named == "ids" else {}))

    assert outcome.said == ("unclassified", False, "earlier-fail")
    assert not job.pull.issue.labels


def test_shards_of_one_attempt_are_no_attempts_of_each_other(job: Job) -> None:
    """In a first attempt a number in a name is that of a shard, and nothing more is read."""
    for shard in "12":
        job.upload(f"first-{shard}", dropped(1), attempt=1)
        job.upload(f"rerun-{shard}", make_capture(1), attempt=1)
    job.upload("first-3", failed(1), attempt=1)

    assert job.gate(first_artifact="first-1", rerun_artifact="rerun-1").said[0] == "harness_flake"
    assert sum("/zip" in call for call in api_calls(job.github)) == 2


@pytest.mark.parametrize(
    ("earlier", "first", "rerun"),
    [
        ("bundle-ab", "bundle-cd", "bundle-ef"),
        ("try-1-bundle-1", "try-2-bundle-2", "try-2-rerun-2"),
        ("first_attempt01", "first_attempt02", "rerun_attempt02"),
        ("First-1", "first-2", "rerun-2"),
    ],
    ids=["free names", "two numbers", "padded", "case"],
)
def test_a_name_that_hides_its_attempt_hides_no_fail(job: Job, earlier: str, first: str, rerun: str) -> None:
    """Where an attempt left nothing under a name that tells, all that it left is looked at before a flake."""
    job.attempts(2)
    job.upload(earlier, failed(1), attempt=1)
    job.run.add_artifact("coverage", b"no zip", created_at="2026-11-29T08:12:00Z")
    uploads = job.upload(first, dropped(2), attempt=2), job.upload(rerun, make_capture(2), attempt=2)

    assert job.gate(**ids(*uploads)).said == ("unclassified", False, "earlier-fail")


@pytest.mark.parametrize("unknown", ["attempts API", "times", "expired"])
def test_what_was_made_nobody_knows_when_may_be_a_fail(job: Job, unknown: str) -> None:
    """An old server, uploads without a time, evidence that has expired: in doubt the freeze is forbidden."""
    job.attempts(2)
    job.upload("bundle-ab", failed(1), attempt=1, expired=unknown == "expired")
    uploads = job.upload("bundle-cd", dropped(2), attempt=2), job.upload("bundle-ef", make_capture(2), attempt=2)
    if unknown == "attempts API":
        job.github.fault(Fault("status", "GET", "/attempts/2$", status=404))
    if unknown == "times":
        override_listing(job, created_at=None)

    assert job.gate(**ids(*uploads)).said == ("unclassified", False, "earlier-fail")


@pytest.mark.parametrize(
    "facts",
    [{"unlisted": True}, {"description": {"name": None}}, {"description": {"size_in_bytes": None}}],
    ids=["counted and not listed", "without a name", "of no size"],
)
@pytest.mark.parametrize("named", ["names", "ids"])
def test_what_github_does_not_describe_may_be_the_fail_of_another_attempt(
    job: Job, facts: dict[str, Any], named: str
) -> None:
    """Attempt 2 would be a flake; attempt 1's fail is in an artifact of which nothing is known."""
    job.attempts(2)
    job.upload("first-1", failed(1), attempt=1, **facts)
    pair = [upload(job, TWO_NAMES, "first", dropped(2)), upload(job, TWO_NAMES, "rerun", make_capture(2))]

    outcome = job.gate(**(ids(*pair) if named == "ids" else {"first_artifact": "first-2", "rerun_artifact": "rerun-2"}))

    assert outcome.said == ("unclassified", False, "earlier-fail")
    assert "could not be read" in outcome.text
    assert not job.pull.issue.labels


@pytest.mark.parametrize("facts", [{"unlisted": True}, {"description": {"name": None}}], ids=["unlisted", "nameless"])
def test_a_miss_stands_whatever_else_the_run_has(job: Job, facts: dict[str, Any]) -> None:
    """Nothing that is not known could make it green or a flake."""
    job.attempts(2)
    job.upload("first-1", make_capture(1), attempt=1, **facts)
    for side in ("first", "rerun"):
        upload(job, TWO_NAMES, side, failed(2))

    assert job.gate(**TWO_NAMES).said == ("property_miss", False, "both-oracles-failed")


@pytest.mark.parametrize("facts", [{"unlisted": True}, {"description": {"name": None}}], ids=["unlisted", "nameless"])
def test_what_is_not_known_forbids_no_freeze_where_every_attempt_left_its_records(
    job: Job, facts: dict[str, Any]
) -> None:
    """Each attempt has a record under each name, so the other one is no evidence of theirs."""
    job.attempts(2)
    for attempt in (1, 2):
        upload(job, TWO_NAMES, "first", dropped(attempt))
        upload(job, TWO_NAMES, "rerun", make_capture(attempt))
    job.upload("coverage", make_capture(1), attempt=1, **facts)

    assert job.gate(**TWO_NAMES).said == ("harness_flake", True, "transport-fault")


def test_a_telling_name_without_evidence_tells_nothing(job: Job) -> None:
    """Attempt 1 left a log that is called as its bundle would be, and the bundle under a free name."""
    job.attempts(2)
    job.run.add_artifact("first-1", make_zip({"log.txt": b"crashed"}), created_at="2026-11-29T08:10:00Z")
    job.upload("bundle-ab", failed(1), attempt=1)
    upload(job, TWO_NAMES, "first", dropped(2))
    upload(job, TWO_NAMES, "rerun", make_capture(2))

    assert job.gate(wait_seconds="0", **TWO_NAMES).said == ("unclassified", False, "earlier-fail")


@pytest.mark.parametrize(
    "names", [("first-1", "rerun-1", "rerun-2"), ("ab", "cd", "ef")], ids=["numbers", "free names"]
)
def test_a_fail_beside_a_first_run_that_was_not_run_again_is_found(job: Job, names: tuple[str, str, str]) -> None:
    """The first job ran in attempt 1 alone, the rerun's job failed there, and passed in attempt 2."""
    job.attempts(2)
    first = job.upload(names[0], dropped(1), attempt=1)
    job.upload(names[1], failed(1), attempt=1)
    rerun = job.upload(names[2], make_capture(2), attempt=2)

    assert job.gate(**ids(first, rerun)).said == ("unclassified", False, "earlier-fail")


def test_an_unreadable_capture_of_another_attempt_forbids_the_freeze(job: Job) -> None:
    """A shard that nobody merged: it has the ending of the capture action, and nobody can see that it is no fail."""
    job.attempts(2)
    job.run.add_artifact("first-shard-a-4242-1", b"no zip", created_at="2026-11-29T08:10:00Z")
    uploads = job.upload("first-4242-2", dropped(2), attempt=2), job.upload("rerun-4242-2", make_capture(2), attempt=2)

    assert job.gate(**ids(*uploads)).said == ("unclassified", False, "earlier-fail")


def test_what_is_no_evidence_forbids_no_freeze(job: Job) -> None:
    """The other attempt left a build and a log, and what the same attempt left besides is not even read."""
    job.attempts(2)
    job.run.add_artifact("build", b"no zip", created_at="2026-11-29T08:10:00Z")
    job.run.add_artifact("log", make_zip({"log.txt": b"cancelled"}), created_at="2026-11-29T08:11:00Z")
    uploads = job.upload("bundle-cd", dropped(2), attempt=2), job.upload("bundle-ef", make_capture(2), attempt=2)
    job.upload("bundle-gh", failed(2), attempt=2)

    assert job.gate(**ids(*uploads)).said == ("harness_flake", True, "transport-fault")
    assert len([call for call in api_calls(job.github) if call.endswith("/zip")]) == 4


def test_an_artifact_over_the_limit_of_another_attempt_forbids_the_freeze(job: Job) -> None:
    """It is not downloaded, and nobody can see that it is no fail."""
    job.attempts(2)
    job.upload("bundle-ab", failed(1), attempt=1, size=3 << 20)
    uploads = job.upload("bundle-cd", dropped(2), attempt=2), job.upload("bundle-ef", make_capture(2), attempt=2)

    assert job.gate(max_artifact_mb="2", **ids(*uploads)).said == ("unclassified", False, "earlier-fail")


def test_attempts_that_left_a_record_under_each_name_are_searched_no_further(job: Job) -> None:
    """Two jobs ran twice: what they are called says it all, so that no build is downloaded and no attempt asked for."""
    job.attempts(2)
    for attempt in (1, 2):
        job.run.add_artifact(f"build-{attempt}", b"no zip", created_at=f"2026-11-29T{7 + attempt:02}:10:00Z")
        upload(job, TWO_NAMES, "first", dropped(attempt))
        upload(job, TWO_NAMES, "rerun", make_capture(attempt))

    assert job.gate(**TWO_NAMES).said == ("harness_flake", True, "transport-fault")
    calls = api_calls(job.github)
    assert len([call for call in calls if call.endswith("/zip")]) == 4
    assert not [call for call in calls if "/attempts/" in call]


def test_other_attempts_that_cannot_be_paid_leave_no_verdict(job: Job) -> None:
    """A flake is not said on half of the evidence."""
    job.attempts(3)
    for attempt, capture in enumerate((failed(1), dropped(2), make_capture(3)), 1):
        job.upload(f"bundle-{attempt}", capture, attempt=attempt)
    job.github.limit.remaining = 7

    outcome = job.gate(**BY_ATTEMPT)

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 3


@pytest.mark.parametrize("kind", ["reset", "cut"])
def test_other_attempts_that_cannot_be_fetched_leave_no_verdict(job: Job, kind: str) -> None:
    """Neither a flake, nor a freeze that mutes it."""
    job.attempts(3)
    for attempt, capture in enumerate((make_capture(1), dropped(2), make_capture(3)), 1):
        job.upload(f"bundle-{attempt}", capture, attempt=attempt)
    job.repository.add_file(POLICY_PATH, make_policy())
    job.github.fault(Fault(kind, host="blob", first=3))

    outcome = job.gate(**BY_ATTEMPT)

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 3
