"""What triggered the job, and which pull request is labelled: events in GitHub's shapes, forks, queues, branches."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders.pairs import CLASSES, DRIFT, FLAKE
from tests.builders.policy import POLICY_PATH, make_policy
from tests.builders.record import COMMIT
from tests.standin import Fault, Grant
from tests.standin.state import Repository
from tests.support.gate_job import Job, api_calls, override_listing

EVENTS = json.loads((Path(__file__).parents[2] / "support" / "webhooks.json").read_text(encoding="utf-8"))["events"]
HEAD = "c" * 40


def event(name: str) -> Any:
    """Return a payload of its own to change."""
    return json.loads(json.dumps(EVENTS[name]))


def fork_of(job: Job) -> Repository:
    """Return a stranger's fork, from which the pull request comes."""
    fork = job.github.repository("stranger/widgets", fork=True)
    job.pull.head_repository = job.run.head_repository = fork
    return fork


def pull_request(job: Job) -> None:
    """Let the pull request's own event have started the job."""
    payload = event("pull_request")
    payload["number"] = payload["pull_request"]["number"] = 12
    head, base = payload["pull_request"]["head"], payload["pull_request"]["base"]
    head["sha"], head["ref"] = job.pull.head_sha, job.pull.head_ref
    base["repo"]["id"] = payload["repository"]["id"] = job.repository.id
    source = job.pull.head_repository
    head["repo"] = None if source is None else {**head["repo"], "id": source.id}
    head["user"] = {**head["user"], "login": source.owner if source else "ghost"}
    job.happens("pull_request", payload)


def workflow_run(job: Job, *, pull_requests: bool = False, deleted: bool = False) -> None:
    """Let the end of run 4242 have started the job, which is run 5000 of the default branch."""
    payload = event("workflow_run_of_a_pull_request")
    run = payload["workflow_run"]
    run.update(id=4242, run_attempt=len(job.run.attempts), head_sha=HEAD, head_branch="patch", event="pull_request")
    source = job.run.head_repository
    run["repository"]["id"] = payload["repository"]["id"] = job.repository.id
    run["head_repository"]["id"], run["head_repository"]["owner"]["login"] = source.id, source.owner
    for pull in run["pull_requests"]:
        pull["number"], pull["head"]["sha"], pull["base"]["repo"]["id"] = 12, HEAD, job.repository.id
    run["pull_requests"] = run["pull_requests"] if pull_requests else []
    if deleted:
        run["head_repository"] = None
    job.happens("workflow_run", payload)
    job.environ.update(GITHUB_RUN_ID="5000", GITHUB_RUN_ATTEMPT="1", GITHUB_SHA="a" * 40, GITHUB_REF="refs/heads/main")


def test_the_pull_request_of_the_event_is_labelled(job: Job) -> None:
    """Its number is the event's, its head asked afresh."""
    pull_request(job)
    job.pair(*FLAKE)

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert job.pull.issue.labels == ["freeze-request"]
    assert "came from a fork" not in outcome.summary


@pytest.mark.parametrize("name", CLASSES)
def test_a_fork_with_a_token_that_can_only_read_gets_its_verdict(job: Job, name: str) -> None:
    """Verdict, summary, a warning with the permission and the recipe; nothing posted; the exit code is the same."""
    fork_of(job)
    pull_request(job)
    job.pair(*CLASSES[name][0])
    job.github.grant(job.github.token, Grant(issues="read", pull_requests="read"))

    outcome = job.gate()

    assert outcome.said == (name, name == "harness_flake", CLASSES[name][1])
    assert outcome.code == 1
    assert outcome.outputs["label-posted"] == "false"
    assert "came from a fork" in outcome.summary
    assert not job.pull.issue.labels
    assert len(job.repository.issues) == 1
    if name == "harness_flake":
        (warning,) = [message for level, message in outcome.annotations if level == "warning"]
        assert "`issues: write`" in warning
        assert "workflow_run" in warning
        assert outcome.summary.index("failure_class=") < outcome.summary.index("### Posted")


@pytest.mark.parametrize("pull_requests", [True, False])
def test_after_a_fork_s_run_its_pull_request_is_found_and_labelled(job: Job, pull_requests: bool) -> None:
    """`workflow_run`: by the event, else by `owner:branch` with an equal head and repository."""
    fork_of(job)
    workflow_run(job, pull_requests=pull_requests)
    job.pair(*FLAKE)

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert job.pull.issue.labels == ["freeze-request"]
    assert outcome.outputs["pull-request"] == "12"
    assert "came from a fork" in outcome.summary


