"""What can go wrong with a call to GitHub: one class for each thing that a person can do about it."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from freeze_gate.errors import NoVerdictError

_PERMISSIONS: Final = re.compile(r"[a-z_]{1,60}=[a-z]{1,20}(?:[;,] ?[a-z_]{1,60}=[a-z]{1,20}){0,20}")
_DEFAULT_WAIT: Final = 60.0
"""The documented minimum of seconds to wait for a secondary rate limit that names no time."""


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


class RateLimited(ApiError):
    """HTTP 403 or 429 because of a primary or secondary rate limit."""

    is_transient = True


class ServerError(ApiError):
    """HTTP 5xx or 408, or a download that takes too long."""

    is_transient = True
    is_possibly_applied = True


class ConnectionFailed(ApiError):
    """No response arrived, or only a part of one."""

    is_transient = True
    is_possibly_applied = True


class UnexpectedResponse(ApiError):
    """The response is not what the API documents."""


_FORK_HINT: Final = (
    "On a pull request from a fork or from Dependabot the token can only read, whatever the workflow says: "
    "use the `workflow_run` recipe of the README"
)
_CLASSES: Final[Mapping[int, type[ApiError]]] = {
    HTTPStatus.UNAUTHORIZED: Unauthorized,
    HTTPStatus.FORBIDDEN: Forbidden,
    HTTPStatus.NOT_FOUND: NotFound,
    HTTPStatus.GONE: Gone,
}
_MESSAGES: Final[Mapping[type[ApiError], str]] = {
    Unauthorized: "GitHub rejected the token (HTTP 401) while {doing}: it is wrong or has expired. "
    "Leave `github-token` unset to use the job's own token",
    Forbidden: "GitHub denied the token access (HTTP 403) while {doing}: it needs {accepted}. "
    f"Add that under `permissions:` of this job. {_FORK_HINT}",
    NotFound: "GitHub found nothing (HTTP 404) while {doing}: it does not exist, or the token cannot see it. "
    "Add `{permission}` under `permissions:` of this job; the job's own token sees only its own repository",
    Gone: "GitHub no longer has it (HTTP 410) while {doing}: it has expired, or is switched off in this repository",
}


def error_from_response(
    operation: Operation, status: int, headers: Mapping[str, str], payload: Any, epoch: float
) -> ApiError:
    """Return the error that a status of 400 or above means. `epoch` is now, in seconds since 1970, UTC."""
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
            f"GitHub failed (HTTP {status}) while {doing}: see its status page, then run this again",
            retry_after=_retry_after(headers),
        )
    if status not in _CLASSES:
        codes = _error_codes(payload)
        details = f"HTTP {status}, {codes}" if codes else f"HTTP {status}"
        return RequestRefused(f"GitHub refused the request ({details}) while {doing}")
    error_class = _CLASSES[status]
    accepted = _accepted_permissions(headers) or f"`{operation.permission}`"
    message = _MESSAGES[error_class].format(doing=doing, permission=operation.permission, accepted=accepted)
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
        return max(1.0, float(reset) - epoch) if re.fullmatch(r"[0-9]{1,12}", reset) else _DEFAULT_WAIT
    message = payload.get("message") if type(payload) is dict else None
    is_secondary_limit = type(message) is str and "rate limit" in message.lower()
    return _DEFAULT_WAIT if is_secondary_limit or status == HTTPStatus.TOO_MANY_REQUESTS else None


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


def _error_codes(payload: Any) -> str:
    """Return what a 422 names, if it is made of plain words, such as `Label name custom`. Free text is left out."""
    errors = payload.get("errors") if type(payload) is dict else None
    if type(errors) is not list:
        return ""
    descriptions = []
    for error in errors[:5]:
        if type(error) is dict:
            values = [error.get(key) for key in ("resource", "field", "code")]
            words = [word for word in values if type(word) is str and re.fullmatch(r"[A-Za-z_.]{1,40}", word)]
            descriptions.append(" ".join(words))
    return ", ".join(descriptions)
