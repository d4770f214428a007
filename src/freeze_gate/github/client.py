"""One repository of GitHub's REST API: the token, retries within a budget, and answers that are read with distrust."""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, Self
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from requests.utils import parse_header_links

from freeze_gate.errors import UsageError
from freeze_gate.github.errors import RETRIED, ApiError, Purpose, refusal
from freeze_gate.github.session import TIMEOUT, Session, Token, cause
from freeze_gate.github.wait_budget import REAL, Budget, Clock
from freeze_gate.validation.readers import InvalidValue, Reader, T

MAX_ANSWER_BYTES: Final = 32 << 20
"""A page of a hundred issues with the longest bodies, every character of four bytes, is 26 MB."""

ANSWER_SECONDS: Final = 60
"""How long one answer may take to arrive, however steadily it drips."""

TRIES: Final = 5
PAGE: Final = 100
MOST_PAGES: Final = 100
"""Ten thousand entries; a listing that goes on is not one that this tool can have asked for."""

MUTATION_PAUSE: Final = 1.0
"""Seconds between two changes, as GitHub's guide to its secondary limits asks for."""

_REPOSITORY: Final = re.compile(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}")
_FOLLOWED: Final = frozenset({301, 302, 307, 308})
_MOST_REDIRECTS: Final = 3


class Answer(NamedTuple):
    """What GitHub said, below a status of 400. `payload` is any JSON; header names ignore case."""

    status: int
    headers: Mapping[str, str]
    payload: Any


class Call(NamedTuple):
    """One request. `again` says that it may be sent once more where its answer was lost."""

    method: str
    url: str
    purpose: Purpose
    params: Mapping[str, str | int] | None = None
    body: Any = None
    again: bool = True


class Api:
    """The API of one repository, for one run. May be used by several threads at once.

    `calls` counts the requests made. `remaining` is what is left of the hourly limit, as GitHub says.
    """

    def __init__(
        self, base: str, repository: str, token: Token, *, wait_seconds: float = 120, clock: Clock = REAL
    ) -> None:
        self.base = checked_base(base)
        self.root = f"{self.base}/repos/{checked_repository(repository)}/"
        self.clock = clock
        self.budget = Budget(wait_seconds, clock)
        self.calls = 0
        self.remaining: int | None = None
        self._reset = ""  # when the hour that `remaining` is about ends, as GitHub writes it
        self._counting = threading.Lock()
        self._changing = threading.Lock()
        self._last_change = float("-inf")
        self._session = Session(token)
        self._session.headers.update({"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"})

    def __enter__(self) -> Self:
        """Use as a context manager to close the connections."""
        return self

    def __exit__(self, *_exc: object) -> None:
        """Close the connections."""
        self._session.close()

    def get(self, path: str, purpose: Purpose, params: Mapping[str, str | int] | None = None) -> Answer:
        """Ask for `path` below the repository. Raises `ApiError`."""
        return self._follow(Call("GET", self.root + path, purpose, params))

    def pages(self, path: str, purpose: Purpose, params: Mapping[str, str | int]) -> Iterator[Any]:
        """Yield the payload of every page, a hundred entries each, as the `Link` header leads. Raises `ApiError`."""
        call = Call("GET", self.root + path, purpose, {**params, "per_page": PAGE})
        for _ in range(MOST_PAGES):
            answer = self._follow(call)
            yield answer.payload
            following = _next_page(answer)
            if following is None:
                return
            call = Call("GET", self._inside(following, purpose), purpose)
        raise ApiError("shape", f"GitHub's listing does not end after {MOST_PAGES} pages, asked to {purpose.what}")

    def post(self, path: str, body: Any, purpose: Purpose, *, again: bool) -> Answer:
        """Send `body` as JSON. Without `again`, a lost answer raises at once with `maybe_done`. Raises `ApiError`."""
        return self._change(Call("POST", self.root + path, purpose, body=body, again=again))

    def patch(self, path: str, body: Any, purpose: Purpose) -> Answer:
        """Change what is named, which may safely be sent twice. Raises `ApiError`."""
        return self._change(Call("PATCH", self.root + path, purpose, body=body))

    def pace(self) -> None:
        """Wait until the next change may be made; who reads what it will change waits before it reads."""
        pause = self._last_change + MUTATION_PAUSE - self.clock.monotonic()
        if pause > 0:
            self.clock.sleep(pause)

    def location(self, path: str, purpose: Purpose) -> str:
        """Ask for `path`, which answers with a redirect, and return where it leads. Raises `ApiError`."""
        answer = self._follow(Call("GET", self.root + path, purpose), out=True)
        location = answer.headers.get("location", "")
        if answer.status != 302 or not location:  # noqa: PLR2004 - HTTP's own number
            raise ApiError("shape", f"GitHub sent no redirect when asked to {purpose.what}", status=answer.status)
        return location

    def _follow(self, call: Call, *, out: bool = False) -> Answer:
        """Follow redirects inside the API (a renamed repository); `out` hands back one that leaves it."""
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self._persist(call)
            if answer.status not in _FOLLOWED or (out and answer.status == 302):  # noqa: PLR2004 - HTTP's own number
                return answer
            call = call._replace(url=self._inside(answer.headers.get("location", ""), call.purpose), params=None)
        raise ApiError("refused", f"GitHub redirects in a circle when asked to {call.purpose.what}")

    def _change(self, call: Call) -> Answer:
        """Send changes one at a time, and not too fast: they count five times as much as a question."""
        with self._changing:
            self.pace()
            try:
                answer = self._persist(call)
            finally:
                self._last_change = self.clock.monotonic()
        if answer.status in _FOLLOWED:
            raise ApiError(
                "refused",
                f"GitHub has moved what it was asked to {call.purpose.what} (HTTP {answer.status})",
                status=answer.status,
            )
        return answer

    def _persist(self, call: Call) -> Answer:
        """Try until there is an answer, the failure is not one that time cures, or the budget is used up."""
        for attempt in range(TRIES):
            since = self.clock.monotonic()
            try:
                return self._once(call)
            except ApiError as error:
                final = attempt == TRIES - 1 or error.kind not in RETRIED or (error.maybe_done and not call.again)
                pause = 2.0**attempt if error.wait is None else error.wait
                if final or not self.budget.wait(pause, since):
                    raise
        raise AssertionError  # the last try returns or raises

    def _once(self, call: Call) -> Answer:
        with self._counting:
            self.calls += 1
        try:
            with self._session.request(
                call.method,
                call.url,
                params=call.params,
                json=call.body,
                timeout=TIMEOUT,
                allow_redirects=False,  # the token must not travel on
                stream=True,
            ) as response:
                raw = self._read(response, call.purpose)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise ApiError("connection", f"{cause(error)}, asked to {call.purpose.what}", maybe_done=True) from None
        except OSError:  # the one thing that `requests` leaves unwrapped
            raise UsageError("REQUESTS_CA_BUNDLE: must be a file of certificates that can be read") from None
        self._note_remaining(response.headers)
        if response.status_code in _FOLLOWED:
            return Answer(response.status_code, response.headers, None)
        payload = _parsed(raw)
        if response.status_code >= 400:  # noqa: PLR2004 - HTTP's own number
            raise refusal(call.purpose, response.status_code, response.headers, payload, self.clock.epoch())
        if payload is None:
            raise ApiError("connection", f"GitHub's answer was not JSON, asked to {call.purpose.what}", maybe_done=True)
        return Answer(response.status_code, response.headers, payload)

    def _read(self, response: requests.Response, purpose: Purpose) -> bytes:
        """Read a body under a cap of size and of time."""
        deadline = self.clock.monotonic() + ANSWER_SECONDS
        raw = bytearray()
        while chunk := response.raw.read1(1 << 16, decode_content=True):
            raw += chunk
            if len(raw) > MAX_ANSWER_BYTES:
                raise ApiError("shape", f"GitHub's answer is too long to be read, asked to {purpose.what}")
            if self.clock.monotonic() > deadline:
                raise requests.ReadTimeout
        return bytes(raw)

    def _note_remaining(self, headers: Mapping[str, str]) -> None:
        """Keep the least that an hour's answers say: those of calls made at the same time come in any order."""
        value, reset = headers.get("x-ratelimit-remaining", ""), headers.get("x-ratelimit-reset", "")
        if not re.fullmatch(r"[0-9]{1,9}", value):
            return
        with self._counting:
            told_before = self.remaining if reset == self._reset else None
            self.remaining = int(value) if told_before is None else min(told_before, int(value))
            self._reset = reset

    def _inside(self, location: str, purpose: Purpose) -> str:
        """Return an absolute URL of this API, or refuse to take the token anywhere else."""
        url = inside(self.root, location)
        if url is None:
            raise ApiError("refused", f"GitHub's API leads to another server, asked to {purpose.what}")
        return url


