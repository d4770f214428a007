"""What can go wrong with a call to GitHub: one class for each thing that a person can do about it."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus, client
from typing import Any, Final, NamedTuple

from freeze_gate.errors import NoVerdictError, UsageError

_PERMISSIONS: Final = re.compile(r"[a-z_]{1,60}=[a-z]{1,20}(?:[;,] ?[a-z_]{1,60}=[a-z]{1,20}){0,20}")
_DEFAULT_WAIT: Final = 60.0
"""The documented minimum of seconds to wait for a secondary rate limit that names no time."""

_MAX_QUOTED: Final = 200  # characters of GitHub's own words in a message


class Operation(NamedTuple):
    """Why a call is made: `description` follows "while" in messages, `permission` is a line of `permissions:`."""

    description: str
    permission: str


class ApiError(NoVerdictError):
    """A call to GitHub failed. `retry_after` is the number of seconds that GitHub asks to wait, if it asks.

    `is_transient` says that another try may succeed, `is_possibly_applied` that a change may have been made.
    """

    is_transient = False
    is_possibly_applied = False

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unauthorized(ApiError):
    """HTTP 401: the token is not valid."""


class Forbidden(ApiError):
    """HTTP 403: the token lacks a permission."""


class NotFound(ApiError):
    """HTTP 404: it does not exist, or the token cannot see it."""


class Gone(ApiError):
    """HTTP 410: it has expired, or the feature is switched off."""


class RequestRefused(ApiError):
    """Any other 4xx, or a redirect that is not followed."""


class AlreadyExists(RequestRefused):
    """HTTP 422: somebody else made the same thing, such as a label, while GitHub was about to make it."""


class RateLimited(ApiError):
    """HTTP 403 or 429 because of a primary or secondary rate limit."""

    is_transient = True


class ServerError(ApiError):
    """HTTP 5xx or 408."""

    is_transient = True
    is_possibly_applied = True


class ConnectionFailed(ApiError):
    """No response arrived, or only a part of one."""

    is_transient = True
    is_possibly_applied = True


class ServerUnusable(ApiError):
    """The address of a proxy or server is wrong: it would fail on any day."""

    exit_code = UsageError.exit_code


class ResourceShort(ApiError):
    """The machine has too little of something that a call needs."""


class UnexpectedResponse(ApiError):
    """The response is not what the API documents."""


_CLASSES: Final[Mapping[int, type[ApiError]]] = {
    HTTPStatus.UNAUTHORIZED: Unauthorized,
    HTTPStatus.FORBIDDEN: Forbidden,
    HTTPStatus.NOT_FOUND: NotFound,
    HTTPStatus.GONE: Gone,
}
_MESSAGES: Final[Mapping[type[ApiError], str]] = {
    Unauthorized: "GitHub rejected the token ({reply}) while {doing}: it is wrong or has expired. "
    "Leave `github-token` unset to use the job's own token",
    Forbidden: "GitHub denied access ({reply}) while {doing}. The usual causes: the token lacks {accepted} (add that "
    "under `permissions:` of this job); the repository is archived; or the pull request is from a fork or from "
    "Dependabot, where the token can only read, whatever the workflow says (use the `workflow_run` recipe of the "
    "README)",
    NotFound: "GitHub found nothing ({reply}) while {doing}: it does not exist, or the token cannot see it. "
    "Add `{permission}` under `permissions:` of this job; the job's own token sees only its own repository",
    Gone: "GitHub no longer has it ({reply}) while {doing}: it has expired, or is switched off in this repository",
    RequestRefused: "GitHub refused the request ({reply}) while {doing}",
    AlreadyExists: "GitHub refused the request ({reply}) while {doing}",
}


def error_from_response(
    operation: Operation, status: int, headers: Mapping[str, str], payload: Any, epoch: float
) -> ApiError:
    """Return the error that a status of 400 or above means.

    `epoch` is the runner's time in seconds since 1970: it counts only if the response has no `Date` of its own.
    """
    doing = operation.description
    wait = _rate_limit_wait(status, headers, payload, epoch)
    if wait is not None:
        return RateLimited(
            f"GitHub's rate limit was reached (HTTP {status}) while {doing}: it asks to wait {wait:.0f} seconds. "
            "Run this again later, or raise `wait-seconds`",
            retry_after=wait,
        )
    if status == HTTPStatus.REQUEST_TIMEOUT or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ServerError(
            f"GitHub failed ({_describe_reply(status, payload)}) while {doing}: see its status page, then run this "
            "again",
            retry_after=_retry_after(headers),
        )
    error_class = _CLASSES.get(status, RequestRefused)
    if status == HTTPStatus.UNPROCESSABLE_ENTITY and any(
        type(error) is dict and error.get("code") == "already_exists" for error in _errors(payload)
    ):
        error_class = AlreadyExists
    message = _MESSAGES[error_class].format(
        doing=doing,
        reply=_describe_reply(status, payload),
        permission=operation.permission,
        accepted=_accepted_permissions(headers) or f"`{operation.permission}`",
    )
    return error_class(message)


def _rate_limit_wait(status: int, headers: Mapping[str, str], payload: Any, epoch: float) -> float | None:
    """Return the seconds to wait for a rate limit; None for any other response: a missing permission is a 403 too.

    https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#rate-limit-errors
    """
    if status not in (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS):
        return None
    wait = _retry_after(headers)
    if wait is not None:
        return wait
    if headers.get("x-ratelimit-remaining") == "0":
        reset = headers.get("x-ratelimit-reset", "")
        return (
            max(1.0, float(reset) - _time_of(headers, epoch)) if re.fullmatch(r"[0-9]{1,12}", reset) else _DEFAULT_WAIT
        )
    is_secondary_limit = re.search("rate limit|abuse detection", _message(payload), re.IGNORECASE) is not None
    return _DEFAULT_WAIT if is_secondary_limit or status == HTTPStatus.TOO_MANY_REQUESTS else None


def _time_of(headers: Mapping[str, str], epoch: float) -> float:
    """Return when a response was made by the clock that GitHub's limits run by: the runner's may be minutes off."""
    try:
        return datetime.strptime(headers.get("date", ""), "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return epoch


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after", "")
    return float(value) if re.fullmatch(r"[0-9]{1,9}", value) else None


def _accepted_permissions(headers: Mapping[str, str]) -> str | None:
    """Read `issues=write; pull_requests=write` (a semicolon is "or") as lines of a workflow's `permissions:`."""
    value = headers.get("x-accepted-github-permissions", "")
    if not _PERMISSIONS.fullmatch(value):
        return None
    alternatives = []
    for alternative in value.replace("_", "-").replace("=", ": ").split(";"):
        permissions = [f"`{permission.strip()}`" for permission in alternative.split(",")]
        alternatives.append(" and ".join(permissions))
    return " or ".join(alternatives)


