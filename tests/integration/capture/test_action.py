"""The steps of the capture action, as the runner's bash runs them."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from freeze_gate.capture.bundle.store import Store
from freeze_gate.evidence.record import Transport, encode_record
from freeze_gate.version import VERSION
from tests.builders.record import COMMIT
from tests.builders.zip import zip_folder
from tests.support.exact_server import ExactServer, answer, sized
from tests.support.gate_job import Job, read_outputs
from tests.support.readme import blocks
from tests.support.recording_clients import ID, record_in

ACTION = Path(__file__).parents[3] / ".github" / "actions" / "capture"
STEPS: dict[str, Any] = {
    step["name"]: step for step in yaml.safe_load((ACTION / "action.yml").read_text())["runs"]["steps"]
}


def _program(path: Path, words: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n')
    path.chmod(0o755)


class StepRunner:
    """Runs steps of the action in one workspace, with the command where the install step puts it."""

    def __init__(self, folder: Path) -> None:
        self.bundle = folder / "workspace" / "freeze-gate"
        self.output = folder / "output"
        self.log = ""
        self.environ: dict[str, str] = {}
        self.outcomes: dict[str, str] = {"sample": "skipped", "oracle": "skipped"}
        self._home = folder / "temp" / "freeze-gate"
        self.bundle.parent.mkdir(parents=True)
        _program(self._home / "bin" / "python", "")
        _program(self._home / "path" / "freeze-gate", "-I -m freeze_gate")

    def look(self) -> dict[str, str]:
        """Look at what the steps so far left, and return what the step puts out."""
        self.output.write_text("")
        self.run("Read the record", OUTCOMES=" ".join(self.outcomes.values()))
        return read_outputs(self.output.read_text())

    def run(self, name: str, **environ: str) -> int:
        """Return a step's exit code."""
        given = {
            "PATH": os.environ["PATH"],
            "RUNNER_TEMP": str(self._home.parent),
            "GITHUB_ACTION_PATH": str(ACTION),
            "GITHUB_OUTPUT": str(self.output),
            "FREEZE_GATE_BUNDLE": "freeze-gate",
            "FREEZE_GATE_ID": ID,
            "SECONDS_AT_MOST": "60",
            "EGRESS": "--allow-egress",  # whether a seal can be made is another matter
            **self.environ,
        }
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]["run"]]
        done = subprocess.run(
            words, cwd=self.bundle.parent, env=given | environ, capture_output=True, text=True, check=False, timeout=60
        )
        self.log = done.stdout + done.stderr
        self.outcomes[STEPS[name]["id"]] = "failure" if done.returncode else "success"
        return done.returncode


@pytest.fixture
def steps(tmp_path: Path) -> StepRunner:
    """Return the action in an empty workspace."""
    return StepRunner(tmp_path)


@pytest.mark.parametrize(("oracle", "code"), [("test -s $FREEZE_GATE_FIXTURE", 0), ("exit 3", 3)])
def test_the_oracle_step_ends_as_the_oracle_ends(steps: StepRunner, oracle: str, code: int) -> None:
    """Whatever became of the sampler, a whole pin is checked."""
    assert steps.run("Sample", SAMPLER='echo sampled | freeze-gate pin --id "$FREEZE_GATE_ID" -; exit 1') == 1
    assert steps.run("Oracle", ORACLE=oracle) == code
    assert record_in(steps.bundle).oracle_passed is (code == 0)


@pytest.mark.parametrize(("oracle", "code"), [("test -s tested && test -s $FREEZE_GATE_FIXTURE", 0), ("exit 3", 3)])
def test_the_oracle_runs_on_the_lane_that_is_named(steps: StepRunner, oracle: str, code: int) -> None:
    """In the folder that is sent there; the step ends as the oracle ended."""
    (steps.bundle.parent / "tested").write_text("a patch")
    lane = f"{shlex.quote(sys.executable)} -m freeze_gate lane"
    assert steps.run("Sample", SAMPLER='echo sampled | freeze-gate pin --id "$FREEZE_GATE_ID" -') == 0
    assert steps.run("Oracle", ORACLE=oracle, LANE=lane, SEND=".") == code
    assert record_in(steps.bundle).oracle.lane == f"{sys.executable} {VERSION}"


def test_a_lane_that_is_down_explains_the_failure(steps: StepRunner) -> None:
    """The step is red, and the evidence is uploaded."""
    assert steps.run("Sample", SAMPLER='echo sampled | freeze-gate pin --id "$FREEZE_GATE_ID" -') == 0
    assert steps.run("Oracle", ORACLE="true", LANE="sh -c 'exit 255'", SEND=".") == 3
    assert record_in(steps.bundle).transport.fault == "connection"
    assert steps.look() == {"failure-explained": "true", "upload": "true"}


