"""Where the job runs and what triggered it: the runner's variables and the event's payload, as typed values.

The payload has the shape of GitHub's webhook events. GitHub writes it, but the branch names in it are untrusted: they
are compared and sent, never printed.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from freeze_gate.errors import UsageError

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_MERGE_QUEUE_REF: Final = re.compile(r"refs/heads/gh-readonly-queue/.+/pr-([0-9]+)-[0-9a-f]{40}")
"""The branch that a merge queue tests. A base branch may hold slashes, so the last part counts.

It is read only under `merge_group`: everybody who may push can give a branch this name.
"""


class Head(NamedTuple):
    """The head of a pull request according to the event. None means unknown."""

    sha: str | None = None
    branch: str | None = None
    owner: str | None = None
    repository_id: int | None = None


class Event(NamedTuple):
    """What is known about the job before GitHub is asked anything.

    `run_id` and `run_attempt` are those of the triggering run under `workflow_run`, else of this one. `pull_request` is
    the number in the event. `from_fork` says that the code is another repository's, according to the event.
    `default_branch` is the repository's, where the policy file is.
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
    default_branch: str | None = None

    @property
    def latest_attempt(self) -> int | None:
        """The run's latest attempt; None under `workflow_run`, which keeps the one that triggered it."""
        return None if self.name == "workflow_run" else self.run_attempt


def read_event(environ: Mapping[str, str]) -> Event:
    """Read the runner's variables and the payload. Raises `UsageError` outside of GitHub Actions."""
    payload = None
    with suppress(OSError, ValueError, RecursionError):
        payload = json.loads(Path(environ.get("GITHUB_EVENT_PATH", "")).read_bytes())
    event = Event(
        name=environ.get("GITHUB_EVENT_NAME", ""),
        repository=_required(environ, "GITHUB_REPOSITORY", r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+"),
        api_url=environ.get("GITHUB_API_URL") or "https://api.github.com",
        server_url=environ.get("GITHUB_SERVER_URL") or "https://github.com",
        run_id=int(_required(environ, "GITHUB_RUN_ID", r"[1-9][0-9]{0,14}")),
        run_attempt=int(_required(environ, "GITHUB_RUN_ATTEMPT", r"[1-9][0-9]{0,8}")),
        commit=_commit(environ, "GITHUB_SHA"),
        default_branch=_text(payload, "repository", "default_branch"),
    )
    if event.name == "workflow_run":
        return _with_triggering_run(event, _dig(payload, "workflow_run"))
    if event.name == "merge_group" and (ref := _MERGE_QUEUE_REF.fullmatch(environ.get("GITHUB_REF", ""))):
        return event._replace(pull_request=int(ref[1]), head=Head(sha=event.commit))
    if pull := _dig(payload, "pull_request"):
        return _with_pull_request(event, pull)
    return event._replace(head=Head(sha=event.commit))


def _with_triggering_run(event: Event, run: Mapping[str, Any]) -> Event:
    """Return the event as the run that triggered this one saw it. Its `pull_requests` is empty for a fork."""
    repository_id = _positive_integer(run, "repository", "id")
    head = Head(
        sha=_commit(run, "head_sha"),
        branch=_text(run, "head_branch"),
        owner=_text(run, "head_repository", "owner", "login"),
        repository_id=_positive_integer(run, "head_repository", "id"),
    )
    listed = _dig(run, "pull_requests")
    pulls = [
        pull
        for pull in (listed if isinstance(listed, list) else [])
        if repository_id and _positive_integer(pull, "base", "repo", "id") == repository_id
    ]
    return event._replace(
        run_id=_positive_integer(run, "id") or event.run_id,
        run_attempt=_positive_integer(run, "run_attempt") or event.run_attempt,
        commit=head.sha,
        pull_request=_positive_integer(pulls[0], "number") if len(pulls) == 1 else None,
        head=head,
        from_fork=head.repository_id is None or head.repository_id != repository_id,
    )


def _with_pull_request(event: Event, pull: Mapping[str, Any]) -> Event:
    head = Head(
        sha=_commit(pull, "head", "sha"),
        branch=_text(pull, "head", "ref"),
        owner=_text(pull, "head", "user", "login"),
        repository_id=_positive_integer(pull, "head", "repo", "id"),  # null once the fork is deleted
    )
    base_id = _positive_integer(pull, "base", "repo", "id")
    return event._replace(
        pull_request=_positive_integer(pull, "number"),
        head=head,
        from_fork=head.repository_id is None or head.repository_id != base_id,
    )


def _required(environ: Mapping[str, str], name: str, pattern: str) -> str:
    value = environ.get(name, "")
    if not re.fullmatch(pattern, value):
        raise UsageError(
            f"{name} is not set as GitHub Actions sets it; `freeze-gate gate` runs as a step of a workflow"
        )
    return value


def _dig(value: Any, *path: str) -> Any:
    """Return the value at a path of keys; an empty mapping if there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if value is not None else {}


def _positive_integer(value: Any, *path: str) -> int | None:
    number = _dig(value, *path)
    return number if type(number) is int and number > 0 else None


def _text(value: Any, *path: str) -> str | None:
    text = _dig(value, *path)
    return text if isinstance(text, str) and text else None


def _commit(value: Any, *path: str) -> str | None:
    commit = _text(value, *path)
    return commit if commit and _COMMIT.fullmatch(commit) else None
