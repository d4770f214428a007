"""The REST API: who is let in, which call is meant, and whether the token may make it."""

import re
import threading
from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode

from tests.standin import actions, contents, issues, pulls
from tests.standin.context import DOCS, Context, Route, error
from tests.standin.http_server import Reply, Request
from tests.standin.rate_limit import Limit
from tests.standin.serializers import Serializers
from tests.standin.state import Grant, Repository
from tests.standin.storage import Storage

VERSIONS: Final = ("2022-11-28", "2026-03-10")
_PATH: Final = re.compile(r"/(?:repos/(?P<name>[^/]+/[^/]+)|repositories/(?P<id>\d+))(?:/(?P<path>.*))?")
ROUTES: Final = (*contents.ROUTES, *actions.ROUTES, *pulls.ROUTES, *issues.ROUTES)


class Rest:
    """Answers calls. One at a time: the state is small, and what takes place is then in one order."""

    def __init__(
        self, shapes: Serializers, limit: Limit, storage: Storage, prefix: str, now: Callable[[], str]
    ) -> None:
        self.shapes = shapes
        self.limit = limit
        self.storage = storage
        self.prefix = prefix
        self.now = now
        self.repositories: dict[str, Repository] = {}
        self.renamed: dict[str, Repository] = {}
        self.grants: dict[str, Grant] = {}
        self.lock = threading.RLock()

    def answer(self, request: Request) -> Reply:
        """Answer one request."""
        with self.lock:
            reply = self.limit.take() or self._admit(request)
        headers = {"X-GitHub-Request-Id": "0000:0000", "Server": "github.com", **self.limit.headers(), **reply.headers}
        return reply._replace(headers=headers)

    def _admit(self, request: Request) -> Reply:
        """Check what every request must have: a name, a known version, a token that is right or none."""
        if not request.headers.get("user-agent"):
            return error(
                403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent"
            )
        if request.headers.get("x-github-api-version", VERSIONS[0]) not in VERSIONS:
            return error(400, "X-GitHub-Api-Version is not a known version")
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        grant = self.grants.get(secret) if kind.lower() in ("bearer", "token") else None
        if kind and grant is None:
            return error(401, "Bad credentials")
        return self._route(request, grant)

    def _route(self, request: Request, grant: Grant | None) -> Reply:
        match = _PATH.fullmatch(request.path.removeprefix(self.prefix))
        if not match or not request.path.startswith(self.prefix):
            return error(404, "Not Found")
        name, path = (match["name"] or "").lower(), match["path"] or ""
        if name in self.renamed:
            return self._redirect(request, self.renamed[name], path)
        known = self.repositories.values()
        repository = next((one for one in known if name == one.full_name.lower() or match["id"] == str(one.id)), None)
        for route in ROUTES:
            match = route.pattern.fullmatch(path)
            if match and route.method == request.method and repository:
                return self._permit(route, self._asked(request, grant, repository, match.groups()))
        return error(404, "Not Found")

    def _redirect(self, request: Request, repository: Repository, path: str) -> Reply:
        query = f"?{urlencode(request.query)}" if request.query else ""
        location = f"{self.shapes.api}/repositories/{repository.id}/{path}{query}"
        payload = {"message": "Moved Permanently", "url": location, "documentation_url": DOCS}
        return Reply(301 if request.method == "GET" else 307, payload, {"Location": location})

    def _asked(self, request: Request, grant: Grant | None, repository: Repository, parts: tuple[str, ...]) -> Context:
        path = request.path.removeprefix(self.prefix)
        return Context(request, path, grant, repository, parts, self.shapes, self.storage, self.now)

    def _permit(self, route: Route, asked: Context) -> Reply:
        """Let the token do what it may; what it cannot see, it is not told to exist."""
        accepted = {"X-Accepted-GitHub-Permissions": "; ".join(f"{name}={level}" for name, level in route.need)}
        grant, repository = asked.grant, asked.repository
        covered = grant is not None and grant.covers(repository)
        if covered and grant and any(grant.allows(name, level) for name, level in route.need):
            pass
        elif repository.private and (not covered or route.method == "GET"):
            return error(404, "Not Found", accepted)
        elif grant is None and not (route.public and route.method == "GET"):
            return error(401, "Requires authentication", accepted)
        elif not route.public:
            return error(403, "Resource not accessible by integration", accepted)
        if repository.archived and route.method != "GET":
            return error(403, "Repository was archived so is read-only.", accepted)
        reply = route.answer(asked)
        return reply._replace(headers={**accepted, **reply.headers})
