"""A workflow of the README as GitHub would run it: which jobs run, what they pass on, how its gate's job ends.

Played are the actions of others, and what becomes of a capture, which is given; what a capture puts out and whether it
uploads follow from that as in the action. The gate's steps are real, and so are the scripts beside a capture.
Results, outputs and conditions follow
https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax.
"""

import fnmatch
import io
import os
import re
import subprocess
import zipfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from freeze_gate.capture.bundle.status import status_of
from tests.builders.bundle import Capture, make_bundle
from tests.builders.zip import make_zip
from tests.standin.state import WorkflowJob
from tests.support.actions_expressions import fill, is_true, says_when
from tests.support.gate_job import GateResult, Job
from tests.support.readme import ROOT
from tests.support.recipes import RECIPES

_JOBS: Final = {name: yaml.safe_load(text)["jobs"] for name, text in RECIPES.items()}
_CAPTURE: Final = "OWNER/freeze-gate/.github/actions/capture@"
_GATE: Final = "OWNER/freeze-gate@"
_MERGE: Final = "actions/upload-artifact/merge@"
_CHECKOUT: Final = "actions/checkout@"
_DOWNLOAD: Final = "actions/download-artifact@"
_ACTION: Final = ROOT / ".github" / "actions" / "capture"
_ARTIFACT_NAME: Final = yaml.safe_load((_ACTION / "action.yml").read_text())["outputs"]["artifact-name"]["value"]


class JobPlan(NamedTuple):
    """What becomes of a capture job whose capture runs: its result, and what the capture records; None is nothing.

    `within`: what failed is a step of the capture, and not one after it. `lost`: its upload came to nothing.
    """

    result: str
    evidence: Capture | None = None
    within: bool = False
    lost: bool = False


class NeedsContext(NamedTuple):
    """What `needs` says of a job."""

    result: str
    outputs: Mapping[str, Any]


class WorkflowResult(NamedTuple):
    """How the gate's job ended, and what its step said, if the step ran."""

    conclusion: str
    gate: GateResult | None


