"""Issues as they are read and changed: all that is known of one is checked, and nothing in its text is obeyed."""

from typing import Any, Final, NamedTuple

from freeze_gate.github.client import PAGE, Api, read
from freeze_gate.github.errors import ApiError, Purpose
from freeze_gate.validation.readers import ObjectReader, integer, nullable, of_type, one_of, text

_LIST: Final = Purpose("list the issues", "issues: write")
_GET: Final = Purpose("read the refresh ticket", "issues: write")
_CREATE: Final = Purpose("open the refresh ticket", "issues: write")
_UPDATE: Final = Purpose("update the refresh ticket", "issues: write")
_CLOSE: Final = Purpose("close the doubled refresh ticket", "issues: write")


class Issue(NamedTuple):
    """An issue. `author` is None where the account was deleted. `reason` says why it was closed, where GitHub knows."""

    number: int
    url: str
    author: str | None
    body: str
    open: bool
    reason: str | None
    labels: tuple[str, ...]

    def ours(self, author: str, marker: str) -> bool:
        """Whether the trusted author wrote it and it opens with the marker: a copied marker alone means nothing."""
        return self.author is not None and self.author.lower() == author.lower() and self.body.startswith(marker)


_any_text: Final = of_type(str, "a string")


def _label(value: Any) -> str:
    """Read a label: an object with a name or, in old answers, the name itself."""
    name = value.get("name") if type(value) is dict else value
    return nullable(_any_text)(name) or ""


def _labels(value: Any) -> tuple[str, ...]:
    items = value if type(value) is list else [value]
    return tuple(_label(item) for item in items)


def _issue(**said: Any) -> Issue:
    return Issue(
        number=said["number"],
        url=said["html_url"],
        author=said["user"],
        body=said["body"] or "",
        open=said["state"] == "open",
        reason=said["state_reason"],
        labels=said["labels"],
    )


_ISSUE: Final = ObjectReader(
    _issue,
    {
        "number": integer(1),
        "html_url": text("a URL", r"https?://[!#-;=?-_a-z~]{1,2000}"),
        "user": nullable(ObjectReader(lambda **found: found["login"], {"login": _any_text})),
        "body": nullable(_any_text),
        "state": one_of("open", "closed"),
        "state_reason": nullable(_any_text),
        "labels": _labels,
    },
)


def labelled_issues(api: Api, label: str) -> tuple[Issue, ...]:
    """List all issues with a label, open or not, to the last page. The filter lags by minutes. Raises `ApiError`."""
    pages = api.pages("issues", _LIST, {"state": "all", "labels": label})
    return tuple(issue for page in pages for issue in _issues_of(page))


def newest_issues(api: Api) -> tuple[Issue, ...]:
    """List the hundred newest issues, open or not: unfiltered, so that nothing lags. Raises `ApiError`."""
    params: dict[str, str | int] = {"state": "all", "sort": "created", "direction": "desc", "per_page": PAGE}
    return _issues_of(api.get("issues", _LIST, params).payload)


def _issues_of(page: Any) -> tuple[Issue, ...]:
    """Read a page of the listing, which holds pull requests too."""
    if type(page) is not list:
        raise ApiError("shape", f"GitHub's answer is not a list, asked to {_LIST.what}")
    return tuple(
        read(_ISSUE, entry, _LIST) for entry in page if not (type(entry) is dict and entry.get("pull_request"))
    )


def get_issue(api: Api, number: int) -> Issue:
    """Read one issue as it is now. Raises `ApiError`."""
    issue: Issue = read(_ISSUE, api.get(f"issues/{number}", _GET).payload, _GET)
    return issue


def create_issue(api: Api, title: str, body: str, label: str) -> Issue:
    """Open an issue. Raises `ApiError`, with `maybe_done` where the answer was lost: look before you try again."""
    answer = api.post("issues", {"title": title, "body": body, "labels": [label]}, _CREATE, again=False)
    issue: Issue = read(_ISSUE, answer.payload, _CREATE)
    return issue


def edit_body(api: Api, number: int, body: str) -> None:
    """Replace the body of an issue. Raises `ApiError`."""
    api.patch(f"issues/{number}", {"body": body}, _UPDATE)


def close_as_duplicate(api: Api, number: int) -> None:
    """Close an issue as a duplicate, on older servers without that reason. Raises `ApiError`."""
    try:
        api.patch(f"issues/{number}", {"state": "closed", "state_reason": "duplicate"}, _CLOSE)
    except ApiError as error:
        if error.kind != "refused":
            raise
        api.patch(f"issues/{number}", {"state": "closed"}, _CLOSE)
