"""What starts a workflow: the published example of each event, with the facts of the stand-in filled in."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.builders.record import COMMIT
from tests.standin.state import Repository, Run
from tests.support.gate_job import Job

_EXAMPLES: Final = json.loads(Path(__file__).with_name("webhooks.json").read_text(encoding="utf-8"))["events"]


def pull_request(job: Job) -> dict[str, Any]:
    """Let the pull request's head have been pushed to; returns the payload."""
    pull, head = job.pull, job.pull.head_repository
    assert head is not None
    payload = _filled(
        "pull_request",
        {
            "number": pull.number,
            "after": pull.head_sha,
            "repository": _repository(job.repository),
            "pull_request": {
                "number": pull.number,
                "head": {
                    "ref": pull.head_ref,
                    "sha": pull.head_sha,
                    "label": f"{head.owner}:{pull.head_ref}",
                    "user": {"login": head.owner},
                    "repo": _repository(head),
                },
                "base": {"user": {"login": job.repository.owner}, "repo": _repository(job.repository)},
            },
        },
    )
    job.environ |= {"GITHUB_REF": f"refs/pull/{pull.number}/merge", "GITHUB_SHA": COMMIT}
    job.happens("pull_request", payload)
    return payload


def merge_group(job: Job) -> dict[str, Any]:
    """Let the pull request enter the merge queue; what is tested is a merge, and no head of a pull request."""
    ref = f"refs/heads/gh-readonly-queue/main/pr-{job.pull.number}-{'b' * 40}"
    facts = {"merge_group": {"head_sha": COMMIT, "head_ref": ref}, "repository": _repository(job.repository)}
    payload = _filled("merge_group", facts)
    job.environ |= {"GITHUB_REF": ref, "GITHUB_SHA": COMMIT}
    job.run.event, job.run.head_sha = "merge_group", COMMIT
    job.happens("merge_group", payload)
    return payload


def schedule(job: Job) -> dict[str, Any]:
    """Let the night come. The event has no webhook; its payload is the schedule."""
    payload = {"schedule": "23 3 * * *", "repository": _repository(job.repository)}
    _on_main(job)
    job.happens("schedule", payload)
    return payload


def workflow_dispatch(job: Job, inputs: Mapping[str, str]) -> dict[str, Any]:
    """Let a person start the workflow by hand, in a run of its own."""
    facts = {"inputs": dict(inputs), "ref": "refs/heads/main", "repository": _repository(job.repository)}
    payload = _filled("workflow_dispatch", facts)
    job.run = job.repository.add_run(4300)
    job.environ |= {"GITHUB_RUN_ID": "4300", "GITHUB_RUN_ATTEMPT": "1"}
    _on_main(job)
    job.happens("workflow_dispatch", payload)
    return payload


def workflow_run(job: Job, conclusion: str = "failure") -> dict[str, Any]:
    """Let the pull request's run be over: what follows runs on the default branch, in a run of its own."""
    payload = {
        **_filled("workflow_run", {"workflow_run": _run(job.run, conclusion)}),
        "repository": _repository(job.repository),
    }
    job.environ |= {
        "GITHUB_REF": "refs/heads/main",
        "GITHUB_SHA": "a" * 40,
        "GITHUB_RUN_ID": "4400",
        "GITHUB_RUN_ATTEMPT": "1",
    }
    job.happens("workflow_run", payload)
    return payload


def _run(run: Run, conclusion: str) -> dict[str, Any]:
    at_home = run.head_repository is run.repository
    pull = {"number": 12, "base": {"repo": {"id": run.repository.id}}}
    return {
        "id": run.id,
        "run_attempt": len(run.attempts),
        "event": run.event,
        "conclusion": conclusion,
        "head_branch": run.head_branch,
        "head_sha": run.head_sha,
        "head_repository": _repository(run.head_repository),
        "repository": _repository(run.repository),
        "pull_requests": [pull] if at_home else [],
    }


def _on_main(job: Job) -> None:
    job.environ |= {"GITHUB_REF": "refs/heads/main", "GITHUB_SHA": COMMIT}
    job.run.event, job.run.head_sha, job.run.head_branch = "workflow_dispatch", COMMIT, "main"


def _repository(repository: Repository) -> dict[str, Any]:
    return {
        "id": repository.id,
        "name": repository.name,
        "full_name": repository.full_name,
        "fork": repository.fork,
        "owner": {"login": repository.owner},
    }


def _filled(name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    payload = copy.deepcopy(_EXAMPLES[name])
    _fill(payload, facts, name)
    return dict(payload)


def _fill(into: dict[str, Any], facts: Mapping[str, Any], place: str) -> None:
    """Put facts in the places that the example has for them: a place that it does not have is a mistake here."""
    for key, value in facts.items():
        assert key in into, f"the published {place} has no {key}"
        if isinstance(value, dict) and isinstance(into[key], dict) and key != "inputs":
            _fill(into[key], value, f"{place}.{key}")
        else:
            into[key] = value
