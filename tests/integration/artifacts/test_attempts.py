"""Which attempt made an artifact, and what follows where its record says another one."""

import pytest

from tests.builders.bundle import Capture, make_capture
from tests.standin import Fault
from tests.support.attempts import ONE_NAME, PLAIN, TWO_NAMES, dropped, failed, ids, sides, upload
from tests.support.gate_job import Job, api_calls
from tests.support.webhook_events import workflow_run


def test_the_attempt_in_a_name_must_be_that_of_the_record(job: Job) -> None:
    """A bundle handed on under another attempt's name is no evidence of it."""
    job.upload("first-1", dropped(2))
    job.upload("rerun-1", make_capture(1))

    outcome = job.gate(first_artifact="first-{attempt}", rerun_artifact="rerun-{attempt}")

    assert outcome.said == ("unclassified", False, "run-mismatch")


def test_an_attempt_above_the_run_s_own_is_none(job: Job) -> None:
    """Nobody can have made it yet."""
    job.pair(dropped(7), make_capture(1))

    assert job.gate().said == ("unclassified", False, "run-mismatch")


def test_where_nothing_in_it_can_be_read_the_time_says_the_attempt(job: Job) -> None:
    """An artifact without one readable record is placed by when its attempt began."""
    job.attempts(2)
    job.run.add_artifact("bundle", b"no zip", created_at="2026-11-29T08:30:00Z")
    job.upload("bundle", make_capture(2))

    outcome = job.gate(**ONE_NAME)

    assert outcome.said == ("unclassified", False, "archive-invalid")
    assert [call for call in api_calls(job.github) if "attempts" in call] == ["GET actions/runs/4242/attempts/2"]


def test_an_upload_in_the_second_of_a_start_has_no_certain_attempt(job: Job) -> None:
    """The refusal to guess."""
    job.attempts(2)
    job.run.add_artifact("bundle", b"no zip", created_at="2026-11-29T08:30:00Z")
    job.run.add_artifact("bundle", b"no zip either", created_at="2026-11-29T09:00:00Z")

    assert job.gate(**ONE_NAME).said == ("unclassified", False, "artifact-ambiguous")


def test_an_attempt_that_github_does_not_know_has_no_certain_time(job: Job) -> None:
    """Not found is not known: nothing says which attempt made it, and no permission is missing."""
    job.attempts(2)
    job.run.add_artifact("bundle", b"no zip", created_at="2026-11-29T08:30:00Z")
    job.upload("bundle", make_capture(2))
    job.github.fault(Fault("status", "GET", "/attempts/2$", status=404))

    outcome = job.gate(**ONE_NAME)

    assert outcome.said == ("unclassified", False, "artifact-ambiguous")
    assert outcome.code == 1


@pytest.mark.parametrize("status", [403, 500])
def test_attempts_that_may_not_be_asked_for_are_no_verdict(job: Job, status: int) -> None:
    """What could not be asked is not what nobody knows."""
    job.attempts(2)
    job.run.add_artifact("bundle", b"no zip", created_at="2026-11-29T08:30:00Z")
    job.upload("bundle", make_capture(2))
    job.github.fault(Fault("status", "GET", "/attempts/2$", status=status))

    assert job.gate(**ONE_NAME).code == 3


def test_attempts_of_another_run_are_asked_for_only_where_nothing_else_tells(job: Job) -> None:
    """One artifact that cannot be read, in a run of which nothing is known."""
    other = job.repository.add_run(77, attempts=["2026-11-29T06:00:00Z", "2026-11-29T07:00:00Z"])
    other.add_artifact("bundle", b"no zip", created_at="2026-11-29T06:30:00Z")
    job.upload("bundle", make_capture(2, run_id=77), run=other, attempt=2)

    outcome = job.gate(first_run_id="77", rerun_run_id="77", **ONE_NAME)

    assert outcome.said == ("unclassified", False, "archive-invalid")
    assert [call for call in api_calls(job.github) if not call.endswith(("/artifacts", "/zip"))] == [
        "GET actions/runs/77",
        "GET actions/runs/77/attempts/2",
    ]


