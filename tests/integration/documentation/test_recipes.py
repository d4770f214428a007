"""The README's workflows, driven through the stand-in: how the job that a branch protection requires ends.

A required check that was skipped counts as passed, so "not green" here always means that the gate's job ran and failed.
"""

import secrets
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, NamedTuple

import pytest

from freeze_gate.evidence.digest import Sha256
from tests.builders.bundle import Capture, make_capture
from tests.builders.record import COMMIT, OTHER_SAMPLE, SAMPLE
from tests.standin.state import Grant
from tests.support import webhook_events as events
from tests.support.actions_emulator import JobPlan, Workflow, WorkflowResult, captures, told
from tests.support.gate_job import Job, api_calls
from tests.support.readme import section
from tests.support.recipes import RECIPES

REQUIRED = [recipe for recipe in RECIPES if recipe != "fork"]
"""Those that can be required; the companion for forks runs beside the pull request, on the default branch."""

PASSED, FAILED = make_capture(), make_capture(oracle=False)
DRIFTED = make_capture(pin=OTHER_SAMPLE)
DROPPED = make_capture(oracle=None, transport=False)
NO_ANSWER = make_capture(pin=None, oracle=None, transport=False)
"""What a run may have recorded. An oracle that a time limit or a cancelled job ended is on record as failed."""

CLASSES = {
    "property_miss": (FAILED, FAILED, "both-oracles-failed"),
    "fixture_drift": (FAILED, DRIFTED, "digests-differ"),
    "harness_flake": (DROPPED, PASSED, "transport-fault"),
    "unclassified": (FAILED, PASSED, "split-oracle"),
}
SHARDS = "abcd"


class RecipeRun(NamedTuple):
    """A recipe in a repository with pull request 12."""

    recipe: str
    job: Job

    def run(self, first: JobPlan, rerun: JobPlan | None = None) -> WorkflowResult:
        """Let both runs take place as the recipe has them, and return how the gate's job ended after the last."""
        if self.recipe == "two-runs":
            ended = self.workflow().attempt({"capture": first})
            return ended if rerun is None else self.workflow(dispatched=True).attempt({"capture": rerun})
        workflow = self.workflow()
        if self.recipe == "attempts":
            ended = workflow.attempt({"capture": first})
            return ended if rerun is None else self.again(workflow, {"capture": rerun})
        return workflow.attempt(self.became(first, rerun))

    def workflow(self, *, dispatched: bool = False) -> Workflow:
        """Let the recipe's event take place. `dispatched`: a person names run 4242 to compare with."""
        if dispatched:
            inputs = {"first-run-id": "4242"}
            return Workflow(self.recipe, self.job, events.workflow_dispatch(self.job, inputs), inputs)
        happen = {"merge-queue": events.merge_group, "two-runs": events.schedule}
        return Workflow(self.recipe, self.job, happen.get(self.recipe, events.pull_request)(self.job))

    def became(self, first: JobPlan, rerun: JobPlan | None = None) -> dict[str, JobPlan]:
        """Say what becomes of each job; of a matrix's shards, of the first one, while the others pass."""
        rerun = rerun or JobPlan("success", PASSED)
        if self.recipe != "matrix":
            return {"first": first, "rerun": rerun}
        others = {f"{side}/{shard}": done(PASSED) for side in ("first", "rerun") for shard in SHARDS[1:]}
        return {"first/a": first, "rerun/a": rerun, **others}

    def again(self, workflow: Workflow, became: dict[str, JobPlan], **how: Any) -> WorkflowResult:
        """Press a rerun button: one attempt more."""
        self.job.attempts(len(self.job.run.attempts) + 1)
        return workflow.attempt(became, **how)

    def freeze(self) -> None:
        """Merge a freeze of the sample into the default branch, for this pull request where the recipe knows one."""
        today = datetime.now(UTC).date()
        fixture = "sorted-patch-a" if self.recipe == "matrix" else "sorted-patch"
        only = "" if self.recipe == "two-runs" else "\n    pull_request: 12"
        self.job.repository.add_file(
            ".github/freeze-gate.yml",
            f"""\
schema: freeze-gate/policy/1
freezes:
  - fixture_id: {fixture}
    fixture_sha256: {Sha256.of(SAMPLE)}
    owner: "@octo-org/harness"
    reason: executor lane drops connections
    added: {today - timedelta(days=1)}
    expires: {today + timedelta(days=7)}
    unfreeze_when: lane upgrade is out{only}
""".encode(),
        )


