"""Real workflows, from the sampler to the summary: the README's recipes and our own CI, under act.

Real are the runner image's shell, the capture action with its seal, the official upload client, the image of the gate
that the engine builds from the Dockerfile. Played are GitHub (the stand-in) and the sampler.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from freeze_gate import FailureClass
from tests.builders.bundle import make_bundle, make_capture
from tests.e2e.conftest import Docker
from tests.e2e.evidence import EXAMPLES
from tests.e2e.sampler import Sampler
from tests.e2e.workflow import HERE, Act, Trigger, WorkflowResult, commit
from tests.standin import Standin
from tests.standin.state import Repository, Run
from tests.support.recipes import RECIPES

REPOSITORY = "octo-org/widgets"
HEAD = "c" * 40
EARLIER, LATER = "2026-11-29T08:00:00Z", "2026-11-29T09:00:00Z"
PROPERTY = """
import os
from pathlib import Path


def test_the_answer_is_sorted():
    assert Path(os.environ["FREEZE_GATE_FIXTURE"]).read_text().startswith("sorted")
"""


@pytest.fixture(scope="session")
def shop(docker: Docker, base_image: str, image: str, tmp_path_factory: pytest.TempPathFactory) -> Act:
    """Build the runner's image, and put this repository and the actions of others where act finds them."""
    assert image  # built before act builds it again, which then takes every layer from there
    runner = "freeze-gate-e2e/runner"
    with (HERE / "runner.Dockerfile").open() as recipe:
        docker("build", "--network", "host", "--build-arg", "BASE_IMAGE", "--tag", runner, "-", stdin=recipe.read())
    return Act(tmp_path_factory.mktemp("shop"), base_image, runner)


@pytest.fixture
def github() -> Iterator[Standin]:
    """Run a stand-in for GitHub on the loopback, which every container shares."""
    with Standin() as standin:
        yield standin


