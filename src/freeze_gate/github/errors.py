"""What can go wrong with a call to GitHub, told apart by what a person can do about it."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from freeze_gate.errors import NoVerdictError

RETRIED: Final = frozenset({"connection", "server", "limit"})
"""The kinds that another try can cure."""

_SECONDARY: Final = "rate limit"
_SECONDS: Final = re.compile(r"[0-9]{1,9}")
_PERMISSIONS: Final = re.compile(r"[a-z_]{1,60}=[a-z]{1,20}(?:[;,] ?[a-z_]{1,60}=[a-z]{1,20}){0,20}")
_CODE: Final = re.compile(r"[A-Za-z_.]{1,40}")
_READ_ONLY: Final = (
    "On a pull request from a fork or from Dependabot the token can only read, whatever the workflow says: "
    "use the `workflow_run` recipe of the README"
)


class Purpose(NamedTuple):
    """Why a call is made: `what` completes "GitHub would not let the token …", `needs` is a line of `permissions:`."""

    what: str
    needs: str


class ApiError(NoVerdictError):
    """A call to GitHub that did not succeed.

    `kind` is `credentials`, `permission`, `not-found`, `gone`, `refused` (any other 4xx, a redirect out of the API),
    `limit`, `server` (5xx), `connection` (nothing or only a part was answered) or `shape` (the answer is not what the
    API documents). `status` is None where no answer arrived. `accepted` are the permissions that GitHub says would do.
    `wait` are the seconds that GitHub asks to wait. `maybe_done` says that the effect may have taken place.
    """

    def __init__(  # noqa: PLR0913 - one value for each fact
        self,
        kind: str,
        message: str,
        *,
        status: int | None = None,
        accepted: str | None = None,
        wait: float | None = None,
        maybe_done: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.accepted = accepted
        self.wait = wait
        self.maybe_done = maybe_done


def refusal(purpose: Purpose, status: int, headers: Mapping[str, str], payload: Any, epoch: float) -> ApiError:
    """Say what an answer with a status of 400 or above means. `epoch` is now, in seconds since 1970, UTC."""
    if status in (403, 429) and (limited := _limit(purpose, status, headers, payload, epoch)):
        return limited
    if status == 408 or status >= 500:  # noqa: PLR2004 - HTTP's own numbers
        return ApiError(
            "server",
            f"GitHub could not {purpose.what} (HTTP {status}): see its status page, then run this again",
            status=status,
            wait=_retry_after(headers),
            maybe_done=True,
        )
    kind, words = _REFUSALS.get(status, ("refused", _refused))
    accepted = _accepted(headers)
    return ApiError(kind, words(purpose, status, accepted, payload), status=status, accepted=accepted)


def _limit(purpose: Purpose, status: int, headers: Mapping[str, str], payload: Any, epoch: float) -> ApiError | None:
    """Tell a limit from a missing permission: both come as 403.

    https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#rate-limit-errors
    """
    wait, exhausted = _retry_after(headers), headers.get("x-ratelimit-remaining") == "0"
    message = payload.get("message") if type(payload) is dict else None
    named = type(message) is str and _SECONDARY in message.lower()
    if wait is None and not exhausted and not named and status != 429:  # noqa: PLR2004 - HTTP's own number
        return None
    if wait is None and exhausted:
        wait = _until_reset(headers, epoch)
    if wait is None:
        wait = 60.0  # the documented minimum where GitHub names no time
    return ApiError(
        "limit",
        f"GitHub's rate limit keeps this run from asking it to {purpose.what} (HTTP {status}): "
        f"it wants to be left alone for {wait:.0f} seconds. Run this again later, or raise `wait-seconds`",
        status=status,
        wait=wait,
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after", "")
    return float(value) if _SECONDS.fullmatch(value) else None


def _until_reset(headers: Mapping[str, str], epoch: float) -> float | None:
    value = headers.get("x-ratelimit-reset", "")
    return max(1.0, float(value) - epoch) if re.fullmatch(r"[0-9]{1,12}", value) else None


def _accepted(headers: Mapping[str, str]) -> str | None:
    """Read `issues=write; pull_requests=write` (a semicolon is "or") as lines of a workflow's `permissions:`."""
    value = headers.get("x-accepted-github-permissions", "")
    if not _PERMISSIONS.fullmatch(value):
        return None
    alternatives = [
        " and ".join(f"`{part.strip().replace('_', '-').replace('=', ': ')}`" for part in choice.split(","))
        for choice in value.split(";")
    ]
    return " or ".join(alternatives)


def _credentials(purpose: Purpose, _status: int, _accepted: str | None, _payload: Any) -> str:
    return (
        f"GitHub did not accept the token when asked to {purpose.what} (HTTP 401): it is wrong or has expired. "
        "Leave `github-token` unset to use the job's own token"
    )


def _permission(purpose: Purpose, _status: int, accepted: str | None, _payload: Any) -> str:
    return (
        f"GitHub would not let the token {purpose.what} (HTTP 403): it needs {accepted or f'`{purpose.needs}`'}. "
        f"Add that under `permissions:` of this job. {_READ_ONLY}"
    )


def _not_found(purpose: Purpose, _status: int, _accepted: str | None, _payload: Any) -> str:
    return (
        f"GitHub found nothing when asked to {purpose.what} (HTTP 404): it is not there, or the token cannot see it. "
        f"Add `{purpose.needs}` under `permissions:` of this job; the job's own token sees only its own repository"
    )


def _gone(purpose: Purpose, _status: int, _accepted: str | None, _payload: Any) -> str:
    return f"GitHub can no longer {purpose.what} (HTTP 410): it has expired, or is switched off in this repository"


def _refused(purpose: Purpose, status: int, _accepted: str | None, payload: Any) -> str:
    codes = _codes(payload)
    return f"GitHub refused to {purpose.what} (HTTP {status}{f', {codes}' if codes else ''})"


def _codes(payload: Any) -> str:
    """Name what a 422 names, as far as it is made of plain words: `Label.name custom`."""
    errors = payload.get("errors") if type(payload) is dict else None
    named = [error for error in errors[:5] if type(error) is dict] if type(errors) is list else []
    words = [[error.get(key) for key in ("resource", "field", "code")] for error in named]
    return ", ".join(" ".join(word for word in row if type(word) is str and _CODE.fullmatch(word)) for row in words)


_REFUSALS: Final = {
    401: ("credentials", _credentials),
    403: ("permission", _permission),
    404: ("not-found", _not_found),
    410: ("gone", _gone),
}
