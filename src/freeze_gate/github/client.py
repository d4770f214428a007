"""A client of GitHub's REST API for one repository: the token, retries within a budget, and checked responses.

The retries are written by hand: `urllib3.Retry` knows neither GitHub's limits that come as 403, nor a budget that
threads share, nor a body that breaks off, nor a change that may have been made although its response was lost.
"""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple, Self
from urllib.parse import urljoin, urlsplit

import requests
import urllib3

from freeze_gate.errors import UNREADABLE_CA_BUNDLE, UsageError, describe_shortage
from freeze_gate.github.errors import (
    AlreadyExists,
    ApiError,
    ConnectionFailed,
    Operation,
    RequestRefused,
    UnexpectedResponse,
    error_from_response,
)
from freeze_gate.github.session import TIMEOUT, Session, Token, error_from_exception
from freeze_gate.github.wait_budget import SYSTEM_CLOCK, Clock, WaitBudget
from freeze_gate.validation.readers import InvalidValue, Reader, T

MAX_RESPONSE_BYTES: Final = 8 << 20
"""A page of a hundred issues with the longest bodies is 7 MB. Parsed, it may take 30 times as much memory."""

RESPONSE_TIMEOUT: Final = 60
"""Seconds from a request to the end of its response, even if its bytes keep coming."""

MAX_ATTEMPTS: Final = 5
PAGE_SIZE: Final = 100
MAX_PAGES: Final = 100
"""Ten thousand entries: no listing that this tool asks for is longer."""

MUTATION_PAUSE: Final = 1.0
"""Seconds between two changes, as GitHub's guide to its secondary limits asks for."""

_REPOSITORY: Final = re.compile(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}")
_REDIRECTS: Final = frozenset({301, 302, 307, 308})
_VERBATIM_REDIRECTS: Final = frozenset({307, 308})
"""These keep method and body (RFC 9110, section 15.4), as GitHub does for a repository that was renamed."""

_MAX_REDIRECTS: Final = 3


class Response(NamedTuple):
    """A response with a status below 400. `payload` is any JSON, None for a redirect; "" is a header that is absent."""

    status: int
    payload: Any
    location: str
    next_page: str


class Request(NamedTuple):
    """One request. `retryable` says that it may be sent again after its response was lost."""

    method: str
    url: str
    operation: Operation
    params: Mapping[str, str | int] | None = None
    body: Any = None
    retryable: bool = True


