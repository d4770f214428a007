"""The REST API: which call needs what, what it does to the state, and what it answers."""

import re
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from tests.standin.limit import Limit
from tests.standin.shapes import Shapes
from tests.standin.state import Artifact, Grant, Issue, Pull, Repository, Run
from tests.standin.storage import Storage
from tests.standin.wire import Reply, Request

DOCS: Final = "https://docs.github.com/rest"
VERSIONS: Final = ("2022-11-28", "2026-03-10")
STATE_REASONS: Final = (None, "completed", "not_planned", "duplicate", "reopened")
MAX_BODY: Final = 65_536
MAX_TITLE: Final = 256
MAX_LABEL: Final = 50
MAX_LABELS: Final = 100

Need = tuple[tuple[str, str], ...]
"""Alternatives, each a permission and its level: one of them is enough."""


class Asked(NamedTuple):
    """A request that was let in: by whom, on what, with the parts of its path."""

    request: Request
    grant: Grant | None
    repository: Repository
    parts: tuple[str, ...]

    @property
    def query(self) -> dict[str, str]:
        """The query's parameters."""
        return self.request.query


class Route(NamedTuple):
    """A call. `public` says that anybody may read it on a public repository."""

    method: str
    pattern: re.Pattern[str]
    answer: Callable[["Rest", Asked], Reply]
    need: Need
    public: bool