@pytest.fixture(params=REQUIRED)
def play(request: pytest.FixtureRequest, job: Job) -> RecipeRun:
    """Return a recipe that can be a required check: each, or those that the test names."""
    return RecipeRun(request.param, job)


def done(evidence: Capture | None, result: str = "success") -> JobPlan:
    """Return a job with a capture of its own: what was captured once and uploaded twice is none of two runs."""
    return JobPlan(result, evidence and evidence.changed(run={"capture_id": secrets.token_hex(16)}))


def red(evidence: Capture | None) -> JobPlan:
    """Return a job that failed."""
    return done(evidence, "failure")


def rerun_of(evidence: Capture) -> JobPlan:
    """Return the rerun's job: red where its evidence is."""
    return done(evidence, "success" if evidence in (PASSED, DRIFTED) else "failure")


def test_a_success_ends_green(play: RecipeRun) -> None:
    """Where the capture job passes, the gate does not look, and its job passes."""
    assert play.run(done(PASSED)) == ("success", None)


@pytest.mark.parametrize("recipe", ["two-jobs", "matrix", "merge-queue"])
def test_a_success_is_not_run_again(job: Job, recipe: str) -> None:
    """There is nothing to compare."""
    play = RecipeRun(recipe, job)
    workflow = play.workflow()

    workflow.attempt(play.became(done(PASSED)))

    assert workflow.ran("first")
    assert not workflow.ran("rerun")


@pytest.mark.parametrize("name", CLASSES)
def test_each_class_blocks_and_posts_what_it_should(play: RecipeRun, name: str) -> None:
    """Of the four classes each ends red; a flake is labelled where the pull request's head was tested."""
    first, rerun, reason = CLASSES[name]

    ended = play.run(red(first), rerun_of(rerun))

    assert ended.gate
    assert ended.gate.said == (name, name == "harness_flake", reason)
    assert ended.conclusion == "failure"
    labelled = name == "harness_flake" and play.recipe in ("two-jobs", "attempts", "matrix")
    assert play.job.pull.issue.labels == (["freeze-request"] if labelled else [])
    tickets = [issue.title for issue in play.job.repository.issues.values() if not issue.pull]
    fixture = "sorted-patch-a" if play.recipe == "matrix" else "sorted-patch"
    assert tickets == ([f"Refresh fixture: {fixture}"] if name == "fixture_drift" else [])


@pytest.mark.parametrize("name", CLASSES)
def test_a_freeze_turns_a_flake_green_and_nothing_else(play: RecipeRun, name: str) -> None:
    """What reviewers merged covers a harness flake alone."""
    play.freeze()
    first, rerun, _ = CLASSES[name]

    ended = play.run(red(first), rerun_of(rerun))

    assert ended.conclusion == ("success" if name == "harness_flake" else "failure")
    assert not play.job.pull.issue.labels


def test_a_job_that_is_red_for_another_reason_stays_red(play: RecipeRun) -> None:
    """Both runs' evidence is green, so it does not show why the job is red."""
    ended = play.run(red(PASSED), red(PASSED))

    assert ended.gate
    assert ended.gate.said == ("unclassified", False, "green")
    assert ended.gate.code == 0
    assert ended.conclusion == "failure"


@pytest.mark.parametrize("play", [name for name in REQUIRED if name != "attempts"], indirect=True)
def test_a_rerun_that_passes_does_not_explain_why_the_first_run_was_red(play: RecipeRun) -> None:
    """With two jobs or two runs the first one's red stands, and green evidence does not explain it."""
    assert play.run(red(PASSED), done(PASSED)).conclusion == "failure"


RECORDED = {"nothing": None, "passed": PASSED, "dropped": DROPPED}


class CaptureResult(NamedTuple):
    """What became of a capture job, and what it recorded."""

    result: str
    recorded: str

    @property
    def explained(self) -> bool:
        """Whether the job is not red, or its own record says why."""
        return self.result == "success" or (self.result == "failure" and self.recorded == "dropped")

    @property
    def did(self) -> JobPlan:
        """The same, with a capture of its own."""
        return done(RECORDED[self.recorded], self.result)


