"""What is left over, not listed yet, or hides its attempt: none of it makes a pair, and nothing of it vanishes."""

import json
from typing import Any

import pytest

from tests.builders.bundle import Capture, make_bundle, make_capture
from tests.builders.zip import make_zip
from tests.integration.test_gate_artifacts import listed_as
from tests.integration.test_gate_attempts import BY_ATTEMPT, GLOBS, ONE_NAME, dropped, failed, shard, sides
from tests.integration.test_gate_events import workflow_run
from tests.integration.test_gate_trouble import POLICY, policy
from tests.standin import Fault
from tests.standin.state import Artifact
from tests.support.gate_job import Job, api_calls

TWO_NAMES = {"first_artifact": "first-{attempt}", "rerun_artifact": "rerun-{attempt}"}
PLAIN = {"first_artifact": "first", "rerun_artifact": "rerun"}


def ids(first: Artifact, rerun: Artifact) -> dict[str, str]:
    """Return the inputs that name two artifacts by their ids alone."""
    given = {"first_artifact_id": str(first.id), "rerun_artifact_id": str(rerun.id)}
    return {"first_artifact": "", "rerun_artifact": "", **given}


def upload(job: Job, inputs: dict[str, str], side: str, made: Capture, **facts: Any) -> Artifact:
    """Upload a capture under the name that the inputs have for its side and its attempt."""
    attempt = made.record.run.run_attempt or 0
    return job.upload(inputs[f"{side}_artifact"].replace("{attempt}", str(attempt)), made, attempt=attempt, **facts)


# ---- not listed yet ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", [ONE_NAME, BY_ATTEMPT], ids=["one name", "{attempt}"])
def test_older_attempts_are_not_judged_while_the_newest_is_not_listed(job: Job, inputs: dict[str, str]) -> None:
    """Attempts 1 and 2 would be a flake, which a freeze may mute; attempt 3 failed."""
    job.attempts(3)
    for made in (dropped(1), make_capture(2)):
        upload(job, inputs, "first", made)
    newest = upload(job, inputs, "rerun", failed(3), listed_after=1)

    outcome = job.gate(wait_seconds="60", **inputs)

    assert outcome.said == ("unclassified", False, "split-oracle")
    assert sides(outcome)[1] == str(newest.id)


@pytest.mark.parametrize("inputs", [TWO_NAMES, PLAIN], ids=["{attempt}", "plain names"])
@pytest.mark.parametrize("late", ["first", "rerun"])
def test_neither_side_is_taken_from_an_older_attempt_while_its_own_is_not_listed(
    job: Job, inputs: dict[str, str], late: str
) -> None:
    """Whichever of two jobs of the second attempt is listed late, its fail is seen."""
    job.attempts(2)
    for side in ("first", "rerun"):
        upload(job, inputs, side, dropped(1) if side == "first" else make_capture(1))
        upload(job, inputs, side, failed(2) if side == late else dropped(2), listed_after=int(side == late))

    outcome = job.gate(wait_seconds="60", **inputs)

    assert outcome.said == ("unclassified", False, "split-oracle")


def test_an_artifact_that_never_comes_is_not_waited_for_for_ever(job: Job) -> None:
    """The gate's job alone was run again: what the attempts before it left is all there is."""
    job.attempts(3)
    for made in (dropped(1), make_capture(2)):
        upload(job, BY_ATTEMPT, "first", made)

    outcome = job.gate(wait_seconds="3", **BY_ATTEMPT)

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert len([call for call in api_calls(job.github) if call.endswith("/artifacts")]) == 2


def test_nothing_is_waited_for_where_ids_say_all(job: Job) -> None:
    """Of another run, while the gate's own has no artifact at all."""
    other = job.repository.add_run(77)
    first, rerun = (job.upload(name, failed(1, run_id=77), run=other) for name in ("first", "rerun"))

    outcome = job.gate(wait_seconds="60", **ids(first, rerun))

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert [call for call in api_calls(job.github) if call.endswith("/4242/artifacts")] == [
        "GET actions/runs/4242/artifacts"
    ]


