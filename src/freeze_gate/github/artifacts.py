"""Which artifacts a run has, and when its attempts began."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from freeze_gate.evidence.models import Artifact, Fault
from freeze_gate.github.client import Api, read
from freeze_gate.github.errors import ApiError, Purpose
from freeze_gate.validation.readers import (
    InvalidValue,
    ObjectReader,
    Reader,
    boolean,
    integer,
    list_of,
    nullable,
    of_type,
    text,
)

LAG: Final = (2.0, 4.0, 8.0)
"""Seconds between two looks at a listing that does not hold what was uploaded a moment ago."""

_LIST: Final = Purpose("list the artifacts of the run", "actions: read")
_GET: Final = Purpose("describe the artifact", "actions: read")
_RUN: Final = Purpose("describe the run", "actions: read")
_ATTEMPT: Final = Purpose("describe the attempt of the run", "actions: read")
_TIME: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z"


class RunFacts(NamedTuple):
    """What GitHub says about a run, or about one attempt of it. `attempt` is its number, `started_at` its UTC time."""

    id: int
    attempt: int
    started_at: str | None
    event: str
    head_sha: str
    head_branch: str | None
    head_repository_id: int | None


class _Origin(NamedTuple):
    id: int | None = None
    repository_id: int | None = None
    head_repository_id: int | None = None
    head_branch: str | None = None
    head_sha: str | None = None


_id: Final = integer(1)
_sha: Final = text("a commit", r"[0-9a-f]{40,64}")
_time: Final = text("a UTC time such as 2026-11-29T12:00:00Z", _TIME, lambda time: f"{time[:19]}Z")  # to the second
_name: Final = text("a name", r".{1,1000}")

_ORIGIN: Final = ObjectReader(
    _Origin,
    {
        "id": nullable(_id),
        "repository_id": nullable(_id),
        "head_repository_id": nullable(_id),
        "head_branch": nullable(_name),
        "head_sha": nullable(_sha),
    },
)


def _artifact(size_in_bytes: int, workflow_run: _Origin | None, **said: Any) -> Artifact:
    run = workflow_run or _Origin()
    return Artifact(size=size_in_bytes, run_id=run.id, **said, **{k: v for k, v in run._asdict().items() if k != "id"})


_FIELDS: Final[dict[str, Reader[Any]]] = {
    "id": _id,
    "name": _name,
    "size_in_bytes": integer(),
    "expired": boolean,
    "created_at": nullable(_time),
    "digest": nullable(_name),
    "workflow_run": nullable(_ORIGIN),
}
_ARTIFACT: Final = ObjectReader(_artifact, _FIELDS)


class _Listing(NamedTuple):
    total_count: int
    artifacts: tuple[Artifact, ...]


# Any job of the run may upload under any name. One that no input can be must not stop the gate: it is left out below.
_LISTED: Final = ObjectReader(_artifact, {**_FIELDS, "name": of_type(str, "a string")})
_LISTING: Final = ObjectReader(_Listing, {"total_count": integer(), "artifacts": list_of(_LISTED)})


def _run_facts(run_started_at: str | None, run_attempt: int, head_repository: int | None, **said: Any) -> RunFacts:
    return RunFacts(attempt=run_attempt, started_at=run_started_at, head_repository_id=head_repository, **said)


_RUN_FACTS: Final = ObjectReader(
    _run_facts,
    {
        "id": _id,
        "run_attempt": _id,
        "run_started_at": nullable(_time),
        "event": _name,
        "head_sha": _sha,
        "head_branch": nullable(_name),
        "head_repository": nullable(ObjectReader(lambda **found: found["id"], {"id": _id})),
    },
)


def list_artifacts(
    api: Api, run_id: int, enough: Callable[[tuple[Artifact, ...]], bool] = bool
) -> tuple[Artifact, ...]:
    """List all artifacts of a run, newest `created_at` first, without those whose name holds a control character.

    A listing that does not satisfy `enough`, or holds fewer than it counts, is asked for again a few times: an
    artifact can be missing for seconds after its upload. What the last look showed is returned. Raises `ApiError`.
    """
    found, whole_listing = _listing(api, run_id)
    for pause in LAG:
        if (whole_listing and enough(found)) or not api.budget.wait(pause):
            break
        found, whole_listing = _listing(api, run_id)
    return found


def _listing(api: Api, run_id: int) -> tuple[tuple[Artifact, ...], bool]:
    """Ask once. An upload between two pages shifts them, so that one artifact can come twice."""
    found: dict[int, Artifact] = {}
    count = 0
    for payload in api.pages(f"actions/runs/{run_id}/artifacts", _LIST, {}):
        page: _Listing = read(_LISTING, payload, _LIST)
        count = page.total_count
        found |= {artifact.id: artifact._replace(run_id=artifact.run_id or run_id) for artifact in page.artifacts}
    newest_first = sorted(found.values(), key=lambda artifact: artifact.created_at or "", reverse=True)
    return tuple(artifact for artifact in newest_first if _is_name(artifact.name)), len(found) >= count


def _is_name(name: str) -> bool:
    try:
        _name(name)
    except InvalidValue:
        return False
    return True


def get_artifact(api: Api, artifact_id: int) -> Artifact | Fault:
    """Describe one artifact; a fault where there is none. Raises `ApiError`."""
    try:
        answer = api.get(f"actions/artifacts/{artifact_id}", _GET)
    except ApiError as error:
        if error.kind == "not-found":
            return Fault("artifact-missing", f"there is no artifact {artifact_id}, or the token lacks `actions: read`")
        if error.kind == "gone":
            return Fault("artifact-expired", f"GitHub no longer keeps artifact {artifact_id}")
        raise
    artifact: Artifact = read(_ARTIFACT, answer.payload, _GET)
    return artifact


def get_run(api: Api, run_id: int) -> RunFacts:
    """Describe a run; its `attempt` is the newest one's number. Raises `ApiError`."""
    facts: RunFacts = read(_RUN_FACTS, api.get(f"actions/runs/{run_id}", _RUN).payload, _RUN)
    return facts


def get_attempt(api: Api, run_id: int, attempt: int) -> RunFacts:
    """Describe one attempt of a run. Raises `ApiError`."""
    answer = api.get(f"actions/runs/{run_id}/attempts/{attempt}", _ATTEMPT)
    facts: RunFacts = read(_RUN_FACTS, answer.payload, _ATTEMPT)
    return facts