@pytest.mark.parametrize("inputs", [TWO_NAMES, PLAIN], ids=["{attempt}", "plain names"])
def test_a_rerun_that_was_made_before_its_first_run_is_none(job: Job, inputs: dict[str, str]) -> None:
    """The second attempt's rerun left nothing, and that of the first attempt is no rerun of it."""
    job.attempts(2)
    for side, capture in (("first", make_capture(1)), ("rerun", make_capture(1)), ("first", dropped(2))):
        upload(job, inputs, side, capture)

    outcome = job.gate(**inputs)

    assert outcome.said == ("unclassified", False, "artifact-missing")
    assert "the rerun: what is there is of attempt 1, before the first run's attempt 2" in outcome.text
    assert not job.pull.issue.labels


@pytest.mark.parametrize("window", [1, 2])
def test_records_of_two_attempts_that_came_in_one_are_no_two_runs(job: Job, window: int) -> None:
    """A bundle that a runner kept from the attempt before, or one that speaks of an attempt to come."""
    job.attempts(2)
    for capture in (dropped(1), make_capture(2)):
        job.upload("bundle", capture, attempt=window)

    assert job.gate(**ONE_NAME).said == ("unclassified", False, "run-mismatch")


@pytest.mark.parametrize("named", ["names", "ids"])
@pytest.mark.parametrize("first", [make_capture(1), dropped(1)], ids=["green", "flake"])
def test_a_record_of_another_attempt_than_its_upload_s_is_no_evidence(job: Job, named: str, first: Capture) -> None:
    """It says attempt 1, and was uploaded during the second."""
    job.attempts(2)
    uploads = [job.upload("first", first, attempt=2), job.upload("rerun", make_capture(2), attempt=2)]

    outcome = job.gate(**(ids(*uploads) if named == "ids" else {}))

    assert outcome.said == ("unclassified", False, "run-mismatch")
    assert "the record is from attempt 1, the artifact from attempt 2" in outcome.text


def test_an_event_may_tell_of_an_attempt_that_is_not_the_newest_any_more(job: Job) -> None:
    """`workflow_run` after attempt 1, judged when attempt 2 is over: the run is asked, and the newest is judged."""
    workflow_run(job)
    job.run.attempts = ["2026-11-29T08:00:00Z", "2026-11-29T09:00:00Z"]
    for attempt in (1, 2):
        upload(job, TWO_NAMES, "first", dropped(attempt))
        upload(job, TWO_NAMES, "rerun", make_capture(attempt))

    outcome = job.gate(**TWO_NAMES)

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert sides(outcome) == [str(artifact.id) for artifact in job.run.artifacts[2:]]


@pytest.mark.parametrize("rerun", [make_capture(1), make_capture(2)], ids=["of attempt 1", "of attempt 2"])
def test_an_event_of_an_older_attempt_hides_no_wrong_record(job: Job, rerun: Capture) -> None:
    """`workflow_run` after attempt 1: a record that says attempt 1, and was uploaded during the second."""
    workflow_run(job)
    job.run.attempts = ["2026-11-29T08:00:00Z", "2026-11-29T09:00:00Z"]
    job.upload("first", dropped(1), attempt=2)
    job.upload("rerun", rerun, attempt=2)

    outcome = job.gate(wait_seconds="60", **PLAIN)

    assert outcome.said == ("unclassified", False, "run-mismatch")
    assert len([call for call in api_calls(job.github) if call.endswith("/artifacts")]) == 1


def test_few_questions_find_one_of_many_attempts(job: Job) -> None:
    """The first job was not re-run in twenty attempts: halves, and not one after the other."""
    job.run.attempts = [f"2026-11-29T{hour:02}:00:00Z" for hour in range(1, 21)]
    job.environ["GITHUB_RUN_ATTEMPT"] = "20"
    job.upload("first", failed(1), created_at="2026-11-29T01:10:00Z")
    job.upload("rerun", failed(20), created_at="2026-11-29T20:10:00Z")

    outcome = job.gate(wait_seconds="0", **PLAIN)

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert len(api_calls(job.github)) <= 3 + 5


def test_how_many_attempts_another_run_had_is_no_guess(job: Job) -> None:
    """Where one of two left an artifact, nobody is told to make a second attempt."""
    other = job.repository.add_run(77, attempts=["2026-11-29T06:00:00Z", "2026-11-29T07:00:00Z"])
    job.upload("bundle", failed(1, run_id=77), run=other, attempt=1)

    outcome = job.gate(first_run_id="77", rerun_run_id="77", **ONE_NAME)

    assert outcome.said == ("unclassified", False, "artifact-missing")
    assert "only one attempt" not in outcome.text
    assert "the run is at attempt 2" in outcome.text
