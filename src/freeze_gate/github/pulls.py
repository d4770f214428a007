"""Pull requests: the one that is named, and those that a branch or a commit leads to."""

from typing import Any, Final, NamedTuple

from freeze_gate.github.client import Api, read
from freeze_gate.github.errors import Purpose
from freeze_gate.validation.readers import ObjectReader, integer, list_of, nullable, of_type, one_of, text

_GET: Final = Purpose("describe the pull request", "pull-requests: read")
_LIST: Final = Purpose("list the pull requests of the branch", "pull-requests: read")
_OF_COMMIT: Final = Purpose("list the pull requests of the commit", "pull-requests: read")


class Pull(NamedTuple):
    """A pull request. The head's repository is None where it was deleted."""

    number: int
    open: bool
    head_sha: str
    head_ref: str
    head_repository_id: int | None
    base_repository_id: int | None
    labels: tuple[str, ...]


class _End(NamedTuple):
    sha: str
    ref: str
    repo: int | None


_any_text: Final = of_type(str, "a string")
_REPOSITORY: Final = ObjectReader(lambda **found: found["id"], {"id": integer(1)})
_END: Final = ObjectReader(
    _End,
    {"sha": text("a commit", r"[0-9a-f]{40,64}"), "ref": text("a ref", r".{1,1000}"), "repo": nullable(_REPOSITORY)},
)
_NOWHERE: Final = _End("", "", None)


def _pull(number: int, state: str, labels: tuple[str, ...], head: _End | None, base: _End | None) -> Pull:
    head, base = head or _NOWHERE, base or _NOWHERE
    return Pull(number, state == "open", head.sha, head.ref, head.repo, base.repo, labels)


_PULL: Final = ObjectReader(
    _pull,
    {
        "number": integer(1),
        "state": one_of("open", "closed"),
        "labels": list_of(ObjectReader(lambda **found: found["name"], {"name": _any_text})),
        "head": _END,
        "base": _END,
    },
)
_PULLS: Final = list_of(_PULL)


def get_pull(api: Api, number: int) -> Pull:
    """Describe one pull request, as it is now. Raises `ApiError`."""
    pull: Pull = read(_PULL, api.get(f"pulls/{number}", _GET).payload, _GET)
    return pull


def open_pulls_of_branch(api: Api, owner: str, branch: str) -> tuple[Pull, ...]:
    """List the open pull requests whose head is `owner:branch`; for a fork nothing else works. Raises `ApiError`."""
    params: dict[str, Any] = {"state": "open", "head": f"{owner}:{branch}"}
    return tuple(pull for page in api.pages("pulls", _LIST, params) for pull in read(_PULLS, page, _LIST))


def pulls_of_commit(api: Api, sha: str) -> tuple[Pull, ...]:
    """List the pull requests, open or not, that hold a commit of this repository. Raises `ApiError`."""
    path = f"commits/{sha}/pulls"
    return tuple(pull for page in api.pages(path, _OF_COMMIT, {}) for pull in read(_PULLS, page, _OF_COMMIT))