@pytest.mark.parametrize(
    "sampler",
    [
        "true",
        "echo sampled | freeze-gate pin --id another -",
        "mkdir sub; cd sub; echo sampled | freeze-gate pin --id $FREEZE_GATE_ID -",
    ],
    ids=["nothing", "another id", "another folder"],
)
def test_a_job_whose_oracle_did_not_run_is_red(steps: StepRunner, sampler: str) -> None:
    """A sampler that is content and pinned nothing under the id would make a green check that checked nothing."""
    assert steps.run("Sample", SAMPLER=sampler) == 0
    assert steps.run("Oracle", ORACLE="true") == 1


def test_a_truncated_sample_is_not_given_to_the_oracle(steps: StepRunner) -> None:
    """Its fail would blame the patch for the harness: the step is red, and the verdict stays unknown."""
    assert steps.run("Sample", SAMPLER='echo cut | freeze-gate pin --id "$FREEZE_GATE_ID" -') == 0
    cut = Transport(fault="truncated", pin_complete=False)
    record = record_in(steps.bundle)._replace(transport_ok=False, transport=cut)
    Store(steps.bundle).write(record)
    assert steps.run("Oracle", ORACLE="exit 1") == 1
    assert record_in(steps.bundle) == record


PIN = 'echo sampled | freeze-gate pin --id "$FREEZE_GATE_ID" -'
DROPPED = 'freeze-gate transport --id "$FREEZE_GATE_ID" --fault connection'


@pytest.mark.parametrize(
    ("sampler", "oracle", "explained"),
    [
        (PIN, "true", False),
        (PIN, "exit 3", True),
        (f"{PIN}; {DROPPED}", "true", True),
        (f"{PIN}; {DROPPED}; exit 1", "true", True),
        (f"{DROPPED}; exit 1", None, True),
        (PIN, None, True),
    ],
    ids=["green", "a fail", "a fault", "a fault that ends the sampler", "nothing pinned", "no verdict"],
)
def test_what_the_record_shows_is_put_out(steps: StepRunner, sampler: str, oracle: str | None, explained: bool) -> None:
    """A fault, a fail or no verdict explains a red job; in each case the evidence is uploaded."""
    steps.run("Sample", SAMPLER=sampler)
    if oracle:
        steps.run("Oracle", ORACLE=oracle)
    assert steps.look() == {"failure-explained": str(explained).lower(), "upload": "true"}
    assert "::error::" not in steps.log


def test_green_evidence_of_a_step_that_failed_is_not_uploaded(steps: StepRunner) -> None:
    """A sampler whose later line fails is unknown to the record, which would call the job green."""
    assert steps.run("Sample", SAMPLER=f"{PIN}; exit 1") == 1
    assert steps.run("Oracle", ORACLE="true") == 0
    assert steps.look() == {"failure-explained": "false", "upload": "false"}
    assert "::error::A step of the capture failed" in steps.log


