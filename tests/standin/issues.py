"""Calls about issues and labels."""

import unicodedata
from typing import Any, Final

from tests.standin.context import Context, Route, error, invalid, page_of, route
from tests.standin.http_server import Reply
from tests.standin.state import Grant, Issue, Repository

STATE_REASONS: Final = (None, "completed", "not_planned", "duplicate", "reopened")
MAX_BODY: Final = 65_536
MAX_TITLE: Final = 256
MAX_LABEL: Final = 50
MAX_LABELS: Final = 100
EMOJI_CATEGORIES: Final = ("So", "Sk", "Mn", "Cf")


def list_issues(asked: Context) -> Reply:
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
    page, headers = page_of(asked, issues)
    return Reply(200, [asked.shapes.issue(asked.repository, issue) for issue in page], headers)


def get_issue(asked: Context) -> Reply:
    """Describe an issue."""
    issue = _issue(asked)
    return Reply(200, asked.shapes.issue(asked.repository, issue)) if issue else error(404, "Not Found")


def create_issue(asked: Context) -> Reply:
    """Open an issue. Without the right to push, its labels are dropped, and nothing is said about that."""
    repository, body = asked.repository, asked.request.json()
    if not repository.has_issues:
        return error(410, "Issues has been disabled in this repository.")
    wrong = (
        _issue_problem(body, required=True)
        or _labels_problem(body.get("labels", []))
        or _label_race(repository, body.get("labels", []))
    )
    if wrong:
        return wrong
    grant = asked.grant or Grant()
    labels = body.get("labels", []) if grant.push else []
    issue = repository.add_issue(body["title"], body.get("body"), author=grant.login, labels=labels)
    return Reply(201, asked.shapes.issue(repository, issue), {"Location": f"{issue.number}"})


def change_issue(asked: Context) -> Reply:
    """Edit, close or open an issue."""
    issue, body = _issue(asked), asked.request.json()
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
        issue.closed_at = asked.now() if issue.state == "closed" else None
    issue.updated_at = asked.now()
    return Reply(200, asked.shapes.issue(asked.repository, issue))


def add_labels(asked: Context) -> Reply:
    """Add labels to an issue or a pull request, and create those that there are not."""
    issue, body = _issue(asked), asked.request.json()
    if issue is None:
        return error(404, "Not Found")
    names: Any = body.get("labels") if type(body) is dict else body
    wrong = _labels_problem(names) or _label_race(asked.repository, names)
    if wrong:
        return wrong
    if len({name.lower() for name in [*issue.labels, *names]}) > MAX_LABELS:
        return invalid("Issue", "labels", "custom", f"an issue can have at most {MAX_LABELS} labels")
    asked.repository.set_labels(issue, names)
    return Reply(200, asked.shapes.labels(asked.repository, issue))


def create_label(asked: Context) -> Reply:
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
    return Reply(201, asked.shapes.label(asked.repository, label))


def _issue(asked: Context) -> Issue | None:
    return asked.repository.issues.get(int(asked.parts[0]))


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
        if all(unicodedata.category(char) in EMOJI_CATEGORIES for char in name):
            return invalid("Label", "name", "custom", "name must contain more than native emoji")
    return None


def _label_race(repository: Repository, names: list[str]) -> Reply | None:
    for name in names:
        if repository.label_races and name.lower() not in repository.labels:
            repository.label_races -= 1
            repository.add_label(name)
            return invalid("Label", "name", "already_exists")
    return None


_READ: Final = (("issues", "read"),)
_EITHER: Final = (("issues", "write"), ("pull_requests", "write"))
ROUTES: Final[tuple[Route, ...]] = (
    route("GET", r"issues", list_issues, _READ),
    route("GET", r"issues/(\d+)", get_issue, _READ),
    route("POST", r"issues", create_issue, (("issues", "write"),)),
    route("PATCH", r"issues/(\d+)", change_issue, _EITHER),
    route("POST", r"issues/(\d+)/labels", add_labels, _EITHER),
    route("POST", r"labels", create_label, _EITHER),
)
