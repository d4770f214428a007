"""The image as the runner starts it, in a hostile workspace, against the stand-in for GitHub."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from freeze_gate.evidence.digest import Sha256
from tests.builders.bundle import make_bundle
from tests.builders.record import COMMIT, SAMPLE
from tests.e2e.evidence import EXAMPLES, FIXTURE_ID, Example
from tests.e2e.step import RunnerMachine, StepResult
from tests.standin import Fault, Standin

REPOSITORY = "octo-org/widgets"
HEAD = "c" * 40
LABEL, TICKET_LABEL = "freeze-request", "fixture-refresh"


class GateStep:
    """A pull request whose two jobs have uploaded their evidence, and the gate's step."""

    def __init__(self, github: Standin, machine: RunnerMachine, image: str, example: Example) -> None:
        self.github, self.machine, self.image, self.example = github, machine, image, example
        self.repository = github.repository(REPOSITORY)
        self.pull = self.repository.add_pull(head_sha=HEAD)
        self.workflow_run = self.repository.add_run(4242, head_sha=HEAD)
        self.ids = [
            self.workflow_run.add_artifact(name, make_bundle(seen)).id
            for name, seen in (("first", example.first), ("rerun", example.rerun))
        ]

    def step(self, **inputs: str) -> StepResult:
        """Run the step with the inputs that `action.yml` makes of these; `_` stands for `-`."""
        given = {"github-token": self.github.token, "first-artifact": "first", "rerun-artifact": "rerun"}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        return self.machine.run(self.image, given, self._github(), self._payload())

    def _github(self) -> dict[str, str]:
        return {
            "GITHUB_API_URL": self.github.url,
            "GITHUB_SERVER_URL": self.github.server_url,
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": "4242",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_SHA": COMMIT,
            "GITHUB_REF": f"refs/pull/{self.pull.number}/merge",
        }

    def _payload(self) -> dict[str, Any]:
        repository = {"id": self.repository.id}
        head = {"sha": HEAD, "ref": "patch", "user": {"login": "octo-org"}, "repo": repository}
        return {"pull_request": {"number": self.pull.number, "head": head, "base": {"repo": repository}}}

    def allow_freeze(self) -> None:
        """Merge a freeze for the pair into the default branch."""
        today = datetime.now(UTC).date()
        lines = [
            "schema: freeze-gate/policy/1",
            "freezes:",
            f"  - fixture_id: {FIXTURE_ID}",
            f"    fixture_sha256: {Sha256.of(SAMPLE)}",
            '    owner: "@octo-org/harness"',
            "    reason: executor lane drops connections",
            f"    added: {today - timedelta(days=1)}",
            f"    expires: {today + timedelta(days=7)}",
            "    unfreeze_when: lane upgrade is out",
        ]
        self.repository.add_file(".github/freeze-gate.yml", "\n".join(lines).encode())


@pytest.fixture
def github() -> Iterator[Standin]:
    """Run a stand-in for GitHub on the loopback, which the container shares."""
    with Standin() as standin:
        yield standin


@pytest.fixture
def scene(github: Standin, image: str, tmp_path: Path, request: pytest.FixtureRequest) -> GateStep:
    """Set the scene of the example that the test names; a flake unless it does."""
    return GateStep(github, RunnerMachine(tmp_path), image, EXAMPLES[getattr(request, "param", "harness_flake")])


@pytest.mark.parametrize("scene", EXAMPLES, indirect=True)
def test_says_and_posts_what_each_class_asks_for(scene: GateStep) -> None:
    """Four lines, outputs, exit code, label and ticket are those of the class, whatever lies in the workspace."""
    example = scene.example
    ended = scene.step()
    assert ended.exit_code == example.exit_code, ended.log
    digest = Sha256.of(SAMPLE)
    allowed = str(example.freeze_allowed).lower()
    assert ended.four_lines == [
        f"fixture_sha256={digest}",
        f"failure_class={example.failure_class}",
        f"freeze_allowed={allowed}",
        f"fixture_path=fixtures/{digest}.json",
    ]
    assert ended.outputs["failure-class"] == example.failure_class
    assert ended.outputs["freeze-allowed"] == allowed
    assert ended.outputs["reason"] == example.reason
    labelled, drifted = example.freeze_allowed, example.failure_class == "fixture_drift"
    assert (LABEL in scene.pull.issue.labels) is labelled
    assert ended.outputs["label-posted"] == str(labelled).lower()
    tickets = [issue for issue in scene.repository.issues.values() if TICKET_LABEL in issue.labels]
    assert len(tickets) == drifted, ended.log
    assert ended.outputs["issue-number"] == "".join(str(issue.number) for issue in tickets)
    _is_discreet(ended, scene)