@pytest.mark.parametrize("by_id", ["first", "rerun"])
def test_a_name_is_waited_for_beside_an_id_that_it_does_not_fit(job: Job, by_id: str) -> None:
    """The id says nothing of the other side, whose newest attempt failed and is listed late."""
    job.attempts(2)
    for side, made in (("first", dropped(1)), ("rerun", make_capture(1))):
        upload(job, TWO_NAMES, side, made)
    late = upload(job, TWO_NAMES, "rerun" if by_id == "first" else "first", failed(2), listed_after=1)
    known = upload(job, TWO_NAMES, by_id, dropped(2) if by_id == "first" else make_capture(2))
    inputs = {**TWO_NAMES, f"{by_id}_artifact": "", f"{by_id}_artifact_id": str(known.id)}

    outcome = job.gate(wait_seconds="60", **inputs)

    assert outcome.said == ("unclassified", False, "split-oracle")
    assert str(late.id) in sides(outcome)


def test_another_run_is_not_waited_for(job: Job) -> None:
    """A nightly run that was over long ago, by a name with its attempt."""
    other = job.repository.add_run(77)
    job.upload("nightly-77-1", failed(1, run_id=77), run=other)
    job.upload("nightly-4242-1", failed(1))
    inputs = {"first_run_id": "77", "first_artifact": "nightly-77-{attempt}", "rerun_artifact": "nightly-4242-1"}

    assert job.gate(wait_seconds="60", **inputs).said[0] == "property_miss"
    assert len(api_calls(job.github)) == 4


def test_a_name_that_says_its_attempt_is_not_waited_for(job: Job) -> None:
    """Attempts 1 and 2 of three, each by its own name."""
    job.attempts(3)
    names = [job.upload(f"bundle-4242-{n}", failed(n), attempt=n).name for n in (1, 2, 3)]

    outcome = job.gate(wait_seconds="60", first_artifact=names[0], rerun_artifact=names[1])

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert len(api_calls(job.github)) == 3


# ---- which attempt made it -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", [TWO_NAMES, PLAIN], ids=["{attempt}", "plain names"])
def test_a_rerun_that_was_made_before_its_first_run_is_none(job: Job, inputs: dict[str, str]) -> None:
    """The second attempt's rerun left nothing, and that of the first attempt is no rerun of it."""
    job.attempts(2)
    for side, made in (("first", make_capture(1)), ("rerun", make_capture(1)), ("first", dropped(2))):
        upload(job, inputs, side, made)

    outcome = job.gate(**inputs)

    assert outcome.said == ("unclassified", False, "artifact-missing")
    assert "the rerun: what is there is of attempt 1, before the first run's attempt 2" in outcome.text
    assert not job.pull.issue.labels


@pytest.mark.parametrize("window", [1, 2])
def test_records_of_two_attempts_that_came_in_one_are_no_two_runs(job: Job, window: int) -> None:
    """A bundle that a runner kept from the attempt before, or one that speaks of an attempt to come."""
    job.attempts(2)
    for made in (dropped(1), make_capture(2)):
        job.upload("bundle", made, attempt=window)

    assert job.gate(**ONE_NAME).said == ("unclassified", False, "run-mismatch")


@pytest.mark.parametrize("named", ["names", "ids"])
@pytest.mark.parametrize("first", [make_capture(1), dropped(1)], ids=["green", "flake"])
def test_a_record_of_another_attempt_than_its_upload_s_is_no_evidence(job: Job, named: str, first: Capture) -> None:
    """It says attempt 1, and was uploaded during the second."""
    job.attempts(2)
    made = [job.upload("first", first, attempt=2), job.upload("rerun", make_capture(2), attempt=2)]

    outcome = job.gate(**(ids(*made) if named == "ids" else {}))

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


def test_a_record_that_another_shard_lacks_is_no_older_attempt(job: Job) -> None:
    """Shard a was not re-run, shard b was, and its rerun has no record of b2."""
    job.attempts(2)
    for side in ("first", "rerun"):
        job.upload(f"{side}-a-4242-1", make_capture(1, fixture_id="a"), attempt=1)
    job.upload("first-b-4242-2", make_capture(2, fixture_id="b1"), make_capture(2, fixture_id="b2"), attempt=2)
    job.upload("rerun-b-4242-2", make_capture(2, fixture_id="b1"), attempt=2)

    outcome = job.gate(wait_seconds="0", **GLOBS)

    assert outcome.said == ("unclassified", False, "record-missing")


