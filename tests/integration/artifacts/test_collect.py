"""What the runs list: many artifacts, late ones, shards, other runs."""

import json
import time
from typing import Any

import pytest

from tests.builders.bundle import Capture, make_bundle, make_capture
from tests.builders.policy import POLICY_PATH, make_policy
from tests.builders.zip import make_zip
from tests.standin import Pretended
from tests.support.attempts import (
    BY_ATTEMPT,
    GLOBS,
    ONE_NAME,
    PLAIN,
    TWO_NAMES,
    dropped,
    failed,
    ids,
    shard,
    sides,
    upload,
)
from tests.support.gate_job import Job, api_calls


@pytest.mark.parametrize("count", [131, 1000])
def test_the_wanted_ones_are_found_among_many(job: Job, count: int) -> None:
    """They stand on the last page of the listing."""
    payload = make_bundle(make_capture())
    job.pair(failed(1), failed(1))
    for number in range(count - 2):
        job.run.add_artifact(f"other-{number}", payload)

    outcome = job.gate()

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert len(api_calls(job.github)) == -(-count // 100) + 2


def test_a_listing_that_lags_is_asked_again(job: Job, pretended: Pretended) -> None:
    """The first listing is empty; two seconds later the artifacts are there."""
    job.pair(failed(1), failed(1))
    for artifact in job.run.artifacts:
        artifact.listed_after = 1

    assert job.gate(pretended.clock, wait_seconds="10").said == ("property_miss", False, "both-oracles-failed")


def test_a_listing_that_stays_empty_names_both_causes(job: Job, pretended: Pretended) -> None:
    """The wait is bounded, and the message says what could be wrong."""
    began = time.monotonic()

    outcome = job.gate(pretended.clock, wait_seconds="3")

    assert outcome.said == ("unclassified", False, "artifact-missing")
    assert time.monotonic() - began < 30
    assert "`actions: read`" in outcome.text
    assert outcome.code == 1


@pytest.mark.parametrize("inputs", [ONE_NAME, BY_ATTEMPT], ids=["one name", "{attempt}"])
def test_older_attempts_are_not_judged_while_the_newest_is_not_listed(
    job: Job, pretended: Pretended, inputs: dict[str, str]
) -> None:
    """Attempts 1 and 2 would be a flake, which a freeze may mute; attempt 3 failed."""
    job.attempts(3)
    for capture in (dropped(1), make_capture(2)):
        upload(job, inputs, "first", capture)
    newest = upload(job, inputs, "rerun", failed(3), listed_after=1)

    outcome = job.gate(pretended.clock, wait_seconds="60", **inputs)

    assert outcome.said == ("unclassified", False, "split-oracle")
    assert sides(outcome)[1] == str(newest.id)


@pytest.mark.parametrize("inputs", [TWO_NAMES, PLAIN], ids=["{attempt}", "plain names"])
@pytest.mark.parametrize("late", ["first", "rerun"])
def test_neither_side_is_taken_from_an_older_attempt_while_its_own_is_not_listed(
    job: Job, pretended: Pretended, inputs: dict[str, str], late: str
) -> None:
    """Whichever of two jobs of the second attempt is listed late, its fail is seen."""
    job.attempts(2)
    for side in ("first", "rerun"):
        upload(job, inputs, side, dropped(1) if side == "first" else make_capture(1))
        upload(job, inputs, side, failed(2) if side == late else dropped(2), listed_after=int(side == late))

    outcome = job.gate(pretended.clock, wait_seconds="60", **inputs)

    assert outcome.said == ("unclassified", False, "split-oracle")


def test_an_artifact_that_never_comes_is_not_waited_for_for_ever(job: Job, pretended: Pretended) -> None:
    """The gate's job alone was run again: what the attempts before it left is all there is."""
    job.attempts(3)
    for capture in (dropped(1), make_capture(2)):
        upload(job, BY_ATTEMPT, "first", capture)

    outcome = job.gate(pretended.clock, wait_seconds="3", **BY_ATTEMPT)

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert len([call for call in api_calls(job.github) if call.endswith("/artifacts")]) == 2
    assert "Attempt 3 of run 4242 left no artifact named bundle-{attempt}: what attempts 1 and 2 left was compared" in (
        outcome.text
    )


@pytest.mark.parametrize("inputs", [ONE_NAME, BY_ATTEMPT], ids=["one name", "{attempt}"])
def test_two_attempts_are_not_green_after_a_newer_one_that_left_nothing(job: Job, inputs: dict[str, str]) -> None:
    """Attempt 3 was cancelled, or crashed before its upload: the pass of the two before it is no pass of the patch."""
    job.attempts(3)
    for capture in (make_capture(1), make_capture(2)):
        upload(job, inputs, "first", capture)

    outcome = job.gate(**inputs)

    assert outcome.said == ("unclassified", False, "artifact-missing")
    assert outcome.code == 1
    assert "attempts 1 and 2 were compared, and the run is at attempt 3" in outcome.text
    assert "Attempt 3 of run 4242 left no artifact named bundle" in outcome.text


@pytest.mark.parametrize("inputs", [ONE_NAME, BY_ATTEMPT], ids=["one name", "{attempt}"])
def test_a_miss_of_two_attempts_stands_after_a_newer_one_that_left_nothing(job: Job, inputs: dict[str, str]) -> None:
    """The summary says which attempts it is about."""
    job.attempts(3)
    for capture in (failed(1), failed(2)):
        upload(job, inputs, "first", capture)

    outcome = job.gate(**inputs)

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert "what attempts 1 and 2 left was compared" in outcome.text


@pytest.mark.parametrize("inputs", [TWO_NAMES, PLAIN], ids=["{attempt}", "plain names"])
def test_a_gate_that_is_run_again_alone_keeps_the_green_of_two_jobs(job: Job, inputs: dict[str, str]) -> None:
    """Both jobs passed in attempt 1, and only the gate's job was run again: the summary says so."""
    job.attempts(2)
    for side in ("first", "rerun"):
        job.upload(inputs[f"{side}_artifact"].replace("{attempt}", "1"), make_capture(1), attempt=1)

    outcome = job.gate(**inputs)

    assert outcome.said == ("unclassified", False, "green")
    assert outcome.code == 0
    assert "Attempt 2 of run 4242 left no artifact named first" in outcome.text


def test_attempts_that_are_named_exactly_are_compared_without_a_note(job: Job) -> None:
    """Whoever names attempts 1 and 2 of three does not ask for the third."""
    job.attempts(3)
    for attempt in (1, 2):
        job.upload(f"bundle-4242-{attempt}", make_capture(attempt), attempt=attempt)

    outcome = job.gate(first_artifact="bundle-4242-1", rerun_artifact="bundle-4242-2")

    assert outcome.said == ("unclassified", False, "green")
    assert "left no artifact" not in outcome.text


def test_nothing_is_waited_for_where_ids_say_all(job: Job, pretended: Pretended) -> None:
    """Of another run, while the gate's own has no artifact at all."""
    other = job.repository.add_run(77)
    first, rerun = (job.upload(name, failed(1, run_id=77), run=other) for name in ("first", "rerun"))

    outcome = job.gate(pretended.clock, wait_seconds="60", **ids(first, rerun))

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert [call for call in api_calls(job.github) if call.endswith("/4242/artifacts")] == [
        "GET actions/runs/4242/artifacts"
    ]


@pytest.mark.parametrize("by_id", ["first", "rerun"])
def test_a_name_is_waited_for_beside_an_id_that_it_does_not_fit(job: Job, pretended: Pretended, by_id: str) -> None:
    """The id says nothing of the other side, whose newest attempt failed and is listed late."""
    job.attempts(2)
    for side, capture in (("first", dropped(1)), ("rerun", make_capture(1))):
        upload(job, TWO_NAMES, side, capture)
    late = upload(job, TWO_NAMES, "rerun" if by_id == "first" else "first", failed(2), listed_after=1)
    known = upload(job, TWO_NAMES, by_id, dropped(2) if by_id == "first" else make_capture(2))
    inputs = {**TWO_NAMES, f"{by_id}_artifact": "", f"{by_id}_artifact_id": str(known.id)}

    outcome = job.gate(pretended.clock, wait_seconds="60", **inputs)

    assert outcome.said == ("unclassified", False, "split-oracle")
    assert str(late.id) in sides(outcome)


def test_another_run_is_not_waited_for(job: Job, pretended: Pretended) -> None:
    """A nightly run that was over long ago, by a name with its attempt."""
    other = job.repository.add_run(77)
    job.upload("nightly-77-1", failed(1, run_id=77), run=other)
    job.upload("nightly-4242-1", failed(1))
    inputs = {"first_run_id": "77", "first_artifact": "nightly-77-{attempt}", "rerun_artifact": "nightly-4242-1"}

    assert job.gate(pretended.clock, wait_seconds="60", **inputs).said[0] == "property_miss"
    assert len(api_calls(job.github)) == 4


def test_a_name_that_says_its_attempt_is_not_waited_for(job: Job, pretended: Pretended) -> None:
    """Attempts 1 and 2 of three, each by its own name."""
    job.attempts(3)
    names = [job.upload(f"bundle-4242-{n}", failed(n), attempt=n).name for n in (1, 2, 3)]

    outcome = job.gate(pretended.clock, wait_seconds="60", first_artifact=names[0], rerun_artifact=names[1])

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert len(api_calls(job.github)) == 3


def test_an_artifact_that_nobody_asked_for_does_not_stop_the_gate(job: Job) -> None:
    """Whatever its name holds, and with times that are finer than a second."""
    job.attempts(2)
    old = job.upload("bundle", dropped(1), attempt=1, created_at="2026-11-29T08:10:00.7Z")
    new = job.upload("bundle", make_capture(2), attempt=2, created_at="2026-11-29T09:10:00.07Z")
    job.upload("another\x1b[2J\n", make_capture(2), attempt=2)

    outcome = job.gate(**ONE_NAME)

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert sides(outcome) == [str(old.id), str(new.id)]


UNREADABLE = [{"name": None}, {"size_in_bytes": "many"}, {"created_at": "yesterday"}]


@pytest.mark.parametrize("description", UNREADABLE, ids=str)
def test_an_unreadable_artifact_that_nobody_asked_for_is_left_out_with_a_note(
    job: Job, description: dict[str, Any]
) -> None:
    """The run has one attempt, and both names are found: it can be neither side, and no other attempt's evidence."""
    job.pair(dropped(1), make_capture(1))
    job.upload("coverage", make_capture(1), description=description)

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert "whose description cannot be read" in outcome.text
    assert "left out" in outcome.text


@pytest.mark.parametrize(
    ("inputs", "names", "description"),
    [
        (PLAIN, ("first", "rerun"), {"size_in_bytes": "many"}),
        (GLOBS, ("first-2", "first-1", "rerun-1"), {"size_in_bytes": "many"}),
        (GLOBS, ("first-2", "first-1", "rerun-1"), {"name": None}),
        (ONE_NAME, ("first", "bundle"), {"name": None}),
    ],
    ids=[
        "the name asked for",
        "a name that a glob matches",
        "no name beside globs",
        "no name beside one attempt",
    ],
)
def test_an_unreadable_artifact_that_may_be_what_was_asked_for_is_no_verdict(
    job: Job, inputs: dict[str, str], names: tuple[str, ...], description: dict[str, Any]
) -> None:
    """A shard, a side or an attempt may be in it: what is not described is not absent."""
    unreadable, *readable = names
    job.upload(unreadable, failed(1), description=description)
    for name in readable:
        job.upload(name, make_capture(1))

    outcome = job.gate(**inputs)

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 3
    assert "which may be what input `first-artifact` asks for" in outcome.text


@pytest.mark.parametrize("inputs", [GLOBS, ONE_NAME], ids=["globs", "one name"])
@pytest.mark.parametrize("first", [dropped(1), make_capture(1)], ids=["a flake", "green"])
def test_a_listing_that_stays_shorter_than_its_count_is_no_evidence_of_absence(
    job: Job, pretended: Pretended, inputs: dict[str, str], first: Capture
) -> None:
    """A shard that failed, or a newer attempt that did, is counted and not listed."""
    if inputs is GLOBS:
        job.upload("first-1", first)
        job.upload("rerun-1", make_capture(1))
    else:
        job.attempts(3)
        job.upload("bundle", first, attempt=1)
        job.upload("bundle", make_capture(2), attempt=2)
    job.upload("first-2" if inputs is GLOBS else "bundle", failed(3), unlisted=True)

    outcome = job.gate(pretended.clock, wait_seconds="60", **inputs)

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 3
    assert "an artifact that GitHub counts and does not list" in outcome.text
    assert "run this again in some minutes" in outcome.text


def test_an_unlisted_artifact_cannot_hide_in_a_run_of_one_attempt_whose_names_are_found(job: Job) -> None:
    """An attempt takes a name once: the verdict stands, with a note."""
    job.pair(make_capture(1), make_capture(1))
    job.upload("coverage", make_capture(1), unlisted=True)

    outcome = job.gate()

    assert outcome.said == ("unclassified", False, "green")
    assert outcome.code == 0
    assert "an artifact that GitHub counts and does not list: left out" in outcome.text


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


def test_shards_are_paired_by_fixture(job: Job) -> None:
    """Globs: the worst pair decides."""
    for number in range(4):
        shard(job, "first", number, oracle=number != 2)
        shard(job, "rerun", number, oracle=number != 2)

    outcome = job.gate(**GLOBS)

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert "4 pairs" in outcome.summary
    assert "`expected-fixtures` is not set" in outcome.summary


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


def test_a_record_that_another_shard_lacks_is_no_older_attempt(job: Job) -> None:
    """Shard a was not re-run, shard b was, and its rerun has no record of b2."""
    job.attempts(2)
    for side in ("first", "rerun"):
        job.upload(f"{side}-a-4242-1", make_capture(1, fixture_id="a"), attempt=1)
    job.upload("first-b-4242-2", make_capture(2, fixture_id="b1"), make_capture(2, fixture_id="b2"), attempt=2)
    job.upload("rerun-b-4242-2", make_capture(2, fixture_id="b1"), attempt=2)

    outcome = job.gate(wait_seconds="0", **GLOBS)

    assert outcome.said == ("unclassified", False, "record-missing")


@pytest.mark.parametrize("lost", [("first", "rerun"), ("first",), ("rerun",)], ids="+".join)
@pytest.mark.parametrize("first", [make_capture(1), dropped(1)], ids=["green", "frozen"])
def test_a_shard_without_a_record_cannot_vanish(job: Job, lost: tuple[str, ...], first: Capture) -> None:
    """Neither beside green pairs, nor beside a flake that a freeze mutes."""
    job.repository.add_file(POLICY_PATH, make_policy())
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