def _is_discreet(ended: StepResult, scene: GateStep) -> None:
    """Nothing of the workspace was imported or believed, and no secret was told."""
    for text in (ended.log, ended.summary):
        assert "was imported" not in text
        assert "Traceback" not in text
        assert scene.github.token not in text
        assert not [signature for signature in scene.github.storage.signatures() if signature in text]
    asked = [request.headers.get("authorization", "") for request in scene.github.log if request.host == "api"]
    assert set(asked) == {f"Bearer {scene.github.token}"}


def test_writes_the_verdict_for_the_owner_of_the_workspace(scene: GateStep) -> None:
    """The verdict file belongs to whom the workspace belongs to, so that the next checkout can remove it."""
    ended = scene.step()
    verdict = scene.machine.workspace / ended.outputs["verdict-file"]
    assert json.loads(verdict.read_bytes())["schema"] == "freeze-gate/verdict/1"
    facts, owner = verdict.stat(), scene.machine.workspace.stat()
    assert (facts.st_uid, facts.st_gid) == (owner.st_uid, owner.st_gid)
    assert oct(facts.st_mode)[-3:] == "644"


def test_takes_every_input(scene: GateStep) -> None:
    """With every input given once, the step does what they say and nothing else."""
    first, rerun = map(str, scene.ids)
    ended = scene.step(
        first_artifact="no-{attempt}-*",
        rerun_artifact="no-such-{attempt}",
        first_artifact_id=first,
        rerun_artifact_id=rerun,
        first_run_id="4242",
        rerun_run_id="4242",
        policy=".github/another-policy.yml",
        expected_fixtures=f"{FIXTURE_ID}\nsorted-*\n",
        freeze_label="please-freeze",
        refresh_label="please-refresh",
        tickets="false",
        ticket_author="octo-bot",
        pull_request=str(scene.pull.number),
        fail_on="never",
        dry_run="true",
        verdict_file="out/verdict.json",
        max_artifact_mb="1",
        wait_seconds="5",
    )
    assert ended.exit_code == 0, ended.log
    assert ended.outputs["failure-class"] == "harness_flake"
    assert ended.outputs["pull-request"] == str(scene.pull.number)
    assert ended.outputs["label-posted"] == "false"
    assert "please-freeze" in ended.summary
    assert scene.pull.issue.labels == []
    assert (scene.machine.workspace / "out" / "verdict.json").is_file()
    assert not [line for line in scene.github.asked() if not line.startswith("GET ")]


def test_a_merged_freeze_mutes_the_flake(scene: GateStep) -> None:
    """Under an active freeze the step is green, says so, and asks for no other."""
    scene.allow_freeze()
    ended = scene.step()
    assert ended.exit_code == 0, ended.log
    assert ended.outputs["failure-class"] == "harness_flake"
    assert ended.outputs["freeze-active"] == "true"
    assert scene.pull.issue.labels == []


def test_a_bad_input_is_one_clear_line(scene: GateStep) -> None:
    """The line names the input, its value and what is allowed; the four lines are there all the same."""
    ended = scene.step(fail_on="always")
    assert ended.exit_code == 2
    assert "fail-on" in ended.log
    assert "always" in ended.log
    assert ended.four_lines[1:3] == ["failure_class=unclassified", "freeze_allowed=false"]
    assert scene.github.asked() == []


def test_an_api_that_is_down_is_no_verdict(scene: GateStep) -> None:
    """Where GitHub cannot be asked, the step ends with 3 and closed lines."""
    scene.github.fault(Fault("status", status=502))
    ended = scene.step(wait_seconds="1")
    assert ended.exit_code == 3, ended.log
    assert ended.four_lines[1:3] == ["failure_class=unclassified", "freeze_allowed=false"]
    assert ended.outputs["freeze-allowed"] == "false"


def test_a_cancelled_step_leaves_fail_closed_outputs(scene: GateStep) -> None:
    """SIGTERM, which the runner sends to the container, ends the step at once with closed lines."""
    scene.github.fault(Fault("slow", seconds=120))
    stopped = threading.Thread(target=_terminate_once_it_asks, args=(scene,))
    stopped.start()
    began = time.monotonic()
    ended = scene.step()
    stopped.join()
    assert time.monotonic() - began < 60
    assert ended.exit_code == 3
    assert ended.four_lines == [
        "fixture_sha256=missing",
        "failure_class=unclassified",
        "freeze_allowed=false",
        "fixture_path=missing",
    ]


def _terminate_once_it_asks(scene: GateStep) -> None:
    deadline = time.monotonic() + 60
    while not scene.github.log and time.monotonic() < deadline:
        time.sleep(0.1)
    running = ["docker", "ps", "--quiet", "--filter", f"ancestor={scene.image}"]
    for container in subprocess.run(running, capture_output=True, text=True, check=True).stdout.split():
        subprocess.run(["docker", "kill", "--signal", "TERM", container], capture_output=True, check=True)
