"""The oracle step of the capture action, as the runner's bash runs it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from freeze_gate.capture.store import Store
from freeze_gate.evidence.record import Transport
from tests.integration.recorded import ID, record_in

ACTION = Path(__file__).parents[2] / ".github" / "actions" / "capture"
STEPS: dict[str, Any] = {
    step["name"]: step for step in yaml.safe_load((ACTION / "action.yml").read_text())["runs"]["steps"]
}


def _program(path: Path, words: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n')
    path.chmod(0o755)


class Steps:
    """Runs steps of the action in one workspace, with the command where the install step puts it."""

    def __init__(self, folder: Path) -> None:
        self.bundle = folder / "workspace" / "freeze-gate"
        self._home = folder / "temp" / "freeze-gate"
        self.bundle.parent.mkdir()
        _program(self._home / "bin" / "python", "")
        _program(self._home / "path" / "freeze-gate", "-I -m freeze_gate")

    def run(self, name: str, **environ: str) -> int:
        """Return a step's exit code."""
        given = {
            "PATH": os.environ["PATH"],
            "RUNNER_TEMP": str(self._home.parent),
            "GITHUB_ACTION_PATH": str(ACTION),
            "FREEZE_GATE_BUNDLE": "freeze-gate",
            "FREEZE_GATE_ID": ID,
            "SECONDS_AT_MOST": "60",
            "EGRESS": "--allow-egress",  # whether a seal can be made is another matter
        }
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]["run"]]
        return subprocess.run(words, cwd=self.bundle.parent, env=given | environ, check=False, timeout=60).returncode


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    """Return the action in an empty workspace."""
    return Steps(tmp_path)


@pytest.mark.parametrize(("oracle", "code"), [("test -s $FREEZE_GATE_FIXTURE", 0), ("exit 3", 3)])
def test_the_oracle_step_ends_as_the_oracle_ends(steps: Steps, oracle: str, code: int) -> None:
    """Whatever became of the sampler, a whole pin is checked."""
    assert steps.run("Sample", SAMPLER='echo sampled | freeze-gate pin --id "$FREEZE_GATE_ID" -; exit 1') == 1
    assert steps.run("Oracle", ORACLE=oracle) == code
    assert record_in(steps.bundle).oracle_passed is (code == 0)


@pytest.mark.parametrize(
    "sampler",
    [
        "true",
        "echo sampled | freeze-gate pin --id another -",
        "mkdir sub; cd sub; echo sampled | freeze-gate pin --id $FREEZE_GATE_ID -",
    ],
    ids=["nothing", "another id", "another folder"],
)
def test_a_job_whose_oracle_did_not_run_is_red(steps: Steps, sampler: str) -> None:
    """A sampler that is content and pinned nothing under the id would make a green check that checked nothing."""
    assert steps.run("Sample", SAMPLER=sampler) == 0
    assert steps.run("Oracle", ORACLE="true") == 1


def test_a_stump_is_not_given_to_the_oracle(steps: Steps) -> None:
    """Its fail would blame the patch for the harness: the step is red, and the verdict stays unknown."""
    assert steps.run("Sample", SAMPLER='echo cut | freeze-gate pin --id "$FREEZE_GATE_ID" -') == 0
    cut = Transport(fault="truncated", pin_complete=False)
    record = record_in(steps.bundle)._replace(transport_ok=False, transport=cut)
    Store(steps.bundle).write(record)
    assert steps.run("Oracle", ORACLE="exit 1") == 1
    assert record_in(steps.bundle) == record
