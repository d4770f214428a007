"""Which artifact is the first run's and which the rerun's: by names, attempts and ids."""

import json

import pytest

from freeze_gate.evidence.digest import Sha256
from tests.builders.bundle import make_bundle, make_capture
from tests.support.attempts import BY_ATTEMPT, GLOBS, ONE_NAME, dropped, failed, ids, shard, sides
from tests.support.gate_job import Job, api_calls, override_listing


def test_the_rerun_is_the_newer_and_not_the_one_with_the_higher_id(job: Job) -> None:
    """The ids of artifacts are in no order."""
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
    """The hint is to put `{attempt}` into the name or to use a separate run."""
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
    """Equal published digests count as one."""
    job.attempts(2)
    payload = make_bundle(make_capture(1, oracle=None, transport=False))
    for minute in ("10", "11"):
        job.run.add_artifact("bundle", payload, created_at=f"2026-11-29T08:{minute}:00Z")
    job.upload("bundle", make_capture(2))

    assert job.gate(**ONE_NAME).said == ("harness_flake", True, "transport-fault")


@pytest.mark.parametrize("inputs", [ONE_NAME, BY_ATTEMPT], ids=["one name", "{attempt}"])
@pytest.mark.parametrize("attempt", [1, 2])
def test_two_different_artifacts_of_one_attempt_are_ambiguous(job: Job, inputs: dict[str, str], attempt: int) -> None:
    """Nothing says which of the two is meant, on either side."""
    job.attempts(2)
    for number in (1, 2, attempt):
        name = "bundle" if inputs is ONE_NAME else f"bundle-{number}"
        job.upload(name, make_capture(number, transport=number != 1), attempt=number)

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


def test_attempt_in_one_name_of_one_run_is_an_input_error(job: Job) -> None:
    """In both names, or in neither."""
    outcome = job.gate(first_artifact="bundle-{attempt}", rerun_artifact="bundle")

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 2
    assert "allowed: {attempt} in both names of one run, or in neither" in outcome.log


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


def test_ids_are_exact_and_cost_no_call_more(job: Job) -> None:
    """One listing serves both."""
    job.upload("agent-patch-4242-1", failed(1))
    job.upload("agent-patch-rerun-4242-1", failed(1))

    outcome = job.gate(**ids(*job.run.artifacts[-2:]))

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert len(api_calls(job.github)) == 3


def test_ids_go_before_names(job: Job) -> None:
    """Names that are given as well, even equal ones, change nothing."""
    job.upload("bundle", failed(1))
    job.upload("bundle", failed(1))

    outcome = job.gate(**{**ids(*job.run.artifacts[-2:]), **ONE_NAME})

    assert outcome.said == ("property_miss", False, "both-oracles-failed")


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


def test_a_bundle_handed_on_from_the_first_attempt_is_one_capture(job: Job) -> None:
    """The rerun uploads the first run's bundle once more."""
    job.attempts(2)
    old = dropped(1)
    job.upload("bundle-1", old, attempt=1)
    job.upload("bundle-2", old.changed(run={"run_attempt": 2}), attempt=2)

    outcome = job.gate(**BY_ATTEMPT)

    assert outcome.said == ("unclassified", False, "artifact-same")
    assert outcome.lines["fixture_sha256"] == Sha256.of(old.pin or b"")


@pytest.mark.parametrize("listed", [0, 9], ids=["listed", "not listed"])
def test_the_rerun_s_id_beside_the_first_s_attempts_is_exact(job: Job, listed: int) -> None:
    """The first is the newest attempt before it, whatever came later and however late the listing is."""
    job.attempts(3)
    uploads = [
        job.upload(f"bundle-{n}", one, attempt=n) for n, one in ((1, failed(1)), (2, dropped(2)), (3, make_capture(3)))
    ]
    uploads[1].listed_after = listed
    inputs = {"first_artifact": "bundle-{attempt}", "rerun_artifact": "bundle-{attempt}"}

    outcome = job.gate(wait_seconds="0", **inputs, rerun_artifact_id=str(uploads[1].id))

    assert outcome.said == ("unclassified", False, "split-oracle")
    assert sides(outcome) == [str(uploads[0].id), str(uploads[1].id)]