def test_green_evidence_of_a_step_that_was_cancelled_is_not_uploaded(steps: StepRunner) -> None:
    """A time limit of the job ends a step too."""
    assert steps.run("Sample", SAMPLER=PIN) == 0
    assert steps.run("Oracle", ORACLE="true") == 0
    steps.outcomes["oracle"] = "cancelled"
    assert steps.look() == {"failure-explained": "false", "upload": "false"}


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ('[ "$1" = --version ] && echo Python 3.10.12', "3.11 or newer, and {python} is Python 3.10.12."),
        ("exit 127", "3.11 or newer, and {python} is no program that starts."),
        ('case "$*" in *pip*) exit 1 ;; esac', "pip and venv, and {python} has not both."),
    ],
    ids=["an old Python", "no Python", "no pip"],
)
def test_a_python_that_cannot_install_is_one_clear_line(
    steps: StepRunner, tmp_path: Path, program: str, words: str
) -> None:
    """It names what was found and the cure, without a traceback."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{program}\n")
    python.chmod(0o755)
    assert steps.run("Install freeze-gate", PYTHON=str(python)) == 1
    assert steps.log.startswith("::error::")
    assert steps.log.count("\n") == 1
    assert words.format(python=python) in steps.log
    assert "actions/setup-python" in steps.log


def test_nothing_else_runs_after_a_failed_install() -> None:
    """Every later step would only fail at the missing command, and bury the one line that says why."""
    later = [step for name, step in STEPS.items() if name != "Install freeze-gate"]
    conditions = [step.get("if", "success()") for step in later]
    assert all(
        "success()" in each or "steps.install.outcome" in each or "steps.status.outputs" in each for each in conditions
    )


@pytest.mark.parametrize(
    "sampler", ["exit 1", "mkdir -p freeze-gate/records; echo {} >freeze-gate/records/$FREEZE_GATE_ID.json; exit 1"]
)
def test_a_record_that_is_missing_or_broken_explains_nothing_and_is_left_to_the_gate(
    steps: StepRunner, sampler: str
) -> None:
    """The uploader says that there is nothing, or the gate what is wrong with it."""
    assert steps.run("Sample", SAMPLER=sampler) == 1
    assert steps.look() == {"failure-explained": "false", "upload": "true"}


def test_a_record_that_contradicts_itself_explains_nothing(steps: StepRunner) -> None:
    """The gate cannot use it either."""
    assert steps.run("Sample", SAMPLER=PIN) == 0
    contradicted = record_in(steps.bundle)._replace(transport_ok=False)
    (steps.bundle / "records" / f"{ID}.json").write_bytes(encode_record(contradicted))
    assert steps.look() == {"failure-explained": "false", "upload": "true"}


_RUNNER = {
    "GITHUB_REPOSITORY": "octo-org/widgets",
    "GITHUB_RUN_ID": "4242",
    "GITHUB_RUN_ATTEMPT": "1",
    "GITHUB_JOB": "first",
    "GITHUB_SHA": COMMIT,
}
LANES = {
    "reset": answer(end="reset"),
    "cut": answer(b"half", "Content-Length: 100"),
    "overloaded": sized(b"later", status="503 Service Unavailable"),
}


def _sampler(heading: str) -> str:
    """Return the `sampler` of the README's step below a heading."""
    (text,) = blocks(heading, "yaml")
    found = yaml.safe_load(text if text.lstrip().startswith("-") else f"- with:\n{text}")
    return str(found[-1]["with"]["sampler"])


def _sample_and_call(steps: StepRunner, lane: bytes) -> int:
    """Run the README's lines against a sampler that answers and a lane that says this; return their exit code."""
    with ExactServer(sized(b"sampled")) as sampler, ExactServer(lane) as called:
        steps.environ = steps.environ | {"SAMPLER_URL": sampler.url, "LANE_URL": called.url}
        for name in ("request.json", "job.json"):
            (steps.bundle.parent / name).write_text("{}")
        return steps.run("Sample", SAMPLER=_sampler("A call to a lane"))


@pytest.mark.parametrize("lane", LANES)
def test_a_lane_that_drops_after_a_whole_sample_ends_in_a_flake(tmp_path: Path, job: Job, lane: str) -> None:
    """The README's lines of `sampler` record the call, and its replay is a good rerun: the label asks for a freeze."""
    first, rerun = StepRunner(tmp_path / "first"), StepRunner(tmp_path / "rerun")
    first.environ = _RUNNER
    assert _sample_and_call(first, LANES[lane]) != 0
    assert first.run("Oracle", ORACLE="test -s $FREEZE_GATE_FIXTURE") == 0, first.log
    assert first.look() == {"failure-explained": "true", "upload": "true"}

    shutil.copytree(first.bundle, rerun.bundle.parent / "first-bundle")
    rerun.environ = _RUNNER
    assert rerun.run("Sample", SAMPLER=_sampler("A rerun on the same bytes")) == 0, rerun.log
    assert rerun.run("Oracle", ORACLE="test -s $FREEZE_GATE_FIXTURE") == 0, rerun.log
    assert rerun.look() == {"failure-explained": "false", "upload": "true"}

    for side, steps in (("first", first), ("rerun", rerun)):
        job.run.add_artifact(side, zip_folder(steps.bundle))
    assert job.gate().said == ("harness_flake", True, "transport-fault")
    assert job.pull.issue.labels == ["freeze-request"]


def test_a_lane_that_refuses_is_no_flake(steps: StepRunner) -> None:
    """A 404 is about the request: beside a green record the red line is unexplained, and nothing is uploaded."""
    assert _sample_and_call(steps, sized(b"no", status="404 Not Found")) == 22, steps.log
    assert steps.run("Oracle", ORACLE="true") == 0
    assert steps.look() == {"failure-explained": "false", "upload": "false"}


def test_a_lane_that_answers_leaves_a_green_record(steps: StepRunner) -> None:
    """The same lines, and nothing to blame."""
    assert _sample_and_call(steps, sized(b"done")) == 0, steps.log
    assert steps.run("Oracle", ORACLE="true") == 0
    assert steps.look() == {"failure-explained": "false", "upload": "true"}
