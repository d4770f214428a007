"""What the runner does around the real commands: variables by name, files to write to, an event, an upload."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.builders.zip import zip_folder
from tests.demo.scenes import Scene
from tests.standin import Standin
from tests.standin.state import Repository, Run

REPOSITORY = "octo-org/widgets"
COMMIT = "d" * 40  # what a pull request's job tests: the merge commit
HEAD = "c" * 40
PULL_REQUEST = 12
_ORACLE = Path(__file__).with_name("oracle.py")


class GateResult(NamedTuple):
    """How the gate's step ended."""

    exit_code: int
    summary: str
    outputs: Mapping[str, str]
    log: str


def freeze_gate(words: Sequence[str], environ: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one command as the image does: isolated, with nothing but the variables given."""
    command = [sys.executable, "-I", "-m", "freeze_gate", *words]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(command, env={**kept, **environ}, cwd=folder, capture_output=True, text=True, check=False)


def capture(scene: Scene, run: Run, folder: Path, url: str, *, egress: Sequence[str]) -> None:
    """Run the capture commands of both runs, and upload what they left. A run without commands did not take place."""
    for side, commands in (("first", scene.first), ("rerun", scene.rerun)):
        if not commands:
            continue
        environ = {
            "FREEZE_GATE_BUNDLE": str(folder / side),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": str(run.id),
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_JOB": side,
            "GITHUB_SHA": COMMIT,
        }
        filled = {"url": url, "first": str(folder / "first"), "oracle": str(_ORACLE), "python": sys.executable}
        for command in commands:
            words = [_fill(word, filled) for word in command]
            if words[0] == "oracle":
                words[1:1] = egress
            ended = freeze_gate(words, environ, folder)
            if ended.returncode not in (0, 1, 3 if "--lane" in words else 1):  # a fault or a fail that was recorded
                raise RuntimeError(f"freeze-gate {words[0]} ended with {ended.returncode}: {ended.stderr}")
        run.add_artifact(side, zip_folder(folder / side))


def _fill(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word


def gate(github: Standin, repository: Repository, run: Run, folder: Path, *, wait_seconds: int = 120) -> GateResult:
    """Run the action's entry point as the runner does for a pull request's job."""
    folder.mkdir(parents=True, exist_ok=True)
    event, summary, outputs = (folder / name for name in ("event.json", "summary.md", "outputs.txt"))
    head = {"sha": HEAD, "ref": "patch", "user": {"login": "octo-org"}, "repo": {"id": repository.id}}
    event.write_text(
        json.dumps({"pull_request": {"number": PULL_REQUEST, "head": head, "base": {"repo": {"id": repository.id}}}})
    )
    for path in (summary, outputs):
        path.write_text("")
    ended = freeze_gate(
        ["gate"],
        {
            "INPUT_FIRST-ARTIFACT": "first",
            "INPUT_RERUN-ARTIFACT": "rerun",
            "INPUT_GITHUB-TOKEN": github.token,
            "INPUT_WAIT-SECONDS": str(wait_seconds),
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": github.url,
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_RUN_ID": str(run.id),
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_SHA": COMMIT,
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_WORKSPACE": str(folder),
        },
        folder,
    )
    if not summary.read_text():
        raise RuntimeError(f"freeze-gate gate ended with {ended.returncode} and said nothing: {ended.stderr}")
    found = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
    return GateResult(ended.returncode, summary.read_text(), found, ended.stdout + ended.stderr)
