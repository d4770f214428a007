"""Pull requests: by number, by branch, and by commit."""

from typing import Any, Final, NamedTuple

from freeze_gate.github.client import GitHubClient, parse_payload
from freeze_gate.github.errors import Operation
from freeze_gate.validation.readers import ObjectReader, integer, list_of, nullable, of_type, one_of, text

_GET: Final = Operation("reading the pull request", "pull-requests: read")
_LIST: Final = Operation("listing the branch's pull requests", "pull-requests: read")
_LIST_OF_COMMIT: Final = Operation("listing the commit's pull requests", "pull-requests: read")


class Pull(NamedTuple):
    """A pull request. `head_repository_id` is None if the head's repository was deleted."""

    number: int
    open: bool
    head_sha: str
    head_ref: str
    head_repository_id: int | None
    base_repository_id: int | None
    labels: tuple[str, ...]


class _Ref(NamedTuple):
    """The head or the base of a pull request; `repo` is the repository's id."""

    sha: str
    ref: str
    repo: int | None


_REPOSITORY: Final = ObjectReader(lambda **fields: fields["id"], {"id": integer(1)})
_REF: Final = ObjectReader(
    _Ref,
    {"sha": text("a commit", r"[0-9a-f]{40,64}"), "ref": text("a ref", r".{1,1000}"), "repo": nullable(_REPOSITORY)},
)


def _pull(number: int, state: str, labels: tuple[str, ...], head: _Ref, base: _Ref) -> Pull:
    return Pull(number, state == "open", head.sha, head.ref, head.repo, base.repo, labels)


_PULL: Final = ObjectReader(
    _pull,
    {
        "number": integer(1),
        "state": one_of("open", "closed"),
        "labels": list_of(ObjectReader(lambda **fields: fields["name"], {"name": of_type(str, "a string")})),
        "head": _REF,
        "base": _REF,
    },
)
_PULLS: Final = list_of(_PULL)


def get_pull(client: GitHubClient, number: int) -> Pull:
    """Read one pull request. Raises `ApiError`."""
    return parse_payload(_PULL, client.get(f"pulls/{number}", _GET).payload, _GET)


def list_open_pulls_of_branch(client: GitHubClient, owner: str, branch: str) -> tuple[Pull, ...]:
    """List the open pull requests whose head is `owner:branch`; for a fork nothing else works. Raises `ApiError`."""
    params: dict[str, Any] = {"state": "open", "head": f"{owner}:{branch}"}
    pages = client.get_pages("pulls", _LIST, params)
    return tuple(pull for page in pages for pull in parse_payload(_PULLS, page, _LIST))


def list_pulls_of_commit(client: GitHubClient, sha: str) -> tuple[Pull, ...]:
    """List the pull requests, open or closed, that contain a commit of this repository. Raises `ApiError`."""
    pages = client.get_pages(f"commits/{sha}/pulls", _LIST_OF_COMMIT, {})
    return tuple(pull for page in pages for pull in parse_payload(_PULLS, page, _LIST_OF_COMMIT))
