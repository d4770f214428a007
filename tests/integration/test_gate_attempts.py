"""Which artifact is which: attempts of one run, shards, other runs, ids."""

import json
import time
from typing import Any

import pytest

from freeze_gate.evidence.digest import Sha256
from tests.builders.bundle import Capture, make_bundle, make_capture
from tests.builders.record import OTHER_SAMPLE
from tests.integration.test_gate_trouble import POLICY, policy
from tests.standin import Fault
from tests.support.gate_job import Job, Outcome, api_calls

ONE_NAME = {"first_artifact": "bundle", "rerun_artifact": "bundle"}
BY_ATTEMPT = {"first_artifact": "bundle-{attempt}", "rerun_artifact": "bundle-{attempt}"}


def dropped(attempt: int, **facts: Any) -> Capture:
    """Return a capture whose transport failed, so that nothing was checked."""
    return make_capture(attempt, oracle=None, transport=False, **facts)


def failed(attempt: int, **facts: Any) -> Capture:
    """Return a capture whose oracle failed."""
    return make_capture(attempt, oracle=False, **facts)


def sides(outcome: Outcome) -> list[str]:
    """Return the ids of the first run's and the rerun's artifact, as the summary shows them."""
    (row,) = [line for line in outcome.summary.splitlines() if line.startswith("| artifact |")]
    return [cell.rpartition("id ")[2].strip() for cell in row.strip("|").split("|")[1:]]


def test_the_rerun_is_the_newer_and_not_the_one_with_the_higher_id(job: Job) -> None:
    """A1: ids are in no order."""
    job.run.attempts = ["2026-11-29T08:30:00Z", "2026-11-29T08:45:00Z"]
    job.environ["GITHUB_RUN_ATTEMPT"] = "2"
    old = job.upload("bundle", dropped(1), attempt=1, id=10338854604, created_at="2026-11-29T08:38:00Z")
    new = job.upload("bundle", make_capture(2), attempt=2, id=10338734845, created_at="2026-11-29T08:49:00Z")

    outcome = job.gate(**ONE_NAME)

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert sides(outcome) == [str(old.id), str(new.id)]


@pytest.mark.parametrize("inputs", [ONE_NAME, BY_ATTEMPT], ids=["one name", "{attempt}"])
def test_with_one_attempt_the_rerun_is_missing_and_the_button_named(job: Job, inputs: dict[str, str]) -> None:
    """Where there is only one attempt yet, the summary says what to press."""
    job.upload("bundle" if inputs is ONE_NAME else "bundle-1", failed(1))

    outcome = job.gate(**inputs)

    assert outcome.said == ("unclassified", False, "artifact-missing")
    assert "only one attempt" in outcome.summary
    assert "Re-run failed jobs" in outcome.summary
    assert outcome.lines["fixture_sha256"] != "missing"


def test_where_only_the_second_attempt_is_left_the_name_is_to_blame(job: Job) -> None:
    """A5: the hint is to put `{attempt}` into the name or to use a separate run."""
    job.attempts(2)
    job.upload("bundle", make_capture(2))

    outcome = job.gate(**ONE_NAME)

    assert outcome.said == ("unclassified", False, "artifact-missing")
    assert "attempt" in outcome.summary
    assert "separate run" in outcome.summary
    assert outcome.lines["fixture_sha256"] == "missing"


def test_where_only_the_first_attempt_is_left_the_second_left_nothing(job: Job) -> None:
    """A second attempt that uploaded nothing is not taken for one that nobody started."""
    job.attempts(2)
    job.upload("bundle", make_capture(1), attempt=1)

    outcome = job.gate(**ONE_NAME)

    assert outcome.said == ("unclassified", False, "artifact-missing")
    assert "only one attempt" not in outcome.summary
    assert "no later attempt left an artifact named bundle, and the run is at attempt 2" in outcome.summary