def _may_be_green(recipe: str, first: CaptureResult, second: CaptureResult) -> bool:
    """Say whether a merged freeze covers what became of the two jobs: all that is red in a run is then a flake."""
    muted = {first.recorded, second.recorded} == {"dropped", "passed"}
    if recipe == "attempts":  # the first attempt is over, and this one ran all of the job again
        passed = second.result == "success" and first.recorded == second.recorded == "passed"
        return second.explained and (muted or passed)
    if recipe == "two-runs":  # nobody knows how the first run ended but that it was red
        return muted and first.recorded == "dropped" and second.explained
    return muted and first.result == "failure" and first.explained and second.explained


@pytest.mark.parametrize("recorded", RECORDED)
@pytest.mark.parametrize("result", ["failure", "cancelled"])
def test_red_ends_green_only_by_a_freeze_of_a_whole_pair(play: RecipeRun, result: str, recorded: str) -> None:
    """Whatever becomes of the two jobs, a merged freeze covers only a flake on record of jobs that came to their end.

    Cancelled, timed out (which a run reports as failed or as cancelled), skipped, no artifact id, red for another
    reason than its own record shows, though the other's shows one: none of it ends green.
    """
    play.freeze()
    first = CaptureResult(result, recorded)
    reruns = play.recipe in ("attempts", "two-runs") or result == "failure"
    seconds = [CaptureResult(*one) for one in product(("success", "failure", "cancelled"), RECORDED)]
    for second in seconds if reruns else [CaptureResult("success", "passed")]:
        _start_over(play.job)
        ended = play.run(first.did, second.did)
        assert (ended.conclusion == "success") == _may_be_green(play.recipe, first, second), second


@pytest.mark.parametrize("side", ["first", "rerun"])
def test_a_capture_that_failed_beside_a_green_record_is_no_half_of_a_muted_pair(play: RecipeRun, side: str) -> None:
    """A later line of its sampler failed, and it uploaded nothing; what the other run recorded does not cover that."""
    play.freeze()
    hidden = done(PASSED, "failure")._replace(within=True)

    ended = play.run(hidden, red(DROPPED)) if side == "first" else play.run(red(DROPPED), hidden)

    assert ended.gate
    missing = "record-missing" if play.recipe == "matrix" else "artifact-missing"
    assert ended.gate.said == ("unclassified", False, missing)
    assert ended.conclusion == "failure"


@pytest.mark.parametrize(
    ("side", "result"), [("first", "failure"), ("rerun", "failure"), ("first", "cancelled"), ("rerun", "cancelled")]
)
def test_no_shard_that_is_red_beside_a_green_record_hides_behind_a_frozen_flake(
    job: Job, side: str, result: str
) -> None:
    """The matrix says one result for all; how each shard's job ended, GitHub says."""
    play = RecipeRun("matrix", job)
    play.freeze()
    frozen = play.became(red(DROPPED), done(PASSED))
    assert play.workflow().attempt(frozen).conclusion == "success"
    _start_over(job)

    ended = play.workflow().attempt(frozen | {f"{side}/b": done(PASSED, result)})

    assert ended.gate
    assert ended.gate.outputs["freeze-active"] == "true"
    assert ended.conclusion == "failure"


@pytest.mark.parametrize("explained", [True, False], ids=["all is on record", "a shard is red beside a green record"])
def test_the_gate_of_a_matrix_that_is_run_again_alone_knows_how_the_shards_ended(job: Job, *, explained: bool) -> None:
    """The freeze was merged meanwhile; the shards are those of the attempt before."""
    play = RecipeRun("matrix", job)
    workflow = play.workflow()
    shard = {} if explained else {"first/b": red(PASSED)}
    workflow.attempt(play.became(red(DROPPED), done(PASSED)) | shard)
    play.freeze()

    ended = play.again(workflow, {}, only=["gate"])

    assert ended.gate
    assert ended.gate.outputs["freeze-active"] == "true"
    assert ended.conclusion == ("success" if explained else "failure")


def test_more_jobs_than_one_answer_holds_are_not_passed_over(job: Job) -> None:
    """A hundred come at once; nothing is known of the others."""
    play = RecipeRun("matrix", job)
    play.freeze()
    workflow = play.workflow()
    workflow.other_jobs = 100

    assert workflow.attempt(play.became(red(DROPPED), done(PASSED))).conclusion == "failure"