class Rest:
    """Answers calls. One at a time: the state is small, and what takes place is then in one order."""

    def __init__(self, shapes: Shapes, limit: Limit, storage: Storage, prefix: str, now: Callable[[], str]) -> None:
        self.shapes = shapes
        self.limit = limit
        self.storage = storage
        self.prefix = prefix
        self.now = now
        self.repositories: dict[str, Repository] = {}
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
        if not request.path.startswith(f"{self.prefix}/repos/"):
            return error(404, "Not Found")
        owner, _, rest = request.path.removeprefix(f"{self.prefix}/repos/").partition("/")
        name, _, path = rest.partition("/")
        repository = self.repositories.get(f"{owner}/{name}".lower())
        for route in ROUTES:
            match = route.pattern.fullmatch(path)
            if match and route.method == request.method and repository:
                return self._permit(route, Asked(request, grant, repository, match.groups()))
        return error(404, "Not Found")

    def _permit(self, route: Route, asked: Asked) -> Reply:
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
        reply = route.answer(self, asked)
        return reply._replace(headers={**accepted, **reply.headers})

    # Actions

    def list_artifacts(self, asked: Asked) -> Reply:
        """List the artifacts of a run, newest first."""
        run = self._run(asked)
        if run is None:
            return error(404, "Not Found")
        listed = [artifact for artifact in run.artifacts if artifact.listed_after == 0]
        if "page" not in asked.query:
            for artifact in run.artifacts:
                artifact.listed_after = max(0, artifact.listed_after - 1)
        if "name" in asked.query:
            listed = [artifact for artifact in listed if artifact.name == asked.query["name"]]
        listed.sort(key=lambda artifact: artifact.id, reverse=asked.query.get("direction", "desc") == "desc")
        page, headers = self._page(asked, listed)
        return Reply(
            200, {"total_count": len(listed), "artifacts": [self.shapes.artifact(one) for one in page]}, headers
        )

    def get_artifact(self, asked: Asked) -> Reply:
        """Describe an artifact."""
        artifact = self._artifact(asked)
        return Reply(200, self.shapes.artifact(artifact)) if artifact else error(404, "Not Found")

    def get_zip(self, asked: Asked) -> Reply:
        """Lead to the blob host."""
        artifact = self._artifact(asked)
        if artifact is None:
            return error(404, "Not Found")
        if artifact.gone:
            return error(410, "Artifact has expired. See https://docs.github.com/actions for more", {})
        return Reply(302, None, {"Location": self.storage.sign(artifact.content)})

    def get_run(self, asked: Asked) -> Reply:
        """Describe a run as its newest attempt."""
        run = self._run(asked)
        return Reply(200, self.shapes.run(run, len(run.attempts))) if run else error(404, "Not Found")

    def get_attempt(self, asked: Asked) -> Reply:
        """Describe one attempt of a run."""
        run, attempt = self._run(asked), int(asked.parts[1])
        if run is None or not 1 <= attempt <= len(run.attempts):
            return error(404, "Not Found")
        return Reply(200, self.shapes.run(run, attempt))

    def _run(self, asked: Asked) -> Run | None:
        return asked.repository.runs.get(int(asked.parts[0]))

    def _artifact(self, asked: Asked) -> Artifact | None:
        wanted = int(asked.parts[0])
        runs = asked.repository.runs.values()
        return next((one for run in runs for one in run.artifacts if one.id == wanted), None)

    # Pull requests

    def get_pull(self, asked: Asked) -> Reply:
        """Describe a pull request."""
        pull = asked.repository.pulls.get(int(asked.parts[0]))
        return Reply(200, self.shapes.pull(asked.repository, pull, full=True)) if pull else error(404, "Not Found")

    def list_pulls(self, asked: Asked) -> Reply:
        """List pull requests, newest first; `head` is `owner:branch`."""
        state, head = asked.query.get("state", "open"), asked.query.get("head")
        pulls = [
            pull
            for pull in asked.repository.pulls.values()
            if state in ("all", pull.issue.state) and (head is None or head == _head_of(pull))
        ]
        return self._pulls(asked, pulls)

    def pulls_of_commit(self, asked: Asked) -> Reply:
        """List the pull requests of a commit; a fork's commit leads to none."""
        sha = asked.parts[0]
        pulls = [
            pull
            for pull in asked.repository.pulls.values()
            if pull.head_sha == sha and pull.head_repository is asked.repository
        ]
        return self._pulls(asked, pulls)

    def _pulls(self, asked: Asked, pulls: Sequence[Pull]) -> Reply:
        newest = sorted(pulls, key=lambda pull: pull.number, reverse=True)
        page, headers = self._page(asked, newest)
        return Reply(200, [self.shapes.pull(asked.repository, pull, full=False) for pull in page], headers)

    # Issues and labels

    def list_issues(self, asked: Asked) -> Reply:
        """List issues, pull requests among them. The label filter knows what its index knows."""
        query = asked.query
        state, creator = query.get("state", "open"), query.get("creator")
        wanted = {name.lower() for name in query.get("labels", "").split(",") if name}
        issues = [
            issue
            for issue in asked.repository.issues.values()
            if state in ("all", issue.state)
            and creator in (None, issue.author)
            and wanted <= {name.lower() for name in issue.indexed}
        ]
        by = query.get("sort", "created")
        issues.sort(
            key=lambda issue: (issue.updated_at if by == "updated" else "", issue.number),
            reverse=query.get("direction", "desc") == "desc",
        )
        page, headers = self._page(asked, issues)
        return Reply(200, [self.shapes.issue(asked.repository, issue) for issue in page], headers)

    def get_issue(self, asked: Asked) -> Reply:
        """Describe an issue."""
        issue = self._issue(asked)
        return Reply(200, self.shapes.issue(asked.repository, issue)) if issue else error(404, "Not Found")

    def create_issue(self, asked: Asked) -> Reply:
        """Open an issue. Without the right to push, its labels are dropped, and nothing is said about that."""
        repository, body = asked.repository, asked.request.json()
        if not repository.has_issues:
            return error(410, "Issues has been disabled in this repository.")
        wrong = _issue_problem(body, required=True) or _labels_problem(body.get("labels", []))
        if wrong:
            return wrong
        grant = asked.grant or Grant()
        labels = body.get("labels", []) if grant.push else []
        issue = repository.add_issue(body["title"], body.get("body"), author=grant.login, labels=labels)
        return Reply(201, self.shapes.issue(repository, issue), {"Location": f"{issue.number}"})

    def change_issue(self, asked: Asked) -> Reply:
        """Edit, close or open an issue."""
        issue, body = self._issue(asked), asked.request.json()
        if issue is None:
            return error(404, "Not Found")
        wrong = _issue_problem(body, required=False)
        if wrong:
            return wrong
        issue.title, issue.body = body.get("title", issue.title), body.get("body", issue.body)
        if body.get("state", issue.state) != issue.state:
            issue.state = body["state"]
            default = "completed" if issue.state == "closed" else "reopened"
            issue.state_reason = body.get("state_reason") or default
            issue.closed_at = self.now() if issue.state == "closed" else None
        issue.updated_at = self.now()
        return Reply(200, self.shapes.issue(asked.repository, issue))

    def add_labels(self, asked: Asked) -> Reply:
        """Add labels to an issue or a pull request, and create those that there are not."""
        issue, body = self._issue(asked), asked.request.json()
        if issue is None:
            return error(404, "Not Found")
        names: Any = body.get("labels") if type(body) is dict else body
        wrong = _labels_problem(names)
        if wrong:
            return wrong
        if len({name.lower() for name in [*issue.labels, *names]}) > MAX_LABELS:
            return invalid("Issue", "labels", "custom", f"an issue can have at most {MAX_LABELS} labels")
        asked.repository.set_labels(issue, names)
        return Reply(200, self.shapes.labels(asked.repository, issue))

    def create_label(self, asked: Asked) -> Reply:
        """Create a label."""
        body = asked.request.json()
        if type(body) is not dict or type(body.get("name")) is not str:
            return invalid("Label", "name", "missing_field")
        wrong = _labels_problem([body["name"]])
        if wrong:
            return wrong
        if body["name"].lower() in asked.repository.labels:
            return invalid("Label", "name", "already_exists")
        if len(body.get("description") or "") > MAX_LABELS:
            return invalid("Label", "description", "custom", "description is too long (maximum is 100 characters)")
        label = asked.repository.add_label(body["name"], body.get("color", "ededed"), body.get("description"))
        return Reply(201, self.shapes.label(asked.repository, label))

    def _issue(self, asked: Asked) -> Issue | None:
        return asked.repository.issues.get(int(asked.parts[0]))

    # Contents

    def get_repository(self, asked: Asked) -> Reply:
        """Describe the repository."""
        return Reply(200, self.shapes.repository(asked.repository, full=True))

    def get_contents(self, asked: Asked) -> Reply:
        """Read a file, or list a folder, of the default branch or of `ref`."""
        path = (asked.parts[0] or "").strip("/")
        branch = asked.query.get("ref", asked.repository.default_branch)
        files = asked.repository.files.get(branch.removeprefix("refs/heads/"))
        if files is None:
            return error(
                404, f"No commit found for the ref {branch}" if "ref" in asked.query else "This repository is empty."
            )
        if path in files:
            if "raw" in asked.request.headers.get("accept", ""):
                return Reply(200, files[path], {"Content-Type": "application/vnd.github.raw+json; charset=utf-8"})
            return Reply(200, self.shapes.file(asked.repository, path, files[path]))
        inside = f"{path}/" if path else ""
        names = sorted({inside + name.removeprefix(inside).split("/")[0] for name in files if name.startswith(inside)})
        if not names:
            return error(404, "Not Found")
        return Reply(200, [self.shapes.entry(asked.repository, name, files.get(name)) for name in names])

    def _page(self, asked: Asked, items: Sequence[Any]) -> tuple[Sequence[Any], dict[str, str]]:
        """Cut one page out, and say where the others are."""
        size = min(100, max(1, _number(asked.query.get("per_page"), 30)))
        page = max(1, _number(asked.query.get("page"), 1))
        last = max(1, -(-len(items) // size))
        targets = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
        links = [
            f'<{self._page_url(asked, number)}>; rel="{rel}"'
            for rel, number in targets.items()
            if (rel in ("prev", "first") and page > 1) or (rel in ("next", "last") and page < last)
        ]
        return items[(page - 1) * size : page * size], {"Link": ", ".join(links)} if links else {}

    def _page_url(self, asked: Asked, page: int) -> str:
        path = asked.request.path.removeprefix(self.prefix)
        return f"{self.shapes.api}{path}?{urlencode({**asked.query, 'page': page})}"


def error(status: int, message: str, headers: dict[str, str] | None = None) -> Reply:
    """Make the body that GitHub sends with an error."""
    return Reply(status, {"message": message, "documentation_url": DOCS, "status": str(status)}, headers or {})


def invalid(resource: str, field: str, code: str, message: str | None = None) -> Reply:
    """Make the body that GitHub sends for a field that it does not take."""
    problem = {"resource": resource, "field": field, "code": code, **({"message": message} if message else {})}
    payload = {"message": "Validation Failed", "errors": [problem], "documentation_url": DOCS, "status": "422"}
    return Reply(422, payload)


def _head_of(pull: Pull) -> str | None:
    return f"{pull.head_repository.owner}:{pull.head_ref}" if pull.head_repository else None


def _number(value: str | None, default: int) -> int:
    return int(value) if value and value.isdigit() else default


def _issue_problem(body: Any, *, required: bool) -> Reply | None:
    if type(body) is not dict:
        return error(400, "Problems parsing JSON")
    title: Any = body.get("title", None if required else "kept")
    text: Any = body.get("body")
    named = type(title) is str and bool(title.strip())
    problems = (
        (not named, ("title", "missing_field")),
        (
            named and len(title) > MAX_TITLE,
            ("title", "custom", f"title is too long (maximum is {MAX_TITLE} characters)"),
        ),
        (
            text is not None and (type(text) is not str or len(text) > MAX_BODY),
            ("body", "custom", f"body is too long (maximum is {MAX_BODY} characters)"),
        ),
        (body.get("state", "open") not in ("open", "closed"), ("state", "invalid")),
        (body.get("state_reason") not in STATE_REASONS, ("state_reason", "invalid")),
    )
    return next((invalid("Issue", *words) for wrong, words in problems if wrong), None)


def _labels_problem(names: Any) -> Reply | None:
    if type(names) is not list or not all(type(name) is str for name in names):
        return error(422, "Invalid request.")
    for name in names:
        if len(name) > MAX_LABEL:
            words = f"name is too long (maximum is {MAX_LABEL} characters)"
            return invalid("Label", "name", "custom", words)
        if name != name.strip() or not name:
            return invalid("Label", "name", "invalid")
    return None


_ACTIONS_READ: Final = (("actions", "read"),)
_PULLS_READ: Final = (("pull_requests", "read"),)
_ISSUES_READ: Final = (("issues", "read"),)
_EITHER_WRITE: Final = (("issues", "write"), ("pull_requests", "write"))


def _route(
    method: str, pattern: str, answer: Callable[[Rest, Asked], Reply], need: Need, *, public: bool = True
) -> Route:
    return Route(method, re.compile(pattern), answer, need, public and method == "GET")


ROUTES: Final = (
    _route("GET", r"", Rest.get_repository, (("contents", "none"),)),
    _route("GET", r"actions/runs/(\d+)/artifacts", Rest.list_artifacts, _ACTIONS_READ),
    _route("GET", r"actions/artifacts/(\d+)", Rest.get_artifact, _ACTIONS_READ),
    _route("GET", r"actions/artifacts/(\d+)/zip", Rest.get_zip, _ACTIONS_READ, public=False),
    _route("GET", r"actions/runs/(\d+)", Rest.get_run, _ACTIONS_READ),
    _route("GET", r"actions/runs/(\d+)/attempts/(\d+)", Rest.get_attempt, _ACTIONS_READ),
    _route("GET", r"pulls/(\d+)", Rest.get_pull, _PULLS_READ),
    _route("GET", r"pulls", Rest.list_pulls, _PULLS_READ),
    _route("GET", r"commits/([0-9a-f]{40})/pulls", Rest.pulls_of_commit, _PULLS_READ),
    _route("GET", r"issues", Rest.list_issues, _ISSUES_READ),
    _route("GET", r"issues/(\d+)", Rest.get_issue, _ISSUES_READ),
    _route("POST", r"issues", Rest.create_issue, (("issues", "write"),)),
    _route("PATCH", r"issues/(\d+)", Rest.change_issue, _EITHER_WRITE),
    _route("POST", r"issues/(\d+)/labels", Rest.add_labels, _EITHER_WRITE),
    _route("POST", r"labels", Rest.create_label, _EITHER_WRITE),
    _route("GET", r"contents(/.*)?", Rest.get_contents, (("contents", "read"),)),
)