def test_how_many_attempts_another_run_had_is_no_guess(job: Job) -> None:
    """Where one of two left an artifact, nobody is told to make a second attempt."""
    other = job.repository.add_run(77, attempts=["2026-11-29T06:00:00Z", "2026-11-29T07:00:00Z"])
    job.upload("bundle", failed(1, run_id=77), run=other, attempt=1)

    outcome = job.gate(first_run_id="77", rerun_run_id="77", **ONE_NAME)

    assert outcome.said == ("unclassified", False, "artifact-missing")
    assert "only one attempt" not in outcome.text
    assert "the run is at attempt 2" in outcome.text


@pytest.mark.parametrize("listed", [0, 9], ids=["listed", "not listed"])
def test_the_rerun_s_id_beside_the_first_s_attempts_is_exact(job: Job, listed: int) -> None:
    """The first is the newest attempt before it, whatever came later and however late the listing is."""
    job.attempts(3)
    made = [
        job.upload(f"bundle-{n}", one, attempt=n) for n, one in ((1, failed(1)), (2, dropped(2)), (3, make_capture(3)))
    ]
    made[1].listed_after = listed
    inputs = {"first_artifact": "bundle-{attempt}", "rerun_artifact": "bundle-{attempt}"}

    outcome = job.gate(wait_seconds="0", **inputs, rerun_artifact_id=str(made[1].id))

    assert outcome.said == ("unclassified", False, "split-oracle")
    assert sides(outcome) == [str(made[0].id), str(made[1].id)]


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
    assert "inputs first-artifact-id and first-run-id" in outcome.log


def test_equal_bytes_that_count_as_one_are_named(job: Job) -> None:
    """The second attempt did upload something: the same once more."""
    job.attempts(2)
    payload = make_bundle(dropped(1))
    for attempt in (1, 2):
        job.run.add_artifact("bundle", payload, created_at=f"2026-11-29T{7 + attempt:02}:10:00Z")

    outcome = job.gate(**ONE_NAME)

    assert outcome.said[0] == "unclassified"
    assert "not counting 1 more with the same bytes" in outcome.text


# ---- what other attempts left --------------------------------------------------------------------------------------


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
    """P24: where an attempt left nothing under a name that tells, all that it left is looked at before a flake."""
    job.attempts(2)
    job.upload(earlier, failed(1), attempt=1)
    job.run.add_artifact("coverage", b"no zip", created_at="2026-11-29T08:12:00Z")
    made = job.upload(first, dropped(2), attempt=2), job.upload(rerun, make_capture(2), attempt=2)

    assert job.gate(**ids(*made)).said == ("unclassified", False, "earlier-fail")


@pytest.mark.parametrize("unknown", ["attempts API", "times", "expired"])
def test_what_was_made_nobody_knows_when_may_be_a_fail(job: Job, unknown: str) -> None:
    """An old server, uploads without a time, evidence that has expired: in doubt the freeze is forbidden."""
    job.attempts(2)
    job.upload("bundle-ab", failed(1), attempt=1, expired=unknown == "expired")
    made = job.upload("bundle-cd", dropped(2), attempt=2), job.upload("bundle-ef", make_capture(2), attempt=2)
    if unknown == "attempts API":
        job.github.fault(Fault("status", "GET", "/attempts/2$", status=404))
    if unknown == "times":
        listed_as(job, created_at=None)

    assert job.gate(**ids(*made)).said == ("unclassified", False, "earlier-fail")


def test_a_telling_name_without_evidence_tells_nothing(job: Job) -> None:
    """Attempt 1 left a log that is called as its bundle would be, and the bundle under a free name."""
    job.attempts(2)
    job.run.add_artifact("first-1", make_zip({"log.txt": b"crashed"}), created_at="2026-11-29T08:10:00Z")
    job.upload("bundle-ab", failed(1), attempt=1)
    upload(job, TWO_NAMES, "first", dropped(2))
    upload(job, TWO_NAMES, "rerun", make_capture(2))

    assert job.gate(wait_seconds="0", **TWO_NAMES).said == ("unclassified", False, "earlier-fail")