@pytest.fixture
def repository(github: Standin) -> Repository:
    """Return a repository with one open pull request."""
    repository = github.repository(REPOSITORY)
    repository.add_pull(head_sha=HEAD)
    return repository


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout of a patch: a request to the sampler, and the property that the answer must have."""
    folder = tmp_path / "widgets"
    (folder / "tests" / "properties").mkdir(parents=True)
    (folder / ".github" / "workflows").mkdir(parents=True)
    (folder / "request.json").write_text('{"prompt": "sort"}\n')
    (folder / "tests" / "properties" / "test_patch.py").write_text(PROPERTY)
    for name, recipe in RECIPES.items():
        (folder / ".github" / "workflows" / f"{name}.yml").write_text(recipe)
    commit(folder)
    return folder


def _of(repository: Repository) -> dict[str, Any]:
    return {
        "id": repository.id,
        "name": repository.name,
        "full_name": repository.full_name,
        "owner": {"login": repository.owner},
    }


def _pull_request(repository: Repository) -> dict[str, Any]:
    pull = next(iter(repository.pulls.values()))
    head = {"sha": HEAD, "ref": "patch", "user": {"login": repository.owner}, "repo": _of(repository)}
    base = {"ref": "main", "sha": "a" * 40, "user": {"login": repository.owner}, "repo": _of(repository)}
    return {"pull_request": {"number": pull.number, "head": head, "base": base}, "repository": _of(repository)}


def _workflow(checkout: Path, recipe: str, sampler: Sampler | None = None) -> Path:
    """Name a recipe's file, in which the sampler's address is now the real one."""
    path = checkout / ".github" / "workflows" / f"{recipe}.yml"
    if sampler:
        path.write_text(RECIPES[recipe].replace("https://sampler.example/v1/sample", sampler.url))
    return path


def _gate(ran: WorkflowResult) -> dict[str, str]:
    return ran.outputs["gate", "gate"]


def test_our_own_ci_says_each_class(shop: Act, github: Standin, repository: Repository) -> None:
    """The jobs of ci.yml that use the action compare what they got with what they wanted, and are content."""
    run = repository.add_run(4242, head_sha=HEAD)
    occasion = Trigger("pull_request", _pull_request(repository), words=["--job", "action"])
    ran = shop.run(shop.ours / ".github" / "workflows" / "ci.yml", occasion, github, run)
    assert ran.results == {"action": "success"}, ran.log
    assert ran.log.count("Job succeeded") == len(FailureClass)
    outputs = yaml.safe_load((shop.ours / "action.yml").read_text())["outputs"]
    assert [name for name in outputs if f'  "{name}": ' not in ran.log] == []
    assert not [line for line in github.asked() if line.startswith(("POST /repos", "PATCH"))]


def test_two_jobs_on_a_patch_that_breaks_the_property(
    checkout: Path, shop: Act, github: Standin, repository: Repository
) -> None:
    """Both jobs sample the same bytes and fail on them: a miss, red, and nothing is posted."""
    run = repository.add_run(4242, head_sha=HEAD)
    with Sampler("broken") as sampler:
        occasion = Trigger("pull_request", _pull_request(repository))
        ran = shop.run(_workflow(checkout, "two-jobs", sampler), occasion, github, run)
        assert sampler.asked == 2
    assert ran.results == {"first": "failure", "rerun": "failure", "gate": "failure"}, ran.log
    assert _gate(ran)["reason"] == "both-oracles-failed"
    assert "failure_class=property_miss\nfreeze_allowed=false\n" in ran.summaries["gate"]
    assert len(repository.issues) == 1


def test_two_jobs_on_a_sampler_that_drifts(checkout: Path, shop: Act, github: Standin, repository: Repository) -> None:
    """The second answer is another one: a drift, red, and one ticket."""
    run = repository.add_run(4242, head_sha=HEAD)
    with Sampler("broken", "broken in another way") as sampler:
        occasion = Trigger("pull_request", _pull_request(repository))
        ran = shop.run(_workflow(checkout, "two-jobs", sampler), occasion, github, run)
    assert ran.results["gate"] == "failure", ran.log
    assert _gate(ran)["failure-class"] == "fixture_drift"
    (ticket,) = (issue for issue in repository.issues.values() if "fixture-refresh" in issue.labels)
    assert _gate(ran)["issue-number"] == str(ticket.number)
    assert ticket.title == "Refresh fixture: sorted-patch"


def test_two_jobs_whose_lane_is_down_at_first(
    checkout: Path, shop: Act, github: Standin, repository: Repository
) -> None:
    """The first job never reached its lane, the rerun did and passed: a flake, red, and the label."""
    run = repository.add_run(4242, head_sha=HEAD)
    with Sampler("sorted") as sampler:
        workflow = _workflow(checkout, "two-jobs", sampler)
        oracle = "          oracle: python -m pytest tests/properties\n"
        before, between, after = workflow.read_text().split(oracle)
        down, up = (f"{oracle}          lane: {words}\n          send: .\n" for words in ("false", "freeze-gate lane"))
        workflow.write_text(f"{before}{down}{between}{up}{after}")
        ran = shop.run(workflow, Trigger("pull_request", _pull_request(repository)), github, run)
    assert ran.results == {"first": "failure", "rerun": "success", "gate": "failure"}, ran.log
    assert _gate(ran)["reason"] == "transport-fault"
    assert "failure_class=harness_flake\nfreeze_allowed=true\n" in ran.summaries["gate"]
    (pull,) = repository.pulls.values()
    assert pull.issue.labels == ["freeze-request"]


def test_two_jobs_on_a_patch_that_works(checkout: Path, shop: Act, github: Standin, repository: Repository) -> None:
    """The first job is green: no rerun, no gate's step, a green check."""
    run = repository.add_run(4242, head_sha=HEAD)
    with Sampler("sorted") as sampler:
        occasion = Trigger("pull_request", _pull_request(repository))
        ran = shop.run(_workflow(checkout, "two-jobs", sampler), occasion, github, run)
        assert sampler.asked == 1
    assert ran.exit_code == 0, ran.log
    assert ran.results["gate"] == "success"
    assert ("gate", "gate") not in ran.outputs


def test_rerun_of_failed_jobs(checkout: Path, shop: Act, github: Standin, repository: Repository) -> None:
    """The first attempt says that a rerun is missing; the second finds the first, and a fail is not rerun away."""
    run = repository.add_run(4242, head_sha=HEAD, attempts=[EARLIER])
    with Sampler("broken", "broken") as sampler:
        occasion = Trigger("pull_request", _pull_request(repository))
        first = shop.run(_workflow(checkout, "attempts", sampler), occasion, github, run)
        run.attempts.append(github.now())
        second = shop.run(_workflow(checkout, "attempts", sampler), occasion, github, run)
    assert first.results["gate"] == "failure", first.log
    assert _gate(first)["reason"] == "artifact-missing"
    assert "Re-run failed jobs" in first.summaries["gate"]
    assert second.results["gate"] == "failure", second.log
    assert _gate(second)["failure-class"] == "property_miss"