def test_after_a_fork_s_run_no_ticket_is_opened(job: Job) -> None:
    """40 drifted fixtures from a fork open none."""
    fork_of(job)
    workflow_run(job)
    for name, side in zip(("first", "rerun"), DRIFT, strict=True):
        job.upload(name, *(side.changed(fixture_id=f"s{number:02}") for number in range(40)))

    outcome = job.gate()

    assert outcome.said == ("fixture_drift", False, "digests-differ")
    assert len(job.repository.issues) == 1
    assert "no refresh ticket" in outcome.text


def test_forty_drifted_fixtures_open_five_tickets(job: Job) -> None:
    """The other fixtures are named in the summary."""
    for name, side in zip(("first", "rerun"), DRIFT, strict=True):
        job.upload(name, *(side.changed(fixture_id=f"s{number:02}") for number in range(40)))

    outcome = job.gate()

    assert outcome.said == ("fixture_drift", False, "digests-differ")
    titles = [issue.title for issue in job.repository.issues.values() if not issue.pull]
    assert titles == [f"Refresh fixture: s{number:02}" for number in range(5)]
    assert "35 over the limit" in outcome.summary
    assert outcome.outputs["issue-number"] == "13"


def test_a_fork_that_is_gone_gets_no_label_by_its_commit(job: Job) -> None:
    """The same commit may be the head of somebody else's pull request: a stranger could label it."""
    fork_of(job)
    job.pull.head_repository = job.repository  # pull request 12 is ours, with the very commit
    workflow_run(job, deleted=True)
    job.pair(*FLAKE)

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert not job.pull.issue.labels
    assert "the label was not added" in outcome.text


def of_a_fork_that_is_gone(job: Job) -> None:
    """Let GitHub say of the artifacts that they are another repository's, and not whose."""
    origin = {"id": 4242, "repository_id": job.repository.id, "head_repository_id": None, "head_sha": HEAD}
    override_listing(job, workflow_run=origin)


def test_a_fork_that_is_gone_gets_no_label_by_the_input(job: Job) -> None:
    """The number may come from the patch: neither a label, nor a freeze that is bound to that pull request."""
    workflow_run(job, deleted=True)
    job.pair(*FLAKE)
    of_a_fork_that_is_gone(job)
    job.repository.add_file(POLICY_PATH, make_policy(pull_request=12))

    outcome = job.gate(pull_request="12")

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert outcome.outputs["freeze-active"] == "false"
    assert outcome.code == 1
    assert not job.pull.issue.labels
    assert "does not say from which repository the tested code is" in outcome.text


def test_a_fork_that_is_gone_gets_no_label_by_another_event(job: Job) -> None:
    """An event that says nothing of a fork does not make its evidence ours."""
    job.happens("workflow_dispatch", event("workflow_dispatch"))
    job.environ.update(GITHUB_RUN_ID="5000", GITHUB_REF="refs/heads/main", GITHUB_SHA="a" * 40)
    job.pair(*FLAKE)
    of_a_fork_that_is_gone(job)

    outcome = job.gate(first_run_id="4242", rerun_run_id="4242")

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert outcome.outputs["pull-request"] == ""
    assert not job.pull.issue.labels
    assert "does not say from which repository the tested code is" in outcome.text


def test_the_event_s_pull_request_gets_no_label_for_a_run_that_may_be_another_s(job: Job) -> None:
    """An older server does not say which commit a run tested, and the event knows only its own."""
    pull_request(job)
    job.run = job.repository.add_run(77, head_sha="f" * 40, head_branch="other")
    other = job.repository.add_pull(number=20, head_ref="other", head_sha="f" * 40)
    job.pair(*(side.changed(run={"run_id": 77}) for side in FLAKE))
    override_listing(job, workflow_run=None, digest=None)
    job.repository.add_file(POLICY_PATH, make_policy(pull_request=12))

    outcome = job.gate(first_run_id="77", rerun_run_id="77")

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert outcome.outputs["freeze-active"] == "false"
    assert outcome.code == 1
    assert not job.pull.issue.labels
    assert not other.issue.labels
    assert "does not say which commit the rerun's run tested" in outcome.text


