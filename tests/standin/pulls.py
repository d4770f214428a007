"""Calls about pull requests."""

from collections.abc import Sequence
from typing import Final

from tests.standin.context import Context, Route, error, page_of, route
from tests.standin.http_server import Reply
from tests.standin.state import Pull


def get_pull(asked: Context) -> Reply:
    """Describe a pull request."""
    pull = asked.repository.pulls.get(int(asked.parts[0]))
    return Reply(200, asked.shapes.pull(asked.repository, pull, full=True)) if pull else error(404, "Not Found")


def list_pulls(asked: Context) -> Reply:
    """List pull requests, newest first; `head` is `owner:branch`."""
    state, head = asked.query.get("state", "open"), asked.query.get("head")
    pulls = [
        pull
        for pull in asked.repository.pulls.values()
        if state in ("all", pull.issue.state) and (head is None or head == _head_of(pull))
    ]
    return _pulls(asked, pulls)


def pulls_of_commit(asked: Context) -> Reply:
    """List the pull requests of a commit; a fork's commit leads to none."""
    sha = asked.parts[0]
    pulls = [
        pull
        for pull in asked.repository.pulls.values()
        if pull.head_sha == sha and pull.head_repository is asked.repository
    ]
    return _pulls(asked, pulls)


def _pulls(asked: Context, pulls: Sequence[Pull]) -> Reply:
    newest = sorted(pulls, key=lambda pull: pull.number, reverse=True)
    page, headers = page_of(asked, newest)
    return Reply(200, [asked.shapes.pull(asked.repository, pull, full=False) for pull in page], headers)


def _head_of(pull: Pull) -> str | None:
    return f"{pull.head_repository.owner}:{pull.head_ref}" if pull.head_repository else None


_READ: Final = (("pull_requests", "read"),)
ROUTES: Final[tuple[Route, ...]] = (
    route("GET", r"pulls/(\d+)", get_pull, _READ),
    route("GET", r"pulls", list_pulls, _READ),
    route("GET", r"commits/([0-9a-f]{40})/pulls", pulls_of_commit, _READ),
)
