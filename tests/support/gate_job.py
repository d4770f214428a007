"""One step of a job that runs the gate: evidence in real zips, the runner's files and variables, the real entry point.

Needs the standard library alone, so that a demonstration can use it as well.
"""

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from freeze_gate import cli
from freeze_gate.action.runner import TERMINATION_SIGNALS
from freeze_gate.github.wait_budget import SYSTEM_CLOCK, Clock
from freeze_gate.verdict.document_reader import recompute
from tests.builders.bundle import Capture, make_bundle, make_capture
from tests.builders.record import COMMIT
from tests.standin import Fault, Standin
from tests.standin.state import Artifact
from tests.standin.state import Run as WorkflowRun


class GateResult(NamedTuple):
    """What a step left: its exit code, its outputs as the runner reads them, its summary, its log, its verdict file."""

    code: int
    outputs: dict[str, str]
    summary: str
    log: str
    verdict: bytes | None

    @property
    def lines(self) -> dict[str, str]:
        """The four lines; fails where they are not there exactly once."""
        (block,) = re.findall(r"^```\n(fixture_sha256=.*?)^```$", self.summary, re.MULTILINE | re.DOTALL)
        return dict(line.split("=", 1) for line in block.splitlines())

    @property
    def said(self) -> tuple[str, bool, str]:
        """Class, freeze allowed and reason, after it is seen that lines and outputs agree."""
        lines, outputs = self.lines, self.outputs
        assert [*lines] == ["fixture_sha256", "failure_class", "freeze_allowed", "fixture_path"]
        assert outputs["failure-class"] == lines["failure_class"]
        assert outputs["freeze-allowed"] == lines["freeze_allowed"]
        assert outputs["fixture-sha256"] == lines["fixture_sha256"]
        assert outputs["fixture-path"] == lines["fixture_path"]
        return lines["failure_class"], {"true": True, "false": False}[lines["freeze_allowed"]], outputs["reason"]

    @property
    def text(self) -> str:
        """The summary as a reader sees it: without what only keeps Markdown from reading more into it."""
        return self.summary.replace("\u200b", "").replace("\\", "")

    @property
    def annotations(self) -> list[tuple[str, str]]:
        """The workflow commands in the log, as the runner obeys them: level and message."""
        return [
            (found[1], found[2]) for found in re.finditer(r"^\s*::(\S+?)(?: [^:]*)?::(.*)$", self.log, re.MULTILINE)
        ]