def read(reader: Reader[T], payload: Any, purpose: Purpose) -> T:
    """Read a payload of the documented shape. Raises `ApiError` that names the first thing wrong and quotes nothing."""
    try:
        return reader(payload)
    except InvalidValue as error:
        raise ApiError(
            "shape", f"GitHub's answer is not of the documented shape, asked to {purpose.what}: {error.problems[0]}"
        ) from None


def checked_base(base: str) -> str:
    """Return the address of the API without a slash at its end. Raises `UsageError`."""
    try:
        parts = urlsplit(base)
        sound = _origin(base)[0] in ("http", "https") and bool(parts.hostname)
    except ValueError:
        sound = False
    if not sound or not re.fullmatch(r"[!-~]+", base) or {"@", "?", "#"} & set(base):
        raise UsageError("GITHUB_API_URL: must be the address of GitHub's API, such as https://api.github.com")
    return base.rstrip("/")


def checked_repository(repository: str) -> str:
    """Return `owner/name` as it is. Raises `UsageError`."""
    if not _REPOSITORY.fullmatch(repository) or {".", ".."} & set(repository.split("/")):
        raise UsageError("GITHUB_REPOSITORY: must be owner/name")
    return repository


def _origin(url: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port of a URL. Raises `ValueError` for what is none."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def inside(root: str, location: str) -> str | None:
    """Return the absolute URL that a server leads to from `root`; None for what leads nowhere or to another server."""
    try:
        url = urljoin(root, location)
        return url if location and _origin(url) == _origin(root) else None
    except ValueError:
        return None


def _next_page(answer: Answer) -> str | None:
    links = parse_header_links(answer.headers.get("link", ""))
    return next((link["url"] for link in links if link.get("rel") == "next"), None)


def _parsed(raw: bytes) -> Any:
    """Parse JSON; None for what is not: no answer that this tool reads is `null`."""
    try:
        return json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