@pytest.mark.parametrize("sides", [("first",), ("rerun",), ("first", "rerun")], ids="-".join)
def test_a_cancelled_shard_that_left_nothing_is_seen_behind_one_that_failed(job: Job, sides: tuple[str, ...]) -> None:
    """The matrix says only "failure"; the missing record is named, on one side or on both."""
    play = RecipeRun("matrix", job)
    play.freeze()
    gone = {f"{side}/b": done(None, "cancelled") for side in sides}

    ended = play.workflow().attempt(play.became(red(DROPPED), red(PASSED)) | gone)

    assert ended.gate
    assert ended.gate.said == ("unclassified", False, "record-missing")
    assert "sorted-patch-b" in ended.gate.summary
    assert ended.conclusion == "failure"


def _start_over(job: Job) -> None:
    job.repository.runs.clear()
    job.run = job.repository.add_run(4242)
    job.environ |= {"GITHUB_RUN_ID": "4242", "GITHUB_RUN_ATTEMPT": "1"}


def test_a_run_that_was_cancelled_as_a_whole_ends_red(play: RecipeRun) -> None:
    """The gate's job runs all the same, finds no pair, and is not skipped into a pass."""
    play.freeze()
    workflow = play.workflow()
    became = play.became(done(DROPPED, "cancelled"))
    if play.recipe in ("attempts", "two-runs"):
        became = {"capture": done(DROPPED, "cancelled")}

    assert workflow.attempt(became, cancelled=True).conclusion == "failure"


JOBS = ["two-jobs", "matrix", "merge-queue"]
"""The recipes in which first run and rerun are jobs of one run."""


@pytest.mark.parametrize("play", JOBS, indirect=True)
@pytest.mark.parametrize("result", ["failure", "cancelled"])
def test_evidence_of_an_earlier_attempt_speaks_for_no_later_one(play: RecipeRun, result: str) -> None:
    """An attempt that leaves nothing is judged by nothing, though a muted pair of the attempt before is there."""
    play.freeze()
    workflow = play.workflow()
    assert workflow.attempt(play.became(red(DROPPED), done(PASSED))).conclusion == "success"

    ended = play.again(workflow, dict.fromkeys(play.became(done(None)), done(None, result)))

    assert ended.gate
    assert ended.gate.said == ("unclassified", False, "artifact-missing")
    assert ended.conclusion == "failure"


@pytest.mark.parametrize(
    "last",
    [JobPlan("failure"), JobPlan("cancelled"), JobPlan("failure", FAILED, lost=True)],
    ids=["nothing", "cancelled", "lost"],
)
def test_a_third_attempt_that_left_nothing_is_not_judged_by_the_two_before(job: Job, last: JobPlan) -> None:
    """With attempts, the newest pair is muted; the attempt that came to nothing is red all the same."""
    play = RecipeRun("attempts", job)
    play.freeze()
    workflow = play.workflow()
    workflow.attempt({"capture": red(DROPPED)})
    assert play.again(workflow, {"capture": done(PASSED)}).conclusion == "success"

    assert play.again(workflow, {"capture": last}).conclusion == "failure"


def test_a_third_attempt_whose_artifact_is_not_listed_yet_is_judged_all_the_same(job: Job) -> None:
    """The gate knows its id from the job, so a listing that lags does not leave it with the muted pair before."""
    play = RecipeRun("attempts", job)
    play.freeze()
    workflow = play.workflow()
    workflow.attempt({"capture": red(DROPPED)})
    assert play.again(workflow, {"capture": done(PASSED)}).conclusion == "success"

    workflow.listed_after = 3
    ended = play.again(workflow, {"capture": red(FAILED)})

    assert ended.gate
    assert ended.gate.said == ("unclassified", False, "split-oracle")
    assert ended.conclusion == "failure"


def test_once_a_freeze_is_merged_the_gate_alone_can_be_run_again(play: RecipeRun) -> None:
    """Jobs that are not run again keep their results and outputs, so the pair is the same, and muted now."""
    workflow = play.workflow()
    if play.recipe in JOBS:
        ended = workflow.attempt(play.became(red(DROPPED), done(PASSED)))
    else:
        workflow.attempt({"capture": red(DROPPED)})
        if play.recipe == "two-runs":
            workflow = play.workflow(dispatched=True)
            ended = workflow.attempt({"capture": done(PASSED)})
        else:
            ended = play.again(workflow, {"capture": done(PASSED)})
    assert ended.conclusion == "failure"

    play.freeze()

    assert play.again(workflow, {}, only={"gate"}).conclusion == "success"