def test_a_retried_upload_of_the_same_bytes_is_one_artifact(job: Job) -> None:
    """A12: equal published digests count as one."""
    job.attempts(2)
    payload = make_bundle(make_capture(1, oracle=None, transport=False))
    for minute in ("10", "11"):
        job.run.add_artifact("bundle", payload, created_at=f"2026-11-29T08:{minute}:00Z")
    job.upload("bundle", make_capture(2))

    assert job.gate(**ONE_NAME).said == ("harness_flake", True, "transport-fault")


@pytest.mark.parametrize("inputs", [ONE_NAME, BY_ATTEMPT], ids=["one name", "{attempt}"])
@pytest.mark.parametrize("attempt", [1, 2])
def test_two_different_artifacts_of_one_attempt_are_ambiguous(job: Job, inputs: dict[str, str], attempt: int) -> None:
    """A12: nothing says which is meant, on whichever side."""
    job.attempts(2)
    for each in (1, 2, attempt):
        name = "bundle" if inputs is ONE_NAME else f"bundle-{each}"
        job.upload(name, make_capture(each, transport=each != 1), attempt=each)

    outcome = job.gate(**inputs)

    assert outcome.said == ("unclassified", False, "artifact-ambiguous")
    assert all(str(artifact.id) in outcome.text for artifact in job.run.artifacts)


def test_equal_times_are_ambiguous(job: Job) -> None:
    """The order of two uploads of one second is a guess."""
    job.attempts(2)
    for attempt in (1, 2):
        job.upload("bundle", make_capture(attempt), attempt=attempt, created_at="2026-11-29T09:10:00Z")

    outcome = job.gate(**ONE_NAME)

    assert outcome.said == ("unclassified", False, "artifact-ambiguous")
    assert "same second" in outcome.summary


def test_an_older_attempt_uploaded_late_is_ambiguous_under_one_name(job: Job) -> None:
    """Records and times that disagree name nobody."""
    job.attempts(2)
    job.upload("bundle", make_capture(1), created_at="2026-11-29T09:30:00Z")
    job.upload("bundle", make_capture(2), created_at="2026-11-29T09:20:00Z")

    outcome = job.gate(**ONE_NAME)

    assert outcome.said == ("unclassified", False, "artifact-ambiguous")
    assert "disagree" in outcome.summary


def test_an_older_attempt_uploaded_late_is_known_by_its_name(job: Job) -> None:
    """With `{attempt}` in the name, times say nothing."""
    job.attempts(2)
    old = job.upload("bundle-1", dropped(1), created_at="2026-11-29T09:30:00Z")
    new = job.upload("bundle-2", make_capture(2), created_at="2026-11-29T09:20:00Z")

    outcome = job.gate(**BY_ATTEMPT)

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert sides(outcome) == [str(old.id), str(new.id)]


@pytest.mark.parametrize("inputs", [ONE_NAME, BY_ATTEMPT], ids=["one name", "{attempt}"])
def test_a_fail_of_an_earlier_attempt_cannot_be_rerun_away(job: Job, inputs: dict[str, str]) -> None:
    """P24: attempts 2 and 3 would be a flake."""
    job.attempts(3)
    for each in (failed(1), dropped(2), make_capture(3)):
        attempt = each.record.run.run_attempt or 0
        job.upload("bundle" if inputs is ONE_NAME else f"bundle-{attempt}", each, attempt=attempt)

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
    for attempt, each in enumerate((first, dropped(2), make_capture(3)), 1):
        job.upload(f"bundle-{attempt}", each, attempt=attempt)

    assert job.gate(**BY_ATTEMPT).said == ("harness_flake", True, "transport-fault")


