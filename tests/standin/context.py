"""A request that was let in, and the ways to answer it that all calls share."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from tests.standin.http_server import Reply, Request
from tests.standin.serializers import Serializers
from tests.standin.state import Grant, Repository
from tests.standin.storage import Storage

DOCS: Final = "https://docs.github.com/rest"

Need = tuple[tuple[str, str], ...]
"""Alternatives, each a permission and its level: one of them is enough."""


class Context(NamedTuple):
    """A request: by whom, on what, with the parts of its path, and what is needed to answer it."""

    request: Request
    path: str
    grant: Grant | None
    repository: Repository
    parts: tuple[str, ...]
    shapes: Serializers
    storage: Storage
    now: Callable[[], str]

    @property
    def query(self) -> dict[str, str]:
        """The query's parameters."""
        return self.request.query


class Route(NamedTuple):
    """A call. `public` says that anybody may read it on a public repository."""

    method: str
    pattern: re.Pattern[str]
    answer: Callable[[Context], Reply]
    need: Need
    public: bool


def route(method: str, pattern: str, answer: Callable[[Context], Reply], need: Need, *, public: bool = True) -> Route:
    """Make a route; `pattern` is matched with the path below the repository."""
    return Route(method, re.compile(pattern), answer, need, public and method == "GET")


def error(status: int, message: str, headers: dict[str, str] | None = None) -> Reply:
    """Make the body that GitHub sends with an error."""
    return Reply(status, {"message": message, "documentation_url": DOCS, "status": str(status)}, headers or {})


def invalid(resource: str, field: str, code: str, message: str | None = None) -> Reply:
    """Make the body that GitHub sends for a field that it does not take."""
    problem = {"resource": resource, "field": field, "code": code, **({"message": message} if message else {})}
    payload = {"message": "Validation Failed", "errors": [problem], "documentation_url": DOCS, "status": "422"}
    return Reply(422, payload)


def page_of(asked: Context, items: Sequence[Any]) -> tuple[Sequence[Any], dict[str, str]]:
    """Cut one page out, and say where the others are."""
    size = min(100, max(1, _number(asked.query.get("per_page"), 30)))
    page = max(1, _number(asked.query.get("page"), 1))
    last = max(1, -(-len(items) // size))
    targets = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
    links = [
        f'<{asked.shapes.api}{asked.path}?{urlencode({**asked.query, "page": number})}>; rel="{rel}"'
        for rel, number in targets.items()
        if (rel in ("prev", "first") and page > 1) or (rel in ("next", "last") and page < last)
    ]
    return items[(page - 1) * size : page * size], {"Link": ", ".join(links)} if links else {}


def _number(value: str | None, default: int) -> int:
    return int(value) if value and value.isdigit() else default