class Workflow:
    """The runs of one recipe. `event` is the payload that started it, `inputs` those of a dispatch.

    `listed_after` hides what is uploaded from that many listings; `other_jobs` pass besides.
    """

    def __init__(
        self, recipe: str, job: Job, event: Mapping[str, Any] | None = None, inputs: Mapping[str, str] | None = None
    ) -> None:
        self._jobs: dict[str, Any] = _JOBS[recipe]
        self._job = job
        self._event = event or {}
        self._inputs = inputs or {}
        self._known: dict[str, NeedsContext] = {}
        self._cancelled = False
        self.listed_after = 0
        self.other_jobs = 0
        job.inputs = {"github-token": job.inputs["github-token"], "wait-seconds": "0"}

    def attempt(
        self, became: Mapping[str, JobPlan], *, only: Collection[str] | None = None, cancelled: bool = False
    ) -> WorkflowResult:
        """Run an attempt: of all jobs, or `only` of some, while the others keep their results and outputs.

        `became` names capture jobs, those of a matrix as `first/a`. `cancelled`: the run is cancelled as a whole.
        """
        self._cancelled = cancelled
        newest = len(self._job.run.attempts)
        self._job.run.jobs += [WorkflowJob(f"Test {number}", newest, "success") for number in range(self.other_jobs)]
        ended = WorkflowResult("skipped", None)
        for name, job in self._jobs.items():
            if only is not None and name not in only:
                continue
            if not self._is_due(job):
                self._known[name] = NeedsContext("skipped", {})
            elif any(step.get("uses", "").startswith(_GATE) for step in job["steps"]):
                ended = self._judge(job)
            elif any(step.get("uses", "").startswith(_MERGE) for step in job["steps"]):
                self._known[name] = self._merge(job)
            else:
                self._known[name] = self._capture(name, job, became)
        return ended

    def ran(self, name: str) -> bool:
        """Whether a job ran, as far as is known."""
        return self._known[name].result != "skipped"

    def _is_due(self, job: Mapping[str, Any]) -> bool:
        return self._holds(str(job.get("if", "success()")), self._contexts(job), failed=not self._all_well(job))

    def _all_well(self, job: Mapping[str, Any]) -> bool:
        return all(known.result == "success" for known in self._needs(job).values())

    def _holds(self, condition: str, contexts: Mapping[str, Any], *, failed: bool) -> bool:
        """Whether a job or a step is to run. Where the condition names no status, all must have gone well so far."""
        status = {
            "always": lambda: True,
            "cancelled": lambda: self._cancelled,
            "failure": lambda: failed,
            "success": lambda: not failed and not self._cancelled,
        }
        text = condition if "${{" in condition else f"${{{{ {condition} }}}}"
        if failed and not says_when(text):
            return False
        return is_true(fill(text, contexts, status))

    def _needs(self, job: Mapping[str, Any]) -> dict[str, NeedsContext]:
        named = job.get("needs", [])
        return {name: self._known[name] for name in ([named] if isinstance(named, str) else named)}

    def _contexts(self, job: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        environ = self._job.environ
        github = {
            "event": self._event,
            "ref": environ["GITHUB_REF"],
            "token": self._job.inputs["github-token"],
            "repository": environ["GITHUB_REPOSITORY"],
            "run_attempt": int(environ["GITHUB_RUN_ATTEMPT"]),
            "run_id": int(environ["GITHUB_RUN_ID"]),
        }
        needs = {name: known._asdict() for name, known in self._needs(job).items()}
        return {"github": github, "inputs": self._inputs, "needs": needs, "secrets": {}, "vars": {}, **more}

    def _capture(self, name: str, job: Mapping[str, Any], became: Mapping[str, JobPlan]) -> NeedsContext:
        results, outputs = [], {}
        for shard in _shards(job):
            did = became[f"{name}/{shard['shard']}" if shard else name]
            contexts = self._contexts(job, matrix=shard)
            result, steps = self._captured(job, contexts, did)
            self._job.run.jobs.append(
                WorkflowJob(str(fill(job["name"], contexts, {})), len(self._job.run.attempts), result)
            )
            outputs = _outputs(job, {**contexts, "steps": steps})
            results.append(result)
        worst = next(result for result in ("failure", "cancelled", "success") if result in results)
        return NeedsContext("success" if worst == "failure" and job.get("continue-on-error") else worst, outputs)

    def _captured(
        self, job: Mapping[str, Any], contexts: Mapping[str, Any], did: JobPlan
    ) -> tuple[str, dict[str, Any]]:
        """Run the steps of a capture job in their order; a step that fails ends the job."""
        steps: dict[str, Any] = {}
        bundles: list[str] = []
        for step in job["steps"]:
            here = {**contexts, "steps": steps}
            result, outputs = "success", {}
            if step.get("uses", "").startswith(_CAPTURE):
                result, outputs = self._play(step, here, did, bundles)
            elif step.get("uses", "").startswith(_DOWNLOAD):
                wanted = fill(step["with"]["artifact-ids"], here, {})
                found = wanted in [str(one.id) for one in self._job.run.artifacts]
                bundles += [step["with"]["path"]] if found else []
                result = "success" if found else "failure"
            elif "run" in step:
                result = "success" if self._script(step, here) else "failure"
            else:
                assert step["uses"].startswith(_CHECKOUT)
            steps[step.get("id", "")] = {"outputs": outputs}
            if result != "success" and not step.get("continue-on-error"):
                return result, steps
        return "success", steps

    def _play(
        self, step: Mapping[str, Any], contexts: Mapping[str, Any], did: JobPlan, bundles: Collection[str]
    ) -> tuple[str, dict[str, str]]:
        """Let a capture come to its end: its result, and its outputs."""
        given = {key: fill(step["with"][key], contexts, {}) for key in ("fixture-id", "name", "sampler")}
        replayed = re.search(r"freeze-gate replay (\S+)", given["sampler"])
        if not all(told(step, contexts).values()) or (replayed and replayed[1] not in bundles):
            return "failure", {"failure-explained": "false"}
        if did.evidence is None:
            return did.result, {"failure-explained": "false"}
        status = status_of(did.evidence.record)
        explained = status.is_failure_explained
        hides = status.state == "usable" and not explained and did.within and did.result != "success"
        uploaded = {} if hides or did.lost else self._upload(given, contexts, did.evidence)
        return did.result, {"failure-explained": str(explained).lower(), **uploaded}

    def _upload(self, given: Mapping[str, str], contexts: Mapping[str, Any], evidence: Capture) -> dict[str, str]:
        name = fill(_ARTIFACT_NAME, {**contexts, "inputs": given}, {})
        here = {"run_id": contexts["github"]["run_id"], "run_attempt": contexts["github"]["run_attempt"]}
        stored = evidence.changed(fixture_id=given["fixture-id"], run=here)
        return {"artifact-id": str(self._store(name, make_bundle(stored, root="")))}

    def _merge(self, job: Mapping[str, Any]) -> NeedsContext:
        steps: dict[str, Any] = {}
        failed = False
        for step in job["steps"]:
            contexts = self._contexts(job, steps=steps)
            if not self._step_is_due(step, contexts, failed=failed):
                continue
            given = {key: fill(value, contexts, {}) for key, value in step["with"].items()}
            assert given["separate-directories"] is True
            found = [one for one in self._job.run.artifacts if fnmatch.fnmatchcase(one.name, given["pattern"])]
            members = {f"{one.name}/{name}": payload for one in found for name, payload in _members(one.content)}
            stored = {"artifact-id": str(self._store(given["name"], make_zip(members)))} if members else {}
            steps[step["id"]] = {"outputs": stored}
            failed |= not stored
        return NeedsContext("failure" if failed else "success", _outputs(job, self._contexts(job, steps=steps)))

    def _store(self, name: str, content: bytes) -> int:
        run = self._job.run
        stored = run.add_artifact(
            name,
            content,
            created_at=f"{run.attempts[-1][:14]}{10 + len(run.artifacts)}:00Z",
            listed_after=self.listed_after,
        )
        return stored.id

    def _judge(self, job: Mapping[str, Any]) -> WorkflowResult:
        outcome, failed = None, False
        steps: dict[str, Any] = {}
        for step in job["steps"]:
            contexts = self._contexts(job, steps=steps)
            if not self._step_is_due(step, contexts, failed=failed):
                continue
            if "run" in step:
                failed |= not self._script(step, contexts)
                continue
            assert step["uses"].startswith(_GATE)
            given = {key: str(fill(value, contexts, {}) or "") for key, value in step["with"].items()}
            outcome = self._job.gate(**given)
            steps[step.get("id", "")] = {"outputs": outcome.outputs}
            failed |= outcome.code != 0
        return WorkflowResult("failure" if failed else "success", outcome)

    def _script(self, step: Mapping[str, Any], contexts: Mapping[str, Any]) -> bool:
        """Run a step's script in the workspace, and say whether it ended well."""
        environ = {key: str(fill(value, contexts, {}) or "") for key, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]],
            cwd=self._job.workspace,
            env={"PATH": os.environ["PATH"], "GITHUB_API_URL": self._job.environ["GITHUB_API_URL"], **environ},
            stdout=subprocess.DEVNULL,
            check=False,
        )
        return done.returncode == 0

    def _step_is_due(self, step: Mapping[str, Any], contexts: Mapping[str, Any], *, failed: bool) -> bool:
        """Whether a step runs. A job that began after its run was cancelled is not cancelled itself."""
        cancelled, self._cancelled = self._cancelled, False
        try:
            return self._holds(str(step.get("if", "success()")), contexts, failed=failed)
        finally:
            self._cancelled = cancelled


def told(step: Mapping[str, Any], contexts: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that a capture's sampler names, as the workflow fills them; the action sets the id."""
    named = set(re.findall(r"\$\{?([A-Z][A-Z_]*)", step["with"]["sampler"])) - {"FREEZE_GATE_ID"}
    return {name: str(fill(step.get("env", {}).get(name), contexts, {}) or "") for name in sorted(named)}


def captures(recipe: str) -> list[dict[str, Any]]:
    """Return the steps of a recipe that capture."""
    steps = [step for job in _JOBS[recipe].values() for step in job["steps"]]
    return [step for step in steps if step.get("uses", "").startswith(_CAPTURE)]


def _outputs(job: Mapping[str, Any], contexts: Mapping[str, Any]) -> dict[str, Any]:
    return {key: fill(value, contexts, {}) or "" for key, value in job.get("outputs", {}).items()}


def _shards(job: Mapping[str, Any]) -> list[dict[str, str]]:
    matrix = job.get("strategy", {}).get("matrix", {})
    return [{"shard": shard} for shard in matrix.get("shard", ())] or [{}]


def _members(content: bytes | Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content) if isinstance(content, bytes) else content) as archive:
        yield from ((name, archive.read(name)) for name in archive.namelist())