def test_two_runs(checkout: Path, shop: Act, github: Standin, repository: Repository) -> None:
    """A run of its own is compared with the run that a person names."""
    seen = make_capture(pin=b"broken", oracle=False, run_id=4141).changed(run={"commit": _head_of(checkout)})
    repository.add_run(4141, head_sha=HEAD).add_artifact("nightly-4141-1", make_bundle(seen))
    run = repository.add_run(4242, head_sha=HEAD)
    with Sampler("broken") as sampler:
        payload = {"inputs": {"first-run-id": "4141"}, "repository": _of(repository)}
        occasion = Trigger("workflow_dispatch", payload, words=["--input", "first-run-id=4141"])
        ran = shop.run(_workflow(checkout, "two-runs", sampler), occasion, github, run)
    assert ran.results["gate"] == "failure", ran.log
    assert _gate(ran)["failure-class"] == "property_miss"


def _head_of(checkout: Path) -> str:
    head = ["git", "rev-parse", "HEAD"]
    return subprocess.run(head, cwd=checkout, capture_output=True, text=True, check=True).stdout.strip()


def test_a_matrix_with_merged_artifacts(checkout: Path, shop: Act, github: Standin, repository: Repository) -> None:
    """Four shards a side, merged with the official client: the gate reads two artifacts and judges four pairs."""
    run = repository.add_run(4242, head_sha=HEAD)
    with Sampler("broken") as sampler:
        occasion = Trigger("pull_request", _pull_request(repository))
        ran = shop.run(_workflow(checkout, "matrix", sampler), occasion, github, run)
        assert sampler.asked == 8
    assert ran.results["gate"] == "failure", ran.log
    assert _gate(ran)["failure-class"] == "property_miss"
    assert all(f"sorted-patch-{shard}" in ran.summaries["gate"] for shard in "abcd")
    assert len([line for line in github.asked() if line.endswith("/zip")]) == 2


def test_a_merge_queue_that_replays(checkout: Path, shop: Act, github: Standin, repository: Repository) -> None:
    """The rerun starts from the first run's pin and asks no sampler; the queue's branch names the pull request."""
    ref = f"refs/heads/gh-readonly-queue/main/pr-1-{'b' * 40}"
    run = repository.add_run(4242, head_sha=HEAD, event="merge_group")
    with Sampler("broken") as sampler:
        payload = {"merge_group": {"head_ref": ref, "head_sha": HEAD}, "repository": _of(repository)}
        occasion = Trigger("merge_group", payload, {"GITHUB_REF": ref})
        ran = shop.run(_workflow(checkout, "merge-queue", sampler), occasion, github, run)
        assert sampler.asked == 1
    assert ran.results["gate"] == "failure", ran.log
    assert _gate(ran)["failure-class"] == "property_miss"
    assert _gate(ran)["pull-request"] == "1"


def test_a_fork_gets_its_label_from_the_default_branch(
    checkout: Path, shop: Act, github: Standin, repository: Repository
) -> None:
    """The companion of a fork's pull request judges the run that triggered it, and adds the label."""
    fork = github.repository("somebody/widgets", fork=True)
    pull = repository.add_pull(head_sha="f" * 40, head_repository=fork)
    triggering = repository.add_run(4141, head_sha="f" * 40, head_repository=fork)
    _upload(triggering, "harness_flake")
    payload = {"workflow_run": _workflow_run(triggering), "repository": _of(repository)}
    occasion = Trigger("workflow_run", payload)
    ran = shop.run(_workflow(checkout, "fork"), occasion, github, repository.add_run(4242, head_sha="a" * 40))
    assert ran.results == {"gate": "failure"}, ran.log
    assert "failure_class=harness_flake\nfreeze_allowed=true\n" in ran.summaries["gate"]
    assert pull.issue.labels == ["freeze-request"]


def _upload(run: Run, example: str) -> None:
    for side, seen in zip(("first", "rerun"), EXAMPLES[example][:2], strict=True):
        run.add_artifact(f"{side}-{run.id}-1", make_bundle(seen.changed(run={"run_id": run.id})))


def _workflow_run(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "run_attempt": 1,
        "event": "pull_request",
        "conclusion": "failure",
        "head_branch": run.head_branch,
        "head_sha": run.head_sha,
        "head_repository": _of(run.head_repository),
        "repository": _of(run.repository),
        "pull_requests": [],
    }
