"""One step of a job, run as GitHub's runner runs a container action: its mounts, its variables, its files.

What `docker run` gets is what the runner's ContainerActionHandler and DockerCommandManager put together. The workspace
and the home folder are hostile: every module that the gate imports lies there as well, and says that it was loaded.
"""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

RUNNER_UID = 1001
HOSTILE = "raise SystemExit('the checkout was imported')\n"
MODULES = ("requests", "yaml", "urllib3", "freeze_gate", "json", "sitecustomize", "usercustomize", "encodings")


class StepResult(NamedTuple):
    """What a step left behind."""

    exit_code: int
    log: str
    summary: str
    outputs: dict[str, str]

    @property
    def four_lines(self) -> list[str]:
        """The lines of the first fenced block."""
        return self.summary.split("```")[1].strip().splitlines()[-4:]


class RunnerMachine:
    """The folders of a runner, all of them uid 1001's."""

    def __init__(self, folder: Path) -> None:
        self.temp = folder / "_temp"
        self.workspace = folder / "workspace"
        self.event = self.temp / "_github_workflow" / "event.json"
        for path in ("_github_home", "_github_workflow", "_runner_file_commands"):
            (self.temp / path).mkdir(parents=True)
        self.workspace.mkdir()
        self._plant()

    def _plant(self) -> None:
        """Fill the checkout and the home folder with what a patch would like the gate to import or to trust."""
        home = self.temp / "_github_home"
        for folder in (self.workspace, home):
            for name in MODULES:
                (folder / f"{name}.py").write_text(HOSTILE)
            (folder / ".netrc").write_text("default login patch password taken-from-netrc\n")
            (folder / ".netrc").chmod(0o644)
        site = home / ".local" / "lib" / "python3.13" / "site-packages"
        site.mkdir(parents=True)
        (site / "requests.py").write_text(HOSTILE)
        (site / "hostile.pth").write_text("import sys; sys.exit('the home folder was imported')\n")

    def run(
        self, image: str, inputs: Mapping[str, str], github: Mapping[str, str], payload: Mapping[str, Any]
    ) -> StepResult:
        """Run the step and read its files."""
        self.event.write_text(json.dumps(payload))
        commands = self.temp / "_runner_file_commands"
        output, summary = commands / "set_output_1", commands / "step_summary_1"
        for path in (output, summary):
            path.write_text("")
            path.chmod(0o644)
        _give_away(self.temp.parent)
        environ = {
            **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
            **github,
            "HOME": "/github/home",
            "GITHUB_ACTIONS": "true",
            "CI": "true",
            "GITHUB_WORKSPACE": "/github/workspace",
            "GITHUB_EVENT_PATH": "/github/workflow/event.json",
            "GITHUB_OUTPUT": f"/github/file_commands/{output.name}",
            "GITHUB_STEP_SUMMARY": f"/github/file_commands/{summary.name}",
            "RUNNER_TEMP": "/github/runner_temp",
            "PYTHONPATH": "/github/workspace",
            "PYTHONSTARTUP": "/github/workspace/sitecustomize.py",
            "PYTHONHOME": "",
        }
        command = ["docker", "run", "--rm", "--network", "host", "--workdir", "/github/workspace"]
        command += [word for name in environ for word in ("-e", name)]  # no value in a process list
        command += [word for mount in self._mounts() for word in ("-v", mount)]
        done = subprocess.run(
            [*command, image],
            env={"PATH": os.environ["PATH"], "DOCKER_HOST": os.environ.get("DOCKER_HOST", ""), **environ},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        return StepResult(done.returncode, done.stdout + done.stderr, summary.read_text(), _outputs(output.read_text()))

    def _mounts(self) -> list[str]:
        return [
            f"{self.temp}:/github/runner_temp",
            f"{self.temp}/_github_home:/github/home",
            f"{self.temp}/_github_workflow:/github/workflow",
            f"{self.temp}/_runner_file_commands:/github/file_commands",
            f"{self.workspace}:/github/workspace",
        ]


def _give_away(folder: Path) -> None:
    """Make everything the runner's, where this process may."""
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, RUNNER_UID, RUNNER_UID)


def _outputs(text: str) -> dict[str, str]:
    """Read an output file as the runner does: the last value of a name counts."""
    return dict(re.findall(r"^([a-z0-9-]+)=(.*)$", text, re.MULTILINE))