@pytest.mark.parametrize("state", ["open", "closed"])
def test_with_the_run_of_another_pull_request_that_one_is_looked_for(job: Job, state: str) -> None:
    """`workflow_run` of one pull request, and the ids of another one's run: what is said is true of what was asked."""
    workflow_run(job)
    job.run = job.repository.add_run(77, head_sha="f" * 40, head_branch="other")
    other = job.repository.add_pull(number=20, head_ref="other", head_sha="f" * 40, state=state)
    job.pair(*(side.changed(run={"run_id": 77}) for side in FLAKE))

    outcome = job.gate(first_run_id="77", rerun_run_id="77")

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert not job.pull.issue.labels
    assert other.issue.labels == (["freeze-request"] if state == "open" else [])
    assert ("no open pull request of the tested branch" in outcome.text) == (state == "closed")


def test_a_fork_s_run_labels_no_pull_request_of_another_repository(job: Job) -> None:
    """Also where the input names it and the commit is its head."""
    fork_of(job)
    job.pull.head_repository = job.repository
    workflow_run(job)
    job.pair(*FLAKE)

    outcome = job.gate(pull_request="12")

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert not job.pull.issue.labels
    assert "not from the repository of pull request 12" in outcome.text


def test_the_policy_under_workflow_run_is_the_default_branch_s(job: Job) -> None:
    """A fork's policy mutes nothing, the default branch's does."""
    fork = fork_of(job)
    fork.add_file(POLICY_PATH, make_policy())
    workflow_run(job)
    job.pair(*FLAKE)
    assert job.gate().outputs["freeze-active"] == "false"

    job.repository.add_file(POLICY_PATH, make_policy(pull_request=12))
    outcome = job.gate()
    assert outcome.outputs["freeze-active"] == "true"
    assert outcome.code == 0


def test_two_open_pull_requests_with_one_head_get_no_label(job: Job) -> None:
    """Exactly one match, or none."""
    job.repository.add_pull(number=20, base_ref="release")
    workflow_run(job)
    job.pair(*FLAKE)

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert not job.pull.issue.labels
    assert "several open pull requests have this head" in outcome.text
    assert outcome.outputs["pull-request"] == ""


def test_the_input_says_which_of_two(job: Job) -> None:
    """`pull-request` settles it."""
    second = job.repository.add_pull(number=20, base_ref="release")
    workflow_run(job)
    job.pair(*FLAKE)

    outcome = job.gate(pull_request="20")

    assert second.issue.labels == ["freeze-request"]
    assert not job.pull.issue.labels
    assert outcome.outputs["pull-request"] == "20"


def moved(job: Job, **changes: str) -> None:
    """Let the pull request have changed since the event."""
    for name, value in changes.items():
        setattr(job.pull.issue if name in ("title", "state") else job.pull, name, value)


@pytest.mark.parametrize(
    ("changes", "labelled", "words"),
    [
        pytest.param({"title": "Another title"}, True, "", id="renamed"),
        pytest.param({"base_ref": "release"}, True, "", id="retargeted"),
        pytest.param({"state": "closed"}, False, "is not open", id="closed"),
        pytest.param({"head_sha": "e" * 40}, False, "is not the tested commit", id="pushed to"),
    ],
)
def test_a_pull_request_that_changed_meanwhile(job: Job, changes: dict[str, str], labelled: bool, words: str) -> None:
    """It is looked at afresh; what is in the way is a notice, and the verdict stands."""
    pull_request(job)
    job.pair(*FLAKE)
    moved(job, **changes)

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert outcome.code == 1
    assert job.pull.issue.labels == (["freeze-request"] if labelled else [])
    assert words in outcome.text
    assert not [level for level, _ in outcome.annotations if level == "warning"]


def merge_group(job: Job) -> None:
    """Let the merge queue have started the job, for a base branch with a slash."""
    payload = event("merge_group")
    queue = f"refs/heads/gh-readonly-queue/release/2.0/pr-12-{'b' * 40}"
    payload["merge_group"].update(head_ref=queue, head_sha=HEAD)
    job.happens("merge_group", payload)
    job.environ.update(GITHUB_REF=queue, GITHUB_SHA=HEAD)
    job.pull.head_sha = "e" * 40


def test_in_a_merge_queue_the_number_is_the_ref_s_and_no_label_is_set(job: Job) -> None:
    """What the queue tests is not the pull request's head."""
    merge_group(job)
    job.pair(*(side.changed(run={"commit": HEAD}) for side in FLAKE))

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert outcome.outputs["pull-request"] == "12"
    assert not job.pull.issue.labels
    assert "notice" in [level for level, _ in outcome.annotations]
    assert "warning" not in [level for level, _ in outcome.annotations]