def test_the_rerun_alone_can_be_run_again(job: Job) -> None:
    """The first run's evidence is of attempt 1, the rerun's of attempt 2: a pair, as their jobs' outputs say."""
    play = RecipeRun("two-jobs", job)
    workflow = play.workflow()
    workflow.attempt(play.became(red(DROPPED), red(None)))

    ended = play.again(workflow, {"rerun": done(PASSED)}, only={"rerun", "gate"})

    assert ended.gate
    assert ended.gate.said == ("harness_flake", True, "transport-fault")


def test_a_fail_cannot_be_rerun_away_by_attempts(job: Job) -> None:
    """The second attempt passes, so its job is green; the gate looks at both all the same."""
    ended = RecipeRun("attempts", job).run(red(FAILED), done(PASSED))

    assert ended.gate
    assert ended.gate.said == ("unclassified", False, "split-oracle")
    assert ended.conclusion == "failure"


def test_two_passes_in_a_row_end_green_by_attempts(job: Job) -> None:
    """What came before them is not looked at: nothing is muted, and the README says so."""
    play = RecipeRun("attempts", job)
    workflow = play.workflow()
    workflow.attempt({"capture": red(FAILED)})
    assert play.again(workflow, {"capture": done(PASSED)}).conclusion == "failure"

    assert play.again(workflow, {"capture": done(PASSED)}).conclusion == "success"
    assert "Two passes in a row are green" in " ".join(section("Re-run failed jobs").split())


@pytest.mark.parametrize("evidence", [None, NO_ANSWER], ids=["no evidence", "no answer"])
def test_an_attempt_that_left_nothing_blocks_until_two_in_a_row_have(job: Job, evidence: Capture | None) -> None:
    """Running the gate alone again, as "Re-run failed jobs" does then, changes nothing; running all jobs does."""
    play = RecipeRun("attempts", job)
    workflow = play.workflow()
    workflow.attempt({"capture": red(evidence)})
    assert play.again(workflow, {"capture": red(evidence)}).conclusion == "failure"

    assert play.again(workflow, {"capture": done(PASSED)}).conclusion == "failure"
    assert play.again(workflow, {}, only={"gate"}).conclusion == "failure"
    assert play.again(workflow, {"capture": done(PASSED)}).conclusion == "success"
    assert "press **Re-run all jobs** until two attempts in a row" in " ".join(section("Re-run failed jobs").split())


@pytest.mark.parametrize(
    ("earlier", "conclusion"), [(PASSED, "success"), (FAILED, "failure")], ids=["passed", "failed"]
)
def test_an_attempt_without_evidence_is_passed_over_by_the_next(job: Job, earlier: Capture, conclusion: str) -> None:
    """The newest attempt before it that left some is what it is compared with: a fail there is not forgotten."""
    play = RecipeRun("attempts", job)
    workflow = play.workflow()
    workflow.attempt({"capture": rerun_of(earlier)})
    assert play.again(workflow, {"capture": red(None)}).conclusion == "failure"

    assert play.again(workflow, {"capture": done(PASSED)}).conclusion == conclusion


def test_the_first_attempt_says_which_button_to_press(job: Job) -> None:
    """There is no pair yet, and the summary says how to get one."""
    ended = RecipeRun("attempts", job).run(red(FAILED))

    assert ended.gate
    assert ended.gate.said == ("unclassified", False, "artifact-missing")
    assert "Re-run failed jobs" in ended.gate.summary
    assert ended.conclusion == "failure"


def test_with_two_jobs_a_first_run_that_passes_in_a_later_attempt_ends_green(job: Job) -> None:
    """As any job does; the README says so, and which recipe looks at it all the same."""
    play = RecipeRun("two-jobs", job)
    workflow = play.workflow()
    workflow.attempt(play.became(red(FAILED), red(FAILED)))

    assert play.again(workflow, play.became(done(PASSED))) == ("success", None)


def test_a_red_nightly_is_red_before_anybody_reruns_it(job: Job) -> None:
    """Without a run to compare with, the gate's job only repeats what the capture job says."""
    assert RecipeRun("two-runs", job).run(red(DROPPED)) == ("failure", None)