def test_a_number_in_a_shard_s_name_is_no_run_s(job: Job) -> None:
    """A server that says no run: `first-10-1` and `first-10-2` are two shards, and the fail of one cannot vanish."""
    job.attempts(2)
    for shard_of in (1, 2):
        for side in ("first", "rerun"):
            job.upload(
                f"{side}-10-{shard_of}", make_capture(2, fixture_id=f"s{shard_of}", oracle=shard_of != 1), attempt=2
            )
    listed_as(job, workflow_run=None, digest=None)

    assert job.gate(wait_seconds="0", **GLOBS).said == ("property_miss", False, "both-oracles-failed")


def test_what_is_no_evidence_forbids_no_freeze(job: Job) -> None:
    """The other attempt left a build and a log, and what the same attempt left besides is not even read."""
    job.attempts(2)
    job.run.add_artifact("build", b"no zip", created_at="2026-11-29T08:10:00Z")
    job.run.add_artifact("log", make_zip({"log.txt": b"cancelled"}), created_at="2026-11-29T08:11:00Z")
    made = job.upload("bundle-cd", dropped(2), attempt=2), job.upload("bundle-ef", make_capture(2), attempt=2)
    job.upload("bundle-gh", failed(2), attempt=2)

    assert job.gate(**ids(*made)).said == ("harness_flake", True, "transport-fault")
    assert len([call for call in api_calls(job.github) if call.endswith("/zip")]) == 4


@pytest.mark.parametrize(
    "names", [("first-1", "rerun-1", "rerun-2"), ("ab", "cd", "ef")], ids=["numbers", "free names"]
)
def test_a_fail_beside_a_first_run_that_was_not_run_again_is_found(job: Job, names: tuple[str, str, str]) -> None:
    """P24: the first job ran in attempt 1 alone, the rerun's job failed there, and passed in attempt 2."""
    job.attempts(2)
    first = job.upload(names[0], dropped(1), attempt=1)
    job.upload(names[1], failed(1), attempt=1)
    rerun = job.upload(names[2], make_capture(2), attempt=2)

    assert job.gate(**ids(first, rerun)).said == ("unclassified", False, "earlier-fail")


def test_an_unreadable_capture_of_another_attempt_closes_the_door(job: Job) -> None:
    """A shard that nobody merged: it has the ending of the capture action, and nobody can see that it is no fail."""
    job.attempts(2)
    job.run.add_artifact("first-shard-a-4242-1", b"no zip", created_at="2026-11-29T08:10:00Z")
    made = job.upload("first-4242-2", dropped(2), attempt=2), job.upload("rerun-4242-2", make_capture(2), attempt=2)

    assert job.gate(**ids(*made)).said == ("unclassified", False, "earlier-fail")


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


# ---- shards that hold nothing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", [("first", "rerun"), ("first",), ("rerun",)], ids="+".join)
@pytest.mark.parametrize("first", [make_capture(1), dropped(1)], ids=["green", "frozen"])
def test_a_shard_without_a_record_cannot_vanish(job: Job, lost: tuple[str, ...], first: Capture) -> None:
    """A7 in a set: neither beside green pairs, nor beside a flake that a freeze mutes."""
    job.repository.add_file(POLICY, policy())
    job.upload("first-0", first)
    job.upload("rerun-0", make_capture(1))
    shard(job, "first", 1)
    shard(job, "rerun", 1)
    for side in lost:
        job.run.add_artifact(f"{side}-9", make_zip({"freeze-gate/log.txt": b"crashed"}))

    outcome = job.gate(**GLOBS)

    assert (outcome.code, outcome.said) == (1, ("unclassified", False, "record-missing"))
    document = json.loads((job.workspace / "freeze-gate-verdict.json").read_bytes())
    assert {f"{side}-9" for side in lost} <= {source["label"] for source in document["case"]["sources"]}