def test_the_rerun_s_id_is_of_no_name_that_stands_for_several(job: Job) -> None:
    """Shards: the other one's fail, or the first job's, must not vanish with its slot."""
    job.attempts(2)
    for attempt in (1, 2):
        job.upload(f"first-{attempt}", failed(attempt), attempt=attempt)
        rerun = job.upload(f"again-{attempt}", dropped(1) if attempt == 1 else make_capture(2), attempt=attempt)
    inputs = {"first_artifact": "*-{attempt}", "rerun_artifact": "", "rerun_artifact_id": str(rerun.id)}

    assert job.gate(wait_seconds="0", **inputs).said == ("unclassified", False, "artifact-same")


def test_the_rerun_s_id_is_of_another_run_than_the_first_s_name(job: Job) -> None:
    """One bundle that was uploaded in both runs is one, whatever stands before it in the other run."""
    other = job.repository.add_run(77, attempts=["2026-11-29T06:00:00Z", "2026-11-29T07:00:00Z"])
    payload = make_bundle(make_capture(2, run_id=77))
    job.upload("bundle-1", dropped(1, run_id=77), run=other, attempt=1)
    other.add_artifact("bundle-2", payload, created_at="2026-11-29T07:10:00Z")
    rerun = job.run.add_artifact("bundle", payload, created_at="2026-11-29T08:10:00Z")
    inputs = {"first_run_id": "77", "first_artifact": "bundle-{attempt}", "rerun_artifact": ""}

    outcome = job.gate(wait_seconds="0", **inputs, rerun_artifact_id=str(rerun.id))

    assert outcome.said == ("unclassified", False, "artifact-same")


@pytest.mark.parametrize("earlier", [True, False], ids=["a copy", "nothing before it"])
def test_the_rerun_s_id_may_be_of_a_copy_or_have_nothing_before_it(job: Job, *, earlier: bool) -> None:
    """An upload that was retried leaves two of the same bytes; and what came later is never the first run."""
    job.attempts(3)
    if earlier:
        job.upload("bundle-1", failed(1), attempt=1)
    payload = make_bundle(failed(2))
    copy = job.run.add_artifact("bundle-2", payload, created_at="2026-11-29T09:10:00Z")
    job.run.add_artifact("bundle-2", payload, created_at="2026-11-29T09:11:00Z")
    job.upload("bundle-3", make_capture(3), attempt=3)

    outcome = job.gate(wait_seconds="0", **BY_ATTEMPT, rerun_artifact_id=str(copy.id))

    if earlier:
        assert outcome.said == ("property_miss", False, "both-oracles-failed")
    else:
        assert outcome.said == ("unclassified", False, "artifact-missing")
        assert "no attempt before that of artifact" in outcome.text
        assert outcome.lines["fixture_sha256"] == "missing"


def test_an_id_of_another_run_than_the_one_that_was_named_is_an_input_error(job: Job) -> None:
    """One of the two inputs is wrong, and nobody can say which."""
    job.repository.add_run(77)
    job.pair()

    outcome = job.gate(**ids(*job.run.artifacts), first_run_id="77")

    assert (outcome.code, outcome.said) == (2, ("unclassified", False, ""))
    assert "inputs `first-artifact-id` and `first-run-id`" in outcome.log


def test_equal_bytes_that_count_as_one_are_named(job: Job) -> None:
    """The second attempt did upload something: the same once more."""
    job.attempts(2)
    payload = make_bundle(dropped(1))
    for attempt in (1, 2):
        job.run.add_artifact("bundle", payload, created_at=f"2026-11-29T{7 + attempt:02}:10:00Z")

    outcome = job.gate(**ONE_NAME)

    assert outcome.said[0] == "unclassified"
    assert "not counting 1 more with the same bytes" in outcome.text


def test_a_number_in_a_shard_s_name_is_no_run_s(job: Job) -> None:
    """A server that says no run: `first-10-1` and `first-10-2` are two shards, and the fail of one cannot vanish."""
    job.attempts(2)
    for shard_of in (1, 2):
        for side in ("first", "rerun"):
            job.upload(
                f"{side}-10-{shard_of}", make_capture(2, fixture_id=f"s{shard_of}", oracle=shard_of != 1), attempt=2
            )
    override_listing(job, workflow_run=None, digest=None)

    assert job.gate(wait_seconds="0", **GLOBS).said == ("property_miss", False, "both-oracles-failed")