@pytest.mark.parametrize("facts", [{"expired": True}, {"gone": True}, {"digest": f"sha256:{'0' * 64}"}], ids=str)
def test_an_earlier_attempt_that_cannot_be_read_forbids_the_freeze(job: Job, facts: dict[str, Any]) -> None:
    """Nobody can see that it recorded no fail; waiting until it expires must not help."""
    job.attempts(3)
    for attempt, each in enumerate((make_capture(1), dropped(2), make_capture(3)), 1):
        job.upload(f"bundle-{attempt}", each, attempt=attempt, **(facts if attempt == 1 else {}))

    assert job.gate(**BY_ATTEMPT).said == ("unclassified", False, "earlier-fail")


def test_with_three_attempts_all_are_listed_and_a_miss_reads_two(job: Job) -> None:
    """The rule is fixed: the newest and the one before; what is left unread is named."""
    job.attempts(3)
    for attempt in (1, 2, 3):
        job.upload(f"bundle-{attempt}", failed(attempt), attempt=attempt)

    outcome = job.gate(**BY_ATTEMPT)

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert sides(outcome) == [str(artifact.id) for artifact in job.run.artifacts[1:]]
    assert str(job.run.artifacts[0].id) in outcome.text
    assert len(api_calls(job.github)) == 3


def test_a_first_job_that_was_not_re_run_is_compared_with_the_new_rerun(job: Job) -> None:
    """Two jobs, of which only the second ran again."""
    job.attempts(2)
    job.upload("first-1", dropped(1), attempt=1)
    job.upload("rerun-1", make_capture(1), attempt=1)
    new = job.upload("rerun-2", make_capture(2), attempt=2)

    outcome = job.gate(first_artifact="first-{attempt}", rerun_artifact="rerun-{attempt}")

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert sides(outcome)[1] == str(new.id)


def test_two_jobs_with_plain_names_are_each_the_newest_of_theirs(job: Job) -> None:
    """Names without an attempt, after all failed jobs ran again; the fail of the first attempt is not forgotten."""
    job.attempts(2)
    for attempt, first, rerun in ((1, failed(1), failed(1)), (2, dropped(2), make_capture(2))):
        job.upload("first", first, attempt=attempt)
        job.upload("rerun", rerun, attempt=attempt)

    assert job.gate().said == ("unclassified", False, "earlier-fail")


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


def test_attempt_in_one_name_of_one_run_is_an_input_error(job: Job) -> None:
    """In both names, or in neither."""
    outcome = job.gate(first_artifact="bundle-{attempt}", rerun_artifact="bundle")

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 2
    assert "allowed: {attempt} in both names of one run, or in neither" in outcome.log


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


def test_an_artifact_that_nobody_asked_for_does_not_stop_the_gate(job: Job) -> None:
    """Whatever its name holds, and with times that are finer than a second."""
    job.attempts(2)
    old = job.upload("bundle", dropped(1), attempt=1, created_at="2026-11-29T08:10:00.7Z")
    new = job.upload("bundle", make_capture(2), attempt=2, created_at="2026-11-29T09:10:00.07Z")
    job.upload("another\x1b[2J\n", make_capture(2), attempt=2)

    outcome = job.gate(**ONE_NAME)

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert sides(outcome) == [str(old.id), str(new.id)]


def test_uploads_in_one_second_are_ambiguous_whatever_their_fractions_say(job: Job) -> None:
    """No clock is that good."""
    job.attempts(2)
    for attempt in (1, 2):
        job.upload("bundle", make_capture(attempt), attempt=attempt, created_at=f"2026-11-29T09:10:00.{attempt}Z")

    assert job.gate(**ONE_NAME).said == ("unclassified", False, "artifact-ambiguous")


def test_an_expired_first_attempt_is_expired_and_not_missing(job: Job) -> None:
    """It is placed by its time, and the reason is the true one."""
    job.attempts(2)
    job.upload("bundle", make_capture(1), attempt=1, expired=True)
    job.upload("bundle", make_capture(2), attempt=2)

    outcome = job.gate(**ONE_NAME)

    assert outcome.said == ("unclassified", False, "artifact-expired")