def test_two_runs_of_two_commits_are_no_pair(job: Job) -> None:
    """The branch has moved on since the night."""
    play = RecipeRun("two-runs", job)
    play.workflow().attempt({"capture": red(DROPPED)})

    workflow = play.workflow(dispatched=True)
    job.run.head_sha = "e" * 40
    ended = workflow.attempt({"capture": done(PASSED.changed(run={"commit": "e" * 40}))})

    assert ended.gate
    assert ended.gate.said == ("unclassified", False, "commit-mismatch")


def test_a_nightly_flake_is_labelled_where_a_pull_request_has_its_head(job: Job) -> None:
    """As with one from `main` into a release branch."""
    job.pull.head_sha, job.pull.head_ref = COMMIT, "main"

    ended = RecipeRun("two-runs", job).run(red(DROPPED), done(PASSED))

    assert ended.gate
    assert ended.gate.said == ("harness_flake", True, "transport-fault")
    assert job.pull.issue.labels == ["freeze-request"]


def test_a_shard_that_vanished_from_both_sides_is_seen(job: Job) -> None:
    """Its id is expected, and nobody has a record of it."""
    play = RecipeRun("matrix", job)
    play.freeze()
    became = play.became(red(DROPPED), done(PASSED)) | {"first/c": red(None), "rerun/c": red(None)}

    ended = play.workflow().attempt(became)

    assert ended.gate
    assert ended.gate.said == ("unclassified", False, "record-missing")
    assert "sorted-patch-c" in ended.gate.summary
    assert ended.conclusion == "failure"


def test_the_merged_shards_cost_one_call_a_side(job: Job) -> None:
    """A listing and two downloads, however many shards there are."""
    play = RecipeRun("matrix", job)

    play.workflow().attempt(play.became(red(FAILED), red(FAILED)))

    assert len(api_calls(job.github)) == 3


def test_shards_that_were_not_run_again_have_no_evidence_in_the_new_attempt(job: Job) -> None:
    """Pressing "Re-run failed jobs" runs the failed shard of the first matrix and all that depends on it."""
    play = RecipeRun("matrix", job)
    workflow = play.workflow()
    workflow.attempt(play.became(red(FAILED), red(FAILED)))

    became = play.became(red(FAILED), red(FAILED)) | {f"first/{shard}": done(None) for shard in SHARDS[1:]}
    ended = play.again(workflow, became)

    assert ended.gate
    assert ended.gate.said == ("property_miss", False, "both-oracles-failed")
    assert "record-missing" in ended.gate.summary
    assert ended.conclusion == "failure"


def test_the_queue_names_the_pull_request_and_labels_nothing(job: Job) -> None:
    """A merge was tested, and no pull request has it as its head: a notice, and the number in the outputs."""
    ended = RecipeRun("merge-queue", job).run(red(DROPPED), done(replay_of(DROPPED)))

    assert ended.gate
    assert ended.gate.said == ("harness_flake", True, "transport-fault")
    assert ended.gate.outputs["pull-request"] == "12"
    assert ended.gate.outputs["label-posted"] == "false"
    assert not job.pull.issue.labels
    assert "the run tested the merge" in " ".join(words for level, words in ended.gate.annotations if level == "notice")
    assert "warning" not in {level for level, _ in ended.gate.annotations}


def replay_of(first: Capture) -> Capture:
    """Return the rerun that the queue's recipe makes: from the first run's pin, with no call of its own."""
    replayed = make_capture(transport=None, pin=first.pin)
    return replayed.changed(run={"replay_of": "f" * 32}, transport={"status_code": None})


READ_ONLY = Grant(issues="read", pull_requests="read", push=False)
"""What a token may do on a pull request from a fork or from Dependabot, whatever the workflow says."""


@pytest.fixture
def fork(job: Job) -> Job:
    """Return the job where the pull request comes from a fork."""
    stranger = job.github.repository("stranger/widgets", fork=True)
    job.run.head_repository = job.pull.head_repository = stranger
    return job


@pytest.mark.parametrize("name", CLASSES)
def test_on_a_pull_request_from_a_fork_the_verdict_stands_and_nothing_is_posted(fork: Job, name: str) -> None:
    """The token can only read: verdict, summary, and a warning that names the way to a label."""
    fork.inputs["github-token"] = fork.github.grant("ghs_fork", READ_ONLY)
    first, rerun, reason = CLASSES[name]

    ended = RecipeRun("two-jobs", fork).run(red(first), rerun_of(rerun))

    assert ended.gate
    assert ended.gate.said == (name, name == "harness_flake", reason)
    assert ended.conclusion == "failure"
    assert not fork.pull.issue.labels
    assert [*fork.repository.issues] == [12]
    warned = [words for level, words in ended.gate.annotations if level == "warning"]
    assert bool(warned) == (name == "harness_flake")
    assert all("workflow_run" in words and "issues: write" in words for words in warned)
    assert "fork" in ended.gate.summary


