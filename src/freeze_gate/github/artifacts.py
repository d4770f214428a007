"""The artifacts of a run, and when its attempts started."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from freeze_gate.evidence.models import Artifact, CheckFailure
from freeze_gate.github.client import GitHubClient, parse_payload
from freeze_gate.github.errors import Gone, NotFound, Operation
from freeze_gate.validation.readers import (
    InvalidValue,
    ObjectReader,
    Reader,
    boolean,
    integer,
    list_of,
    nullable,
    text,
)

LISTING_RETRY_DELAYS: Final = (2.0, 4.0, 8.0)
"""Seconds before each repetition of a listing that lacks an artifact: one can be missing right after its upload."""

_LIST: Final = Operation("listing the run's artifacts", "actions: read")
_GET: Final = Operation("reading the artifact", "actions: read")
_GET_RUN: Final = Operation("reading the run", "actions: read")
_GET_ATTEMPT: Final = Operation("reading the run's attempt", "actions: read")
_TIME: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z"


class WorkflowRun(NamedTuple):
    """A run, or one attempt of it. `attempt` is the attempt's number, `started_at` its time (UTC)."""

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


def _artifact(**fields: Any) -> Artifact:
    origin: _Origin = fields["workflow_run"] or _Origin()
    return Artifact(
        id=fields["id"],
        name=fields["name"],
        size=fields["size_in_bytes"],
        expired=fields["expired"],
        created_at=fields["created_at"],
        digest=fields["digest"],
        run_id=origin.id,
        repository_id=origin.repository_id,
        head_repository_id=origin.head_repository_id,
        head_branch=origin.head_branch,
        head_sha=origin.head_sha,
    )


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


class UnreadableArtifact(NamedTuple):
    """A listed artifact whose description is not the documented one: any job of the run may upload under any name.

    `name` is None if it is no string, and untrusted otherwise. `problem` says what is wrong.
    """

    name: str | None
    problem: str


class Listing(NamedTuple):
    """The artifacts of a run, newest `created_at` first, and what is not known of the others.

    `unlisted` is the number of artifacts that GitHub counts and does not list.
    """

    artifacts: tuple[Artifact, ...] = ()
    unreadable: tuple[UnreadableArtifact, ...] = ()
    unlisted: int = 0


class _Page(NamedTuple):
    total_count: int
    artifacts: tuple[Any, ...]


_PAGE: Final[Reader[_Page]] = ObjectReader(
    _Page, {"total_count": integer(), "artifacts": list_of(lambda description: description)}
)


def _workflow_run(**fields: Any) -> WorkflowRun:
    return WorkflowRun(
        id=fields["id"],
        attempt=fields["run_attempt"],
        started_at=fields["run_started_at"],
        event=fields["event"],
        head_sha=fields["head_sha"],
        head_branch=fields["head_branch"],
        head_repository_id=fields["head_repository"],
    )


_RUN: Final = ObjectReader(
    _workflow_run,
    {
        "id": _id,
        "run_attempt": _id,
        "run_started_at": nullable(_time),
        "event": _name,
        "head_sha": _sha,
        "head_branch": nullable(_name),
        "head_repository": nullable(ObjectReader(lambda **fields: fields["id"], {"id": _id})),
    },
)


def list_artifacts(
    client: GitHubClient, run_id: int, is_complete: Callable[[tuple[Artifact, ...]], bool] = bool
) -> Listing:
    """List all artifacts of a run.

    A listing that is not complete, or has fewer artifacts than its own count, is repeated after
    `LISTING_RETRY_DELAYS`; the last listing is returned. Raises `ApiError`.
    """
    listing = _list_once(client, run_id)
    for delay in LISTING_RETRY_DELAYS:
        if (not listing.unlisted and is_complete(listing.artifacts)) or not client.budget.wait(delay):
            break
        listing = _list_once(client, run_id)
    return listing


def _list_once(client: GitHubClient, run_id: int) -> Listing:
    """Read all pages. An upload meanwhile shifts them, so that one artifact can come twice."""
    artifacts: dict[int, Artifact] = {}
    unreadable: dict[str, UnreadableArtifact] = {}
    total_count = 0
    for payload in client.get_pages(f"actions/runs/{run_id}/artifacts", _LIST, {}):
        page = parse_payload(_PAGE, payload, _LIST)
        total_count = page.total_count
        for description in page.artifacts:
            try:
                artifact = _ARTIFACT(description)
            except InvalidValue as error:
                name = description.get("name") if type(description) is dict else None
                unreadable[repr(description)] = UnreadableArtifact(
                    name if type(name) is str else None, str(error.problems[0])
                )
            else:
                artifacts[artifact.id] = artifact._replace(run_id=artifact.run_id or run_id)
    newest_first = sorted(artifacts.values(), key=lambda artifact: artifact.created_at or "", reverse=True)
    unlisted = max(0, total_count - len(artifacts) - len(unreadable))
    return Listing(tuple(newest_first), tuple(unreadable.values()), unlisted)


def get_artifact(client: GitHubClient, artifact_id: int) -> Artifact | CheckFailure:
    """Read one artifact; a fault if it is missing or expired. Raises `ApiError`."""
    try:
        response = client.get(f"actions/artifacts/{artifact_id}", _GET)
    except NotFound:
        return CheckFailure(
            "artifact-missing", f"artifact {artifact_id} does not exist, or the token lacks `actions: read`"
        )
    except Gone:
        return CheckFailure("artifact-expired", f"GitHub no longer keeps artifact {artifact_id}")
    return parse_payload(_ARTIFACT, response.payload, _GET)


def get_run(client: GitHubClient, run_id: int) -> WorkflowRun:
    """Read a run; its `attempt` is the number of the latest. Raises `ApiError`."""
    return parse_payload(_RUN, client.get(f"actions/runs/{run_id}", _GET_RUN).payload, _GET_RUN)


def get_attempt(client: GitHubClient, run_id: int, attempt: int) -> WorkflowRun:
    """Read one attempt of a run. Raises `ApiError`."""
    response = client.get(f"actions/runs/{run_id}/attempts/{attempt}", _GET_ATTEMPT)
    return parse_payload(_RUN, response.payload, _GET_ATTEMPT)