def by_ids(job: Job, *, attempt: int = 1) -> dict[str, str]:
    """Return the inputs that name the newest two artifacts by id, as jobs' outputs pass them on."""
    first, rerun = job.run.artifacts[-2:]
    assert attempt == len(job.run.attempts)
    return {
        "first_artifact": "",
        "rerun_artifact": "",
        "first_artifact_id": str(first.id),
        "rerun_artifact_id": str(rerun.id),
    }


def test_ids_are_exact_and_cost_no_call_more(job: Job) -> None:
    """One listing serves both."""
    job.upload("agent-patch-4242-1", failed(1))
    job.upload("agent-patch-rerun-4242-1", failed(1))

    outcome = job.gate(**by_ids(job))

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert len(api_calls(job.github)) == 3


def test_ids_go_before_names(job: Job) -> None:
    """Names that are given as well, even equal ones, change nothing."""
    job.upload("bundle", failed(1))
    job.upload("bundle", failed(1))

    outcome = job.gate(**{**by_ids(job), **ONE_NAME})

    assert outcome.said == ("property_miss", False, "both-oracles-failed")


def test_the_capture_action_s_names_tell_of_other_attempts(job: Job) -> None:
    """Ids from outputs: the failed first attempt is found by its name all the same."""
    job.attempts(2)
    job.upload("agent-patch-4242-1", failed(1), attempt=1)
    job.upload("agent-patch-4242-2", dropped(2), attempt=2)
    job.upload("agent-patch-rerun-4242-2", make_capture(2), attempt=2)

    outcome = job.gate(**by_ids(job, attempt=2))

    assert outcome.said == ("unclassified", False, "earlier-fail")


def test_names_of_single_attempts_do_not_hide_the_others(job: Job) -> None:
    """Two exact names in place of `{attempt}` leave the fail before them visible."""
    job.attempts(3)
    for attempt, each in enumerate((failed(1), dropped(2), make_capture(3)), 1):
        job.upload(f"agent-patch-4242-{attempt}", each, attempt=attempt)

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


def test_an_id_that_is_not_there_is_missing(job: Job) -> None:
    """Both causes are named."""
    job.pair()

    outcome = job.gate(first_artifact="", first_artifact_id="999")

    assert outcome.said == ("unclassified", False, "artifact-missing")
    assert "`actions: read`" in outcome.text


def test_one_id_on_both_sides_is_one_artifact(job: Job) -> None:
    """A run is not its own rerun."""
    job.pair(failed(1))
    ids = {"first_artifact_id": str(job.run.artifacts[0].id), "rerun_artifact_id": str(job.run.artifacts[0].id)}

    assert job.gate(**ids).said == ("unclassified", False, "artifact-same")


def test_two_runs_are_compared(job: Job) -> None:
    """`first-run-id`: the first run is another one of the same commit."""
    other = job.repository.add_run(77)
    job.upload("bundle", dropped(1, run_id=77), run=other)
    job.upload("bundle", make_capture(1))

    outcome = job.gate(first_run_id="77", **ONE_NAME)

    assert outcome.said == ("harness_flake", True, "transport-fault")


def test_attempt_works_in_another_run(job: Job) -> None:
    """`{attempt}` in one name alone is allowed where there are two runs."""
    other = job.repository.add_run(77, attempts=["2026-11-29T06:00:00Z", "2026-11-29T07:00:00Z"])
    for attempt in (1, 2):
        job.upload(f"bundle-{attempt}", dropped(attempt, run_id=77), run=other, attempt=attempt)
    job.upload("bundle", make_capture(1))

    outcome = job.gate(first_run_id="77", first_artifact="bundle-{attempt}", rerun_artifact="bundle")

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert sides(outcome)[0] == str(other.artifacts[1].id)


def test_two_runs_of_different_commits_are_not_compared(job: Job) -> None:
    """`commit-mismatch` by what GitHub says, though the records agree."""
    other = job.repository.add_run(77, head_sha="e" * 40)
    job.upload("bundle", dropped(1, run_id=77), run=other)
    job.upload("bundle", make_capture(1))

    assert job.gate(first_run_id="77", **ONE_NAME).said == ("unclassified", False, "commit-mismatch")