@pytest.mark.parametrize("recipe", REQUIRED)
def test_the_samplers_address_is_known_where_secrets_and_variables_are_empty(recipe: str) -> None:
    """As on a pull request from a fork: what the sampler's line names stands in the workflow itself."""
    asking = [step for step in captures(recipe) if "freeze-gate replay" not in step["with"]["sampler"]]
    assert asking
    for step in asking:
        assert told(step, {"vars": {}, "secrets": {}}) == {"SAMPLER_URL": "https://sampler.example/v1/sample"}


def companion(job: Job, name: str, conclusion: str = "failure") -> WorkflowResult:
    """Let the pull request's run end in a class, and the companion follow."""
    first, rerun, _ = CLASSES[name]
    RecipeRun("two-jobs", job).run(red(first), rerun_of(rerun))
    for issue in job.repository.issues.values():
        issue.labels.clear()
    job.github.log.clear()
    job.inputs["github-token"] = job.github.token
    return Workflow("fork", job, events.workflow_run(job, conclusion)).attempt({})


def test_the_companion_finds_the_one_pull_request_by_its_head(fork: Job) -> None:
    """The event names none for a fork; the label goes to the open one with this owner, branch and commit."""
    fork.repository.add_pull(number=13, head_ref="patch")
    fork.repository.add_pull(number=14, head_ref="other", head_repository=fork.pull.head_repository)

    ended = companion(fork, "harness_flake")

    assert ended.gate
    assert ended.gate.said == ("harness_flake", True, "transport-fault")
    assert ended.gate.outputs["pull-request"] == "12"
    labels = {number: pull.issue.labels for number, pull in fork.repository.pulls.items()}
    assert labels == {12: ["freeze-request"], 13: [], 14: []}
    asked = [request.query.get("head") for request in fork.github.log if request.path.endswith("/pulls")]
    assert asked == ["stranger:patch"]
    assert ended.conclusion == "failure"


@pytest.mark.parametrize("name", ["property_miss", "fixture_drift", "unclassified"])
def test_the_companion_posts_nothing_but_the_label(fork: Job, name: str) -> None:
    """Evidence from a fork opens no ticket and edits none."""
    ended = companion(fork, name)

    assert ended.gate
    assert ended.gate.said[0] == name
    assert {request.method for request in fork.github.log} == {"GET"}
    assert ended.conclusion == "failure"


def test_the_companion_takes_the_policy_of_the_default_branch(fork: Job) -> None:
    """With a freeze that reviewers merged there is nothing to ask for."""
    RecipeRun("fork", fork).freeze()

    ended = companion(fork, "harness_flake")

    assert ended.gate
    assert ended.gate.outputs["freeze-active"] == "true"
    assert not fork.pull.issue.labels


@pytest.mark.parametrize("conclusion", ["success", "cancelled"])
def test_the_companion_looks_only_at_runs_that_failed(fork: Job, conclusion: str) -> None:
    """A run that passed, or that a person ended, asks for nothing."""
    assert companion(fork, "harness_flake", conclusion) == ("skipped", None)


@pytest.mark.parametrize("event", ["push", "workflow_dispatch", "schedule"])
def test_the_companion_looks_only_at_runs_of_pull_requests(fork: Job, event: str) -> None:
    """Another run of that workflow, on somebody's branch, asks for nothing."""
    fork.run.event = event
    assert companion(fork, "harness_flake") == ("skipped", None)


def test_the_companion_leaves_pull_requests_of_the_repository_alone(job: Job) -> None:
    """There the workflow itself may post."""
    assert companion(job, "harness_flake") == ("skipped", None)


def test_the_companion_serves_dependabot(job: Job) -> None:
    """Its pull requests come from the repository, with a token that can only read."""
    job.run.head_branch = job.pull.head_ref = "dependabot/npm/widgets-2"

    ended = companion(job, "harness_flake")

    assert ended.gate
    assert ended.gate.outputs["label-posted"] == "true"
    assert job.pull.issue.labels == ["freeze-request"]