class Job:
    """A job of run 4242 for pull request 12 of `octo-org/widgets`; `environ` is what its runner sets."""

    def __init__(self, folder: Path, github: Standin) -> None:
        self.github = github
        self.repository = github.repository()
        self.run = self.repository.add_run(4242)
        self.pull = self.repository.add_pull(number=12)
        self.workspace, self.files = folder / "workspace", folder / "files"
        for made in (self.workspace, self.files):
            made.mkdir(parents=True)
        self.environ = {
            "GITHUB_API_URL": github.url,
            "GITHUB_SERVER_URL": github.server_url,
            "GITHUB_REPOSITORY": self.repository.full_name,
            "GITHUB_RUN_ID": "4242",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_REF": "refs/pull/12/merge",
            "GITHUB_SHA": COMMIT,
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_OUTPUT": str(self.files / "output"),
            "GITHUB_STEP_SUMMARY": str(self.files / "summary"),
            "GITHUB_EVENT_PATH": str(self.files / "event.json"),
            "GITHUB_ACTION_REPOSITORY": "octo-org/freeze-gate",
            "GITHUB_ACTION_REF": "v1",
        }
        self.inputs = {
            "first-artifact": "first",
            "rerun-artifact": "rerun",
            "github-token": github.token,
            "wait-seconds": "0",
        }
        self.happens("pull_request", self.pull_request())

    def happens(self, name: str, payload: Any) -> None:
        """Let an event have started the job."""
        self.environ["GITHUB_EVENT_NAME"] = name
        (self.files / "event.json").write_text(json.dumps(payload))

    def pull_request(self) -> dict[str, Any]:
        """Return the payload of the pull request's event, as it was when the event took place."""
        shapes = self.github.rest.shapes
        pull = shapes.pull(self.repository, self.pull, full=True)
        return {"action": "synchronize", "number": 12, "pull_request": pull, "repository": pull["base"]["repo"]}

    def attempts(self, count: int) -> None:
        """Let the run have had that many attempts, an hour apart."""
        self.run.attempts = [f"2026-11-29T{8 + number:02}:00:00Z" for number in range(count)]
        self.environ["GITHUB_RUN_ATTEMPT"] = str(count)

    def upload(
        self, name: str, *captures: Capture, attempt: int | None = None, run: WorkflowRun | None = None, **facts: Any
    ) -> Artifact:
        """Store a bundle as an artifact, some minutes after its attempt began."""
        into = run or self.run
        started = into.attempts[(attempt or len(into.attempts)) - 1]
        facts.setdefault("created_at", f"{started[:14]}{10 + len(into.artifacts) % 50}:00Z")
        return into.add_artifact(name, make_bundle(*captures), **facts)

    def pair(self, first: Capture | None = None, rerun: Capture | None = None) -> None:
        """Upload two bundles of one capture each, under the names that the inputs ask for."""
        self.upload("first", first or make_capture())
        self.upload("rerun", rerun or make_capture())

    def variables(self, **inputs: str) -> dict[str, str]:
        """Return all that the step gets; an underscore in the name of an input stands for its hyphen."""
        given = self.inputs | {name.replace("_", "-"): value for name, value in inputs.items()}
        return self.environ | {f"INPUT_{name.upper()}": value for name, value in given.items()}

    def gate(self, clock: Clock = SYSTEM_CLOCK, **inputs: str) -> GateResult:
        """Run the step in this process."""
        log = io.StringIO()
        before = {number: signal.getsignal(number) for number in TERMINATION_SIGNALS}
        try:
            with redirect_stdout(log), redirect_stderr(log):
                code = cli.main(["gate"], self.variables(**inputs), clock)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        return self.outcome(code, log.getvalue())

    def start(self, environ: Mapping[str, str] | None = None, **inputs: str) -> "subprocess.Popen[str]":
        """Run the step in a process of its own, as the image does: isolated, in the workspace."""
        return subprocess.Popen(
            [sys.executable, "-I", "-u", "-m", "freeze_gate", "gate"],
            cwd=self.workspace,
            env={"PATH": os.environ["PATH"], **self.variables(**inputs), **(environ or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def gate_apart(self, environ: Mapping[str, str] | None = None, **inputs: str) -> GateResult:
        """Run the step in a process of its own to its end."""
        return self.end(self.start(environ, **inputs))

    def end(self, process: "subprocess.Popen[str]") -> GateResult:
        """Wait for a process that was started."""
        log, _ = process.communicate(timeout=60)
        return self.outcome(process.returncode, log)

    def outcome(self, code: int, log: str) -> GateResult:
        """Read what a step left, and make place for the next one. A verdict must follow from its own file."""
        found = {name: self._take(self.files / name) for name in ("output", "summary")}
        outputs = read_outputs(found["output"])
        file = outputs.get("verdict-file")
        path = self.workspace / file if file else None
        if path is None or not path.is_file():
            return GateResult(code, outputs, found["summary"], log, None)
        verdict = path.read_bytes()
        assert recompute(verdict) == verdict, "the verdict does not follow from its own file"
        return GateResult(code, outputs, found["summary"], log, verdict)

    @staticmethod
    def _take(path: Path) -> str:
        if not path.is_file():
            return ""
        text = path.read_bytes().decode("utf-8")
        path.unlink()
        return text


def read_outputs(text: str) -> dict[str, str]:
    """Read an output file as the runner does. Raises `ValueError` where the runner would fail the step."""
    outputs: dict[str, str] = {}
    lines = iter(text.split("\n"))
    for line in filter(None, lines):
        equals, heredoc = line.find("="), line.find("<<")
        if equals >= 0 and (heredoc < 0 or equals < heredoc):
            outputs[line[:equals]] = line[equals + 1 :]
        elif heredoc > 0:
            outputs[line[:heredoc]] = "\n".join(_until(lines, line[heredoc + 2 :]))
        else:
            msg = f"not an output: {line!r}"
            raise ValueError(msg)
    return outputs


def _until(lines: Iterable[str], delimiter: str) -> Iterable[str]:
    for line in lines:
        if line == delimiter:
            return
        yield line
    msg = "the delimiter is missing"
    raise ValueError(msg)


def api_calls(github: Standin) -> list[str]:
    """Name what was asked of the API, in order, below the repository: `GET pulls/12`."""
    return [re.sub(r" (?:/[^/]+)*/repos/[^/]+/[^/]+/?", " ", call) for call in github.asked("api")]


def override_listing(job: Job, **facts: Any) -> None:
    """Let the listing say something else of every artifact."""
    described = [{**job.github.rest.shapes.artifact(artifact), **facts} for artifact in job.run.artifacts]
    payload = {"total_count": len(described), "artifacts": described}
    job.github.fault(Fault("status", "GET", "/artifacts$", status=200, payload=payload))