def test_a_record_of_another_run_is_no_evidence(job: Job) -> None:
    """A bundle carried on from an older run."""
    job.pair(dropped(1, run_id=77), make_capture(1))

    assert job.gate().said == ("unclassified", False, "run-mismatch")


GLOBS = {"first_artifact": "first-*", "rerun_artifact": "rerun-*"}


def shard(job: Job, side: str, number: int, *, oracle: bool | None = True, **facts: Any) -> None:
    """Upload one shard with one fixture."""
    job.upload(f"{side}-{number}", make_capture(fixture_id=f"s{number}", oracle=oracle, **facts))


def test_shards_are_paired_by_fixture(job: Job) -> None:
    """Globs: the worst pair decides."""
    for number in range(4):
        shard(job, "first", number, oracle=number != 2)
        shard(job, "rerun", number, oracle=number != 2)

    outcome = job.gate(**GLOBS)

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert "4 pairs" in outcome.summary
    assert "without `expected-fixtures`" in outcome.summary


def test_a_missing_shard_is_a_pair_of_its_own(job: Job) -> None:
    """What one side lacks blocks."""
    for number in range(3):
        shard(job, "first", number)
    for number in range(2):
        shard(job, "rerun", number)

    outcome = job.gate(**GLOBS)

    assert outcome.said == ("unclassified", False, "record-missing")
    assert outcome.code == 1


def test_a_doubled_fixture_is_a_pair_of_its_own(job: Job) -> None:
    """Two different records of one id on one side."""
    shard(job, "first", 0)
    shard(job, "rerun", 0)
    job.upload("rerun-again", make_capture(fixture_id="s0", oracle=None))

    assert job.gate(**GLOBS).said == ("unclassified", False, "record-duplicate")


@pytest.mark.parametrize("also_there", [True, False])
def test_an_unreadable_shard_is_a_pair_of_its_own(job: Job, also_there: bool) -> None:
    """Also where the other side shows nothing that it could be compared with."""
    for side in ("first", "rerun"):
        shard(job, side, 0)
    if also_there:
        shard(job, "first", 1)
    job.run.add_artifact("rerun-1", b"no zip")

    outcome = job.gate(**GLOBS)

    assert outcome.said == ("unclassified", False, "archive-invalid")
    assert outcome.code == 1


def test_ambiguous_shards_are_each_a_pair_of_their_own(job: Job) -> None:
    """None vanishes behind another."""
    for number in range(2):
        shard(job, "first", number)
        for oracle in (True, None):
            shard(job, "rerun", number, oracle=oracle)
    shard(job, "first", 2)
    shard(job, "rerun", 2)

    outcome = job.gate(**GLOBS)

    assert outcome.said == ("unclassified", False, "artifact-ambiguous")
    pairs = json.loads(outcome.verdict or b"")["case"]["pairs"]
    labels = [json.loads(outcome.verdict or b"")["case"]["sources"][pair["rerun"]["source"]]["label"] for pair in pairs]
    assert {"rerun-0", "rerun-1"} < {*labels}


def test_the_same_shards_in_two_attempts(job: Job) -> None:
    """A glob on both sides with `{attempt}`: each shard's newest two."""
    job.attempts(2)
    for number in range(3):
        job.upload(f"shard-{number}-1", dropped(1, fixture_id=f"s{number}"), attempt=1)
        job.upload(f"shard-{number}-2", make_capture(2, fixture_id=f"s{number}"), attempt=2)

    outcome = job.gate(first_artifact="shard-*-{attempt}", rerun_artifact="shard-*-{attempt}")

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert "3 pairs" in outcome.summary