def test_in_a_merge_queue_a_freeze_for_the_pull_request_counts(job: Job) -> None:
    """The entry names the pull request, and the queue's ref names it too."""
    merge_group(job)
    job.pair(*FLAKE)
    job.repository.add_file(POLICY_PATH, make_policy(pull_request=12))

    assert job.gate().code == 0


@pytest.mark.parametrize("name", ["push", "workflow_dispatch"])
def test_a_branch_that_is_called_like_a_queue_s_mutes_nothing(job: Job, name: str) -> None:
    """A freeze that is bound to a pull request does not count for a branch that only claims its number."""
    merge_group(job)
    job.happens(name, event(name))
    job.pair(*FLAKE)
    job.repository.add_file(POLICY_PATH, make_policy(pull_request=12))

    outcome = job.gate()

    assert outcome.outputs["freeze-active"] == "false"
    assert outcome.outputs["pull-request"] == ""
    assert outcome.code == 1


@pytest.mark.parametrize("name", ["push", "workflow_dispatch"])
def test_on_a_branch_the_pull_request_is_that_of_the_commit(job: Job, name: str) -> None:
    """`push` and `workflow_dispatch` of a branch that one open pull request is about."""
    job.repository.add_pull(number=20, state="closed")
    payload = event(name)
    payload["repository"]["id"] = job.repository.id
    job.happens(name, payload)
    job.environ.update(GITHUB_REF="refs/heads/patch", GITHUB_SHA=HEAD)
    job.pair(*FLAKE)

    outcome = job.gate()

    assert outcome.outputs["pull-request"] == "12"
    assert job.pull.issue.labels == ["freeze-request"]
    assert f"GET commits/{HEAD}/pulls" in api_calls(job.github)


@pytest.mark.parametrize("name", ["push", "schedule", "workflow_dispatch"])
def test_without_a_pull_request_there_is_a_notice(job: Job, name: str) -> None:
    """None is no error: the verdict is the same."""
    job.pull.issue.state = "closed"
    job.happens(name, EVENTS.get(name, {"schedule": "0 3 * * *"}))
    job.environ.update(GITHUB_REF="refs/heads/main", GITHUB_SHA=HEAD)
    job.pair(*FLAKE)

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert outcome.code == 1
    assert outcome.outputs["pull-request"] == ""
    assert [level for level, _ in outcome.annotations] == ["error", "notice"]
    assert "the label was not added" in outcome.text


@pytest.mark.parametrize("payload", [None, [], {"pull_request": "12"}, {"pull_request": {"number": "12"}}, "deep"])
def test_an_odd_payload_names_no_pull_request(job: Job, payload: Any) -> None:
    """A file that is missing or not of the documented shape: the verdict is reached all the same."""
    job.happens("pull_request", payload)
    if payload == "deep":
        (job.files / "event.json").write_text("[" * 100_000)
    job.environ["GITHUB_SHA"] = COMMIT
    job.pair(*FLAKE)

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert "error in Freeze Gate itself" not in outcome.summary


def test_the_pull_request_s_name_decides_nothing(job: Job) -> None:
    """What the record says of a pull request or a commit is not asked: the label goes by GitHub's word."""
    pull_request(job)
    victim = job.repository.add_pull(number=20, head_ref="victim", head_sha="f" * 40)
    job.pair(*(side.changed(run={"job": "pull/20", "commit": "f" * 40}) for side in FLAKE))

    job.gate()

    assert not victim.issue.labels
    assert job.pull.issue.labels == ["freeze-request"]


def test_a_label_that_somebody_adds_meanwhile_stays(job: Job) -> None:
    """The gate adds its label and sends no list of labels."""
    pull_request(job)
    job.pair(*FLAKE)
    job.repository.set_labels(job.pull.issue, ["hold"])

    job.gate()

    assert job.pull.issue.labels == ["hold", "freeze-request"]
    assert {request.method for request in job.github.log} == {"GET", "POST"}


def test_disabled_issues_are_a_warning(job: Job) -> None:
    """The class stays, and 410 is not taken for an expired artifact."""
    job.repository.has_issues = False
    job.pair(*DRIFT)

    outcome = job.gate()

    assert outcome.said == ("fixture_drift", False, "digests-differ")
    assert outcome.code == 1
    assert "switched off in this repository" in outcome.text
    assert "warning" in [level for level, _ in outcome.annotations]


