"""Issues: reading, creating and changing them. The text of an issue is untrusted."""

from typing import Any, Final, NamedTuple

from freeze_gate.github.client import PAGE_SIZE, GitHubClient, parse_payload
from freeze_gate.github.errors import Operation, RequestRefused, UnexpectedResponse
from freeze_gate.validation.readers import ObjectReader, integer, nullable, of_type, one_of, text

_LIST: Final = Operation("listing the issues", "issues: write")
_GET: Final = Operation("reading the refresh ticket", "issues: write")
_CREATE: Final = Operation("opening the refresh ticket", "issues: write")
_UPDATE: Final = Operation("updating the refresh ticket", "issues: write")
_CLOSE: Final = Operation("closing the duplicate refresh ticket", "issues: write")


class Issue(NamedTuple):
    """An issue. `author` is None if the account was deleted, `reason` says why it was closed if GitHub knows."""

    number: int
    url: str
    author: str | None
    body: str
    open: bool
    reason: str | None
    labels: tuple[str, ...]

    def is_managed_by(self, author: str, marker: str) -> bool:
        """Whether `author` wrote it and it starts with the marker, which alone proves nothing: anybody can copy it."""
        return self.author is not None and self.author.lower() == author.lower() and self.body.startswith(marker)


_any_text: Final = of_type(str, "a string")
_any_text_or_null: Final = nullable(_any_text)


def _labels(value: Any) -> tuple[str, ...]:
    """Read labels: objects with a name or, in old responses, the names themselves."""
    labels = value if type(value) is list else [value]
    names = [label.get("name") if type(label) is dict else label for label in labels]
    return tuple(_any_text_or_null(name) or "" for name in names)


def _issue(**fields: Any) -> Issue:
    return Issue(
        number=fields["number"],
        url=fields["html_url"],
        author=fields["user"],
        body=fields["body"] or "",
        open=fields["state"] == "open",
        reason=fields["state_reason"],
        labels=fields["labels"],
    )


_ISSUE: Final = ObjectReader(
    _issue,
    {
        "number": integer(1),
        "html_url": text("a URL", r"https?://[!#-;=?-_a-z~]{1,2000}"),
        "user": nullable(ObjectReader(lambda **fields: fields["login"], {"login": _any_text})),
        "body": _any_text_or_null,
        "state": one_of("open", "closed"),
        "state_reason": _any_text_or_null,
        "labels": _labels,
    },
)


def list_issues_with_label(client: GitHubClient, label: str) -> tuple[Issue, ...]:
    """List all issues with a label, open or closed. GitHub's index of labels lags by minutes. Raises `ApiError`."""
    pages = client.get_pages("issues", _LIST, {"state": "all", "labels": label})
    return tuple(issue for page in pages for issue in _issues_of_page(page))


def list_newest_issues(client: GitHubClient) -> tuple[Issue, ...]:
    """List the hundred newest issues, open or closed. Without a filter nothing lags. Raises `ApiError`."""
    params: dict[str, str | int] = {"state": "all", "sort": "created", "direction": "desc", "per_page": PAGE_SIZE}
    return _issues_of_page(client.get("issues", _LIST, params).payload)


def _issues_of_page(page: Any) -> tuple[Issue, ...]:
    """Read a page of the listing, and skip the pull requests in it."""
    if type(page) is not list:
        raise UnexpectedResponse(f"GitHub's response is not a list while {_LIST.description}")
    issues = [entry for entry in page if not (type(entry) is dict and entry.get("pull_request"))]
    return tuple(parse_payload(_ISSUE, issue, _LIST) for issue in issues)


def get_issue(client: GitHubClient, number: int) -> Issue:
    """Read one issue. Raises `ApiError`."""
    return parse_payload(_ISSUE, client.get(f"issues/{number}", _GET).payload, _GET)


def create_issue(client: GitHubClient, title: str, body: str, label: str) -> Issue:
    """Open an issue. Raises `ApiError`; if it is possibly applied, look for the issue before sending it again."""
    request = {"title": title, "body": body, "labels": [label]}
    response = client.post("issues", request, _CREATE, retryable=False)
    return parse_payload(_ISSUE, response.payload, _CREATE)


def update_body(client: GitHubClient, number: int, body: str) -> None:
    """Replace the body of an issue. Raises `ApiError`."""
    client.patch(f"issues/{number}", {"body": body}, _UPDATE)


def close_as_duplicate(client: GitHubClient, number: int) -> None:
    """Close an issue as a duplicate; older servers refuse that reason and get none. Raises `ApiError`."""
    try:
        client.patch(f"issues/{number}", {"state": "closed", "state_reason": "duplicate"}, _CLOSE)
    except RequestRefused:
        client.patch(f"issues/{number}", {"state": "closed"}, _CLOSE)