def test_a_shard_that_only_one_attempt_left_is_missing(job: Job) -> None:
    """A shard that did not come back is not silence."""
    job.attempts(2)
    for number in range(3):
        job.upload(f"shard-{number}-1", make_capture(1, fixture_id=f"s{number}"), attempt=1)
        if number != 1:
            job.upload(f"shard-{number}-2", make_capture(2, fixture_id=f"s{number}"), attempt=2)

    outcome = job.gate(first_artifact="shard-*-{attempt}", rerun_artifact="shard-*-{attempt}")

    assert outcome.said == ("unclassified", False, "artifact-missing")


@pytest.mark.parametrize("count", [131, 1000])
def test_the_wanted_ones_are_found_among_many(job: Job, count: int) -> None:
    """A3: on the last page."""
    payload = make_bundle(make_capture())
    job.pair(failed(1), failed(1))
    for number in range(count - 2):
        job.run.add_artifact(f"other-{number}", payload)

    outcome = job.gate()

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert len(api_calls(job.github)) == -(-count // 100) + 2


def test_a_listing_that_lags_is_asked_again(job: Job) -> None:
    """A4: empty, and two seconds later there."""
    job.pair(failed(1), failed(1))
    for artifact in job.run.artifacts:
        artifact.listed_after = 1

    assert job.gate(wait_seconds="10").said == ("property_miss", False, "both-oracles-failed")


def test_a_listing_that_stays_empty_names_both_causes(job: Job) -> None:
    """The wait is bounded, and the message says what could be wrong."""
    began = time.monotonic()

    outcome = job.gate(wait_seconds="3")

    assert outcome.said == ("unclassified", False, "artifact-missing")
    assert time.monotonic() - began < 30
    assert "`actions: read`" in outcome.text
    assert outcome.code == 1


def test_what_the_remaining_limit_cannot_pay_is_refused_before_it_starts(job: Job) -> None:
    """The log says the price; the summary says what would be cheaper."""
    for number in range(30):
        shard(job, "first", number)
        shard(job, "rerun", number)
    job.github.limit.remaining = 50

    outcome = job.gate(**GLOBS)

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 3
    assert "upload-artifact/merge" in outcome.summary
    assert "downloading 60 artifacts" in outcome.log
    assert len(api_calls(job.github)) == 1


def test_other_attempts_that_cannot_be_paid_leave_no_verdict(job: Job) -> None:
    """A flake is not said on half of the evidence."""
    job.attempts(3)
    for attempt, each in enumerate((failed(1), dropped(2), make_capture(3)), 1):
        job.upload(f"bundle-{attempt}", each, attempt=attempt)
    job.github.limit.remaining = 7

    outcome = job.gate(**BY_ATTEMPT)

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 3


@pytest.mark.parametrize("kind", ["reset", "cut"])
def test_other_attempts_that_cannot_be_fetched_leave_no_verdict(job: Job, kind: str) -> None:
    """Neither a flake, nor a freeze that mutes it."""
    job.attempts(3)
    for attempt, each in enumerate((make_capture(1), dropped(2), make_capture(3)), 1):
        job.upload(f"bundle-{attempt}", each, attempt=attempt)
    job.repository.add_file(POLICY, policy())
    job.github.fault(Fault(kind, host="blob", first=3))

    outcome = job.gate(**BY_ATTEMPT)

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 3


def test_a_bundle_handed_on_from_the_first_attempt_is_one_capture(job: Job) -> None:
    """The rerun uploads the first run's bundle once more."""
    job.attempts(2)
    old = dropped(1)
    job.upload("bundle-1", old, attempt=1)
    job.upload("bundle-2", old.changed(run={"run_attempt": 2}), attempt=2)

    outcome = job.gate(**BY_ATTEMPT)

    assert outcome.said == ("unclassified", False, "artifact-same")
    assert outcome.lines["fixture_sha256"] == Sha256.of(old.pin or b"")


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
    """P24: names that a workflow makes of the attempt's number, and shards whose merge was cancelled."""
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