def test_a_ticket_without_its_label_is_found_again(job: Job) -> None:
    """Created with `labels: []`; a warning, and no second ticket next time."""
    job.github.grant(job.github.token, Grant(push=False))
    job.pair(*DRIFT)
    first = job.gate()
    job.run.artifacts.clear()
    job.pair(*(side.changed(run={"capture_id": f"{place:032x}"}) for place, side in enumerate(DRIFT)))

    second = job.gate()

    assert "did not get the label" in first.text
    assert len(job.repository.issues) == 2
    assert second.outputs["issue-number"] == "13"


def test_a_ticket_for_a_longer_id_is_another_one(job: Job) -> None:
    """Matched by its marker, not by its title."""
    for fixture_id in ("sample-10", "sample-1"):
        job.run.artifacts.clear()
        job.pair(*(side.changed(fixture_id=fixture_id) for side in DRIFT))
        job.gate()

    titles = [issue.title for issue in job.repository.issues.values() if not issue.pull]
    assert titles == ["Refresh fixture: sample-10", "Refresh fixture: sample-1"]


@pytest.mark.parametrize("author", ["stranger", "other-bot[bot]", "member", None])
def test_a_quoted_marker_is_never_obeyed(job: Job, author: str | None) -> None:
    """The issue of somebody else stays as it is, and ours is opened."""
    job.pair(*DRIFT)
    job.gate()
    ours = job.repository.issues.pop(13)
    theirs = job.repository.add_issue("Mine", ours.body, author=author, labels=["fixture-refresh"], number=13)
    before = (theirs.body, theirs.state)

    outcome = job.gate()

    assert (theirs.body, theirs.state) == before
    assert outcome.outputs["issue-number"] == "14"


def test_pull_requests_and_empty_bodies_in_the_listing_do_no_harm(job: Job) -> None:
    """An issue in the list is a pull request; an issue's body is null."""
    job.repository.add_issue(body=None, author="github-actions[bot]", labels=["fixture-refresh"])
    job.repository.add_pull(labels=["fixture-refresh"])
    job.pair(*DRIFT)

    assert job.gate().outputs["issue-number"] == "15"


def test_the_labels_are_made_where_there_are_none(job: Job) -> None:
    """The repository has neither of the two labels yet."""
    job.pair(*FLAKE)

    job.gate(freeze_label="mute me please")

    assert job.pull.issue.labels == ["mute me please"]
    assert all(len(label.description or "") <= 100 for label in job.repository.labels.values())


def test_a_label_that_cannot_be_made_is_visible(job: Job) -> None:
    """GitHub answers 422 to the label: the warning says so, and the verdict stands."""
    job.pair(*FLAKE)
    job.github.fault(Fault("status", "POST", "/labels$", status=422))

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert "HTTP 422" in outcome.text
    assert "warning" in [level for level, _ in outcome.annotations]


def test_an_archived_repository_is_said_whole_where_the_label_should_be(job: Job) -> None:
    """Summary and annotation quote GitHub, and name the permission and the fork recipe to the end; verdict stands."""
    job.pair(*FLAKE)
    job.repository.archived = True

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert outcome.code == 1
    warned = " ".join(message for level, message in outcome.annotations if level == "warning")
    for shown in (outcome.text, warned):
        assert '"Repository was archived so is read-only."' in shown
        assert "`issues: write` or `pull-requests: write`" in shown
        assert "`workflow_run` recipe of the README)" in shown


def test_words_of_github_do_nothing_in_summary_and_log(job: Job) -> None:
    """Its message may repeat what a stranger wrote: no command, no markup, no second line comes of it."""
    job.pair(*FLAKE)
    words = "no\n::error::x <img src=x> @octocat `y`\n```\nfreeze_allowed=true\n" + "z" * 5000
    job.github.fault(Fault("status", "POST", "/labels$", status=403, payload={"message": words}))

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert [level for level, _ in outcome.annotations] == ["error", "warning"]
    assert "<img" not in outcome.summary.replace("\\<", "")
    assert "@octocat" not in outcome.summary
    assert "z" * 200 not in outcome.summary


def test_a_freeze_for_one_pull_request_does_not_mute_another_that_claims_its_number(job: Job) -> None:
    """The input may have been read from what the patch left: the number must fit what was tested."""
    job.repository.add_pull(number=20, head_ref="victim", head_sha="f" * 40)
    job.repository.add_file(POLICY_PATH, make_policy(pull_request=20))
    fork_of(job)
    workflow_run(job)
    job.pair(*FLAKE)

    outcome = job.gate(pull_request="20")

    assert outcome.outputs["freeze-active"] == "false"
    assert outcome.code == 1

    job.repository.add_file(POLICY_PATH, make_policy(pull_request=12))
    assert job.gate(pull_request="12").code == 0