class GitHubClient:
    """The API of one repository, for one run. May be used by several threads at once.

    `calls` counts the requests made. `remaining` is what is left of the hourly limit, according to GitHub.
    """

    def __init__(
        self, api_url: str, repository: str, token: Token, *, wait_seconds: float = 120, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self.api_url = validate_api_url(api_url)
        if not _REPOSITORY.fullmatch(repository) or {".", ".."} & set(repository.split("/")):
            raise UsageError("GITHUB_REPOSITORY: must be owner/name")
        self.root = f"{self.api_url}/repos/{repository}/"
        self.clock = clock
        self.budget = WaitBudget(wait_seconds, clock)
        self.calls = 0
        self.remaining: int | None = None
        self._reset = ""  # the end of the hour that `remaining` is about, as GitHub writes it
        self._counter_lock = threading.Lock()
        self._mutation_lock = threading.Lock()
        self._last_mutation = float("-inf")
        self._session = Session(token, RESPONSE_TIMEOUT, clock.monotonic)
        self._session.headers.update({"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"})

    def __enter__(self) -> Self:
        """Return the client; the connections are closed at the end."""
        return self

    def __exit__(self, *_exc: object) -> None:
        """Close the connections."""
        self._session.close()

    def get(self, path: str, operation: Operation, params: Mapping[str, str | int] | None = None) -> Response:
        """Get `path` below the repository. Raises `ApiError`."""
        return self._request(Request("GET", self.root + path, operation, params))

    def get_pages(self, path: str, operation: Operation, params: Mapping[str, str | int]) -> Iterator[Any]:
        """Yield the payload of every page, a hundred entries each, by the `Link` headers. Raises `ApiError`."""
        request = Request("GET", self.root + path, operation, {**params, "per_page": PAGE_SIZE})
        for _ in range(MAX_PAGES):
            response = self._request(request)
            yield response.payload
            if not response.next_page:
                return
            request = Request("GET", self._same_origin_url(response.next_page, operation), operation)
        raise UnexpectedResponse(f"GitHub's listing does not end after {MAX_PAGES} pages {_while(operation)}")

    def get_redirect(self, path: str, operation: Operation) -> str:
        """Get `path`, which responds with a redirect, and return its target. Raises `ApiError`."""
        response = self._request(Request("GET", self.root + path, operation), stop_at_found=True)
        if response.status != HTTPStatus.FOUND or not response.location:
            raise UnexpectedResponse(f"GitHub sent no redirect {_while(operation)}")
        return response.location

    def post(self, path: str, body: Any, operation: Operation, *, retryable: bool) -> Response:
        """Send `body` as JSON. If it is not retryable, a lost response raises at once. Raises `ApiError`."""
        return self._mutate(Request("POST", self.root + path, operation, body=body, retryable=retryable))

    def patch(self, path: str, body: Any, operation: Operation) -> Response:
        """Change `path`, which may safely be sent twice. Raises `ApiError`."""
        return self._mutate(Request("PATCH", self.root + path, operation, body=body))

    def throttle(self) -> None:
        """Wait until the next change may be made. Call this before reading what the change depends on."""
        pause = self._last_mutation + MUTATION_PAUSE - self.clock.monotonic()
        if pause > 0:
            self.clock.sleep(pause)

    def _request(self, request: Request, *, stop_at_found: bool = False) -> Response:
        """Follow redirects inside the API (a renamed repository); `stop_at_found` returns the first 302 (Found).

        A change follows only those that keep it whole: an issue that was moved elsewhere (301) is another one.
        """
        followed = _REDIRECTS if request.method == "GET" else _VERBATIM_REDIRECTS
        for _ in range(_MAX_REDIRECTS + 1):
            response = self._send_with_retries(request)
            if response.status not in _REDIRECTS or (stop_at_found and response.status == HTTPStatus.FOUND):
                return response
            if response.status not in followed:
                raise RequestRefused(
                    f"GitHub has moved this elsewhere (HTTP {response.status}) {_while(request.operation)}"
                )
            url = self._same_origin_url(response.location, request.operation)
            request = request._replace(url=url, params=None if urlsplit(url).query else request.params)
        raise RequestRefused(f"GitHub redirects in a circle {_while(request.operation)}")

    def _mutate(self, request: Request) -> Response:
        """Send one change at a time, with a pause: GitHub counts a change five times as much as a read."""
        with self._mutation_lock:
            self.throttle()
            try:
                return self._request(request)
            except AlreadyExists:  # a label that GitHub was about to make for this change, and that is there now
                self.clock.sleep(MUTATION_PAUSE)
                return self._request(request)
            finally:
                self._last_mutation = self.clock.monotonic()

    def _send_with_retries(self, request: Request) -> Response:
        """Send until there is a response, an error that is not transient, or no budget left."""
        for attempt in range(MAX_ATTEMPTS):
            started_at = self.clock.monotonic()
            try:
                return self._send(request)
            except ApiError as error:
                is_last = attempt == MAX_ATTEMPTS - 1
                may_repeat = error.is_transient and (request.retryable or not error.is_possibly_applied)
                pause = 2.0**attempt if error.retry_after is None else error.retry_after
                if is_last or not may_repeat or not self.budget.wait(pause, started_at):
                    raise
        raise AssertionError  # the last attempt returns or raises

    def _send(self, request: Request) -> Response:
        with self._counter_lock:
            self.calls += 1
        try:
            with self._session.request(
                request.method,
                request.url,
                params=request.params,
                json=request.body,
                timeout=TIMEOUT,
                allow_redirects=False,  # the token goes to no other server
                stream=True,
            ) as response:
                body = self._read_body(response, request.operation)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise error_from_exception(error, request.operation) from None
        except OSError as error:  # `requests` does not wrap this one
            if describe_shortage(error):
                raise error_from_exception(error, request.operation) from None
            raise UsageError(UNREADABLE_CA_BUNDLE) from None
        status, headers = response.status_code, response.headers
        self._update_rate_limit(headers)
        payload = None if status in _REDIRECTS else _parse_json(body)
        if status >= HTTPStatus.BAD_REQUEST:
            raise error_from_response(request.operation, status, headers, payload, self.clock.epoch())
        if payload is None and status not in _REDIRECTS:
            raise ConnectionFailed(f"GitHub's response was not JSON {_while(request.operation)}")
        return Response(status, payload, headers.get("location", ""), response.links.get("next", {}).get("url", ""))

    def _read_body(self, response: requests.Response, operation: Operation) -> bytes:
        """Read a body of limited size."""
        body = bytearray()
        while chunk := response.raw.read1(1 << 16, decode_content=True):
            body += chunk
            if len(body) > MAX_RESPONSE_BYTES:
                raise UnexpectedResponse(f"GitHub's response is too long {_while(operation)}")
        return bytes(body)

    def _update_rate_limit(self, headers: Mapping[str, str]) -> None:
        """Keep the smallest number of an hour: responses to parallel calls arrive in any order."""
        value, reset = headers.get("x-ratelimit-remaining", ""), headers.get("x-ratelimit-reset", "")
        if not re.fullmatch(r"[0-9]{1,9}", value):
            return
        with self._counter_lock:
            previous = self.remaining if reset == self._reset else None
            self.remaining = int(value) if previous is None else min(previous, int(value))
            self._reset = reset

    def _same_origin_url(self, location: str, operation: Operation) -> str:
        """Return the absolute URL of a redirect or link. Raises `RequestRefused` if it is not on the API's server."""
        try:
            url = urljoin(self.root, location)
            if location and _origin(url) == _origin(self.root):
                return url
        except ValueError:
            pass
        raise RequestRefused(f"GitHub's API leads to another server {_while(operation)}")


def parse_payload(reader: Reader[T], payload: Any, operation: Operation) -> T:
    """Read a payload of the documented shape. Raises `UnexpectedResponse`, which names the first problem's path."""
    try:
        return reader(payload)
    except InvalidValue as error:
        raise UnexpectedResponse(
            f"GitHub's response does not have the documented shape {_while(operation)}: {error.problems[0]}"
        ) from None


def validate_api_url(url: str) -> str:
    """Return the address of the API without a slash at its end. Raises `UsageError`."""
    try:
        scheme, host, _ = _origin(url)
    except ValueError:
        scheme, host = "", None
    is_plain = re.fullmatch(r"[!-~]+", url) and not {"@", "?", "#"} & set(url)
    if scheme not in ("http", "https") or not host or not is_plain:
        raise UsageError("GITHUB_API_URL: must be the address of GitHub's API, such as https://api.github.com")
    return url.rstrip("/")


def _origin(url: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port of a URL. Raises `ValueError` for text that is not a URL."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _while(operation: Operation) -> str:
    return f"while {operation.description}"


def _parse_json(body: bytes) -> Any:
    """Parse JSON; None if it is invalid: no response that this tool reads is `null`."""
    try:
        return json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