def _describe_reply(status: int, payload: Any) -> str:
    """Return the status with GitHub's own words, on one line of printable characters: `HTTP 403, "No entry."`.

    The words are left out if they only repeat the name of the status.
    """
    details = [_describe_problem(error) for error in _errors(payload)[:5]]
    words = ", ".join(filter(None, details)) or _message(payload)
    printable = "".join(char if char.isprintable() else " " for char in words[: 2 * _MAX_QUOTED])
    quote = " ".join(printable.split()).replace('"', "'")  # nothing in it ends the quotation
    if len(quote) > _MAX_QUOTED:
        quote = quote[: _MAX_QUOTED - 1] + "…"
    return f"HTTP {status}" if quote in ("", client.responses.get(status)) else f'HTTP {status}, "{quote}"'


def _describe_problem(error: Any) -> str:
    """Return one item of the `errors` of a 422: `Label name: name is too long`, `Label name already_exists`."""
    if type(error) is not dict:
        return error if type(error) is str else ""
    place = " ".join(value for key in ("resource", "field") if type(value := error.get(key)) is str)
    message, code = error.get("message"), error.get("code")
    if type(message) is str:
        return f"{place}: {message}" if place else message
    return f"{place} {code}".strip() if type(code) is str else place


def _message(payload: Any) -> str:
    message = payload.get("message") if type(payload) is dict else None
    return message if type(message) is str else ""


def _errors(payload: Any) -> list[Any]:
    errors = payload.get("errors") if type(payload) is dict else None
    return errors if type(errors) is list else []
