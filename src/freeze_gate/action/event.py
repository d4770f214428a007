"""Where the job runs and what triggered it: the runner's variables and the event's payload, as typed values.

The payload's shapes are GitHub's webhook events. A payload is written by GitHub, but branch names in it are a
stranger's: they are compared and sent, never printed.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from freeze_gate.errors import UsageError

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_QUEUE: Final = re.compile(r"refs/heads/gh-readonly-queue/.+/pr-([0-9]+)-[0-9a-f]{40}")
"""The branch that a merge queue tests; a base branch may hold slashes, so the last part counts.

Only on the queue's own event: whoever may push can name a branch so.
"""


class Head(NamedTuple):
    """The head of a pull request as the event shows it. None is "not said"."""

    sha: str | None = None
    branch: str | None = None
    owner: str | None = None
    repository_id: int | None = None


class Event(NamedTuple):
    """What is known about the job before GitHub is asked anything.

    `run_id` and `run_attempt` are those of the run to look at: the triggering one under `workflow_run`, else this one.
    `pull_request` is the number that the event names, `from_fork` whether the event says that the code is another
    repository's.
    """

    name: str
    repository: str
    api_url: str
    server_url: str
    run_id: int
    run_attempt: int
    commit: str | None
    pull_request: int | None = None
    head: Head = Head()
    from_fork: bool = False

    @property
    def latest_attempt(self) -> int | None:
        """The run's latest attempt; None under `workflow_run`, which keeps the one that triggered it."""
        return None if self.name == "workflow_run" else self.run_attempt


def read_event(environ: Mapping[str, str]) -> Event:
    """Read the runner's variables and the payload. Raises `UsageError` where the job is none of GitHub Actions."""
    payload = _payload(environ.get("GITHUB_EVENT_PATH", ""))
    event = Event(
        name=environ.get("GITHUB_EVENT_NAME", ""),
        repository=_needed(environ, "GITHUB_REPOSITORY", r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+"),
        api_url=environ.get("GITHUB_API_URL") or "https://api.github.com",
        server_url=environ.get("GITHUB_SERVER_URL") or "https://github.com",
        run_id=int(_needed(environ, "GITHUB_RUN_ID", r"[1-9][0-9]{0,14}")),
        run_attempt=int(_needed(environ, "GITHUB_RUN_ATTEMPT", r"[1-9][0-9]{0,8}")),
        commit=_commit(environ, "GITHUB_SHA"),
    )
    if event.name == "workflow_run":
        return _of_workflow_run(event, _at(payload, "workflow_run"))
    if event.name == "merge_group" and (queued := _QUEUE.fullmatch(environ.get("GITHUB_REF", ""))):
        return event._replace(pull_request=int(queued[1]), head=Head(sha=event.commit))
    if pull := _at(payload, "pull_request"):
        return event._replace(pull_request=_number(pull, "number"), **_head(_at(pull, "head"), _at(pull, "base")))
    return event._replace(head=Head(sha=event.commit))


def _of_workflow_run(event: Event, run: Mapping[str, Any]) -> Event:
    """Return the event as the run that triggered this one saw it. `pull_requests` is empty for forks."""
    home, theirs = _number(run, "repository", "id"), _number(run, "head_repository", "id")
    listed = _at(run, "pull_requests")
    pulls = listed if isinstance(listed, list) else []
    pulls = [pull for pull in pulls if home and _number(pull, "base", "repo", "id") == home]
    return event._replace(
        run_id=_number(run, "id") or event.run_id,
        run_attempt=_number(run, "run_attempt") or event.run_attempt,
        commit=_commit(run, "head_sha"),
        pull_request=_number(pulls[0], "number") if len(pulls) == 1 else None,
        head=Head(
            sha=_commit(run, "head_sha"),
            branch=_text(run, "head_branch"),
            owner=_text(run, "head_repository", "owner", "login"),
            repository_id=theirs,
        ),
        from_fork=theirs is None or theirs != home,
    )


def _head(head: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    theirs = _number(head, "repo", "id")  # null once the fork is deleted
    return {
        "head": Head(_commit(head, "sha"), _text(head, "ref"), _text(head, "user", "login"), theirs),
        "from_fork": theirs is None or theirs != _number(base, "repo", "id"),
    }


def _payload(path: str) -> Mapping[str, Any]:
    with suppress(OSError, ValueError, RecursionError):
        payload = json.loads(Path(path).read_bytes())
        if isinstance(payload, dict):
            return payload
    return {}


def _needed(environ: Mapping[str, str], name: str, pattern: str) -> str:
    value = environ.get(name, "")
    if not re.fullmatch(pattern, value):
        raise UsageError(
            f"{name} is not set as GitHub Actions sets it; `freeze-gate gate` runs as a step of a workflow"
        )
    return value


def _at(value: Any, *path: str) -> Any:
    """Return what stands at a path of keys; an empty mapping where nothing does."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if value is not None else {}


def _number(value: Any, *path: str) -> int | None:
    found = _at(value, *path)
    return found if type(found) is int and found > 0 else None


def _text(value: Any, *path: str) -> str | None:
    found = _at(value, *path)
    return found if isinstance(found, str) and found else None


def _commit(value: Any, *path: str) -> str | None:
    found = _text(value, *path)
    return found if found and _COMMIT.fullmatch(found) else None
