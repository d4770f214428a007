"""Real workflows under `act`: the real engine, the real upload client, the stand-in for GitHub."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.standin import Standin
from tests.standin.state import Run

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
UPLOAD = "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a"
DOWNLOAD = "actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c"
OURS = "OWNER/freeze-gate@0000000000000000000000000000000000000000"
SEALABLE = (
    "--cap-add SYS_ADMIN --cap-add NET_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
)
"""What a job's container needs so that an oracle can be sealed in it; a hosted runner is a machine, not a container."""
REQUIRE = 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);'


class Trigger(NamedTuple):
    """What starts a workflow: the event with its payload, variables of the runner, further words for act."""

    event: str
    payload: Mapping[str, Any]
    environ: Mapping[str, str] = MappingProxyType({})
    words: Sequence[str] = ()


class WorkflowResult(NamedTuple):
    """What became of a workflow: its exit code, its log, and what its jobs left.

    `results` and `summaries` go by the job's id, `outputs` by the job's id and the step's. The result of a matrix is
    its worst.
    """

    exit_code: int
    log: str
    results: dict[str, str]
    outputs: dict[tuple[str, str], dict[str, str]]
    summaries: dict[str, str]


class Act:
    """What workflows are made of: the runner's image, this repository as an action, the actions of others."""

    def __init__(self, folder: Path, base_image: str, runner_image: str) -> None:
        self.folder = folder
        self.runner_image = runner_image
        self.ours = folder / "freeze-gate"
        self._copy_repository(base_image)
        self._bundle_actions()

    def _copy_repository(self, base_image: str) -> None:
        """Copy what git would clone. Its image is built as the runner builds it, on the base image that is at hand."""
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file():
                (self.ours / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.ours / name)
        dockerfile = self.ours / "Dockerfile"
        lines = dockerfile.read_text().splitlines()
        lines = [f"ARG BASE_IMAGE={base_image}" if line.startswith("ARG BASE_IMAGE=") else line for line in lines]
        dockerfile.write_text("\n".join(lines) + "\n")
        commit(self.ours)

    def _bundle_actions(self) -> None:
        """Pack the official client into each of the three actions, as their own releases have it."""
        bundles = self.folder / "bundles"
        sources = [HERE / "artifact" / f"{name}.mjs" for name in ("upload", "merge", "download")]
        options = ["--bundle", "--platform=node", "--target=node20", "--format=esm", "--log-level=error"]
        options += ["--out-extension:.js=.mjs", f"--outdir={bundles}", f"--banner:js={REQUIRE}"]
        subprocess.run([HERE / "node_modules" / ".bin" / "esbuild", *sources, *options], check=True)
        for name in ("upload-artifact", "download-artifact"):
            shutil.copytree(HERE / "artifact" / name, self.folder / name)
        shutil.copy2(bundles / "upload.mjs", self.folder / "upload-artifact")
        shutil.copy2(bundles / "merge.mjs", self.folder / "upload-artifact" / "merge")
        shutil.copy2(bundles / "download.mjs", self.folder / "download-artifact")

    def run(self, workflow: Path, occasion: Trigger, github: Standin, run: Run) -> WorkflowResult:
        """Run a workflow file of a checkout as the newest attempt of a run that the stand-in knows."""
        checkout = workflow.parents[2]
        event_file = checkout.parent / "event.json"
        event_file.write_text(json.dumps(occasion.payload))
        local = {
            UPLOAD: self.folder / "upload-artifact",
            DOWNLOAD: self.folder / "download-artifact",
            OURS: self.ours,
        }
        environ = {
            "GITHUB_API_URL": github.url,
            "GITHUB_REPOSITORY": run.repository.full_name,
            "GITHUB_RUN_ID": str(run.id),
            "GITHUB_RUN_ATTEMPT": str(len(run.attempts)),
            "ACTIONS_RESULTS_URL": f"{github.url}/",
            "ACTIONS_RUNTIME_TOKEN": github.results.token(run),
            **occasion.environ,
        }
        command = ["act", occasion.event, "--json", "--rm", "--pull=false", "--no-cache-server"]
        command += ["--workflows", str(workflow.relative_to(checkout)), "--eventpath", str(event_file)]
        command += ["--platform", f"ubuntu-24.04={self.runner_image}", "--network", "host"]
        command += ["--container-daemon-socket", "-", "--action-cache-path", str(self.folder / "cache")]
        command += ["--container-options", SEALABLE, "--secret", f"GITHUB_TOKEN={github.token}"]
        command += [word for name, path in local.items() for word in ("--local-repository", f"{name}={path}")]
        command += [word for pair in environ.items() for word in ("--env", "=".join(pair))]
        done = subprocess.run(
            [*command, *occasion.words],
            cwd=checkout,
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
            env=_environ(),
        )
        return _read(done)


def commit(folder: Path) -> None:
    """Make a folder a git repository with one commit."""
    git = ["git", "-c", "user.name=Somebody", "-c", "user.email=somebody@example.com", "-c", "core.hooksPath=/dev/null"]
    for words in (["init", "-q", "--initial-branch", "patch"], ["add", "--all"], ["commit", "-q", "-m", "One"]):
        subprocess.run([*git, *words], cwd=folder, check=True)


def _environ() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "ACTIONS_", "INPUT_"))}


def _read(done: subprocess.CompletedProcess[str]) -> WorkflowResult:
    entries = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    ran = WorkflowResult(done.returncode, "\n".join(_line(entry) for entry in entries) + done.stderr, {}, {}, {})
    for entry in entries:
        job, message = entry.get("jobID", ""), entry["msg"]
        if "jobResult" in entry:
            ran.results[job] = min(ran.results.get(job, "success"), entry["jobResult"])  # failure before success
        if entry.get("command") == "set-output":
            step = entry["stepID"][0]
            ran.outputs.setdefault((job, step), {})[entry["name"]] = entry["arg"]
        if entry.get("command") == "summary":
            ran.summaries[job] = ran.summaries.get(job, "") + entry.get("content", message)
    return ran


def _line(entry: Mapping[str, Any]) -> str:
    return f"[{entry.get('job', '')}] {entry['msg'].rstrip()}"
