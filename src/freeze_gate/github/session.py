"""A `requests` session that follows no redirect, reads no `.netrc` and has a deadline; and the token that it sends."""

import io
import re
import socket
from collections.abc import Callable
from contextvars import ContextVar
from http.client import BadStatusLine, HTTPResponse, RemoteDisconnected
from typing import Any, Final

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from freeze_gate.errors import describe_shortage, exception_chain
from freeze_gate.github.errors import ApiError, ConnectionFailed, Operation, ResourceShort, ServerUnusable
from freeze_gate.version import VERSION

TIMEOUT: Final = (10, 30)
"""Seconds to connect, and between two pieces of a response; GitHub itself gives up after 10."""


class Token:
    """A secret that is never printed. Raises `ValueError`, with what is allowed, for text that cannot be a token."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        if not re.fullmatch(r"[!-~]{1,1000}", secret):
            raise ValueError("one word of plain characters, such as ${{ github.token }}")
        self._secret = secret

    def __repr__(self) -> str:
        """Return asterisks."""
        return "***"

    __str__ = __repr__

    def to_header(self) -> str:
        """Return the value of the `Authorization` header."""
        return f"Bearer {self._secret}"


class _Auth(AuthBase):
    """Sets the token, or nothing. `requests` looks into `.netrc` only where a session has no `auth`."""

    def __init__(self, token: Token | None) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = self._token.to_header()
        return request


_REMAINING: Final[ContextVar[Callable[[], float]]] = ContextVar("remaining")
"""Returns the seconds until the deadline of the request that is being sent."""


class _DeadlineReader(io.RawIOBase):
    """Reads a socket until a deadline, however slowly its bytes come. Then it raises `TimeoutError`."""

    def __init__(self, raw: io.RawIOBase, connection: socket.socket) -> None:
        self._raw = raw
        self._connection = connection
        self._pause = connection.gettimeout() or TIMEOUT[1]
        self._remaining = _REMAINING.get()

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read what one call of the system gives."""
        remaining = self._remaining()
        if remaining <= 0:
            raise TimeoutError
        self._connection.settimeout(min(remaining, self._pause))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Close this use of the socket."""
        self._raw.close()
        super().close()


class _Response(HTTPResponse):
    """Reads everything by the deadline: the head, interim responses before it, chunks, and a proxy's own response."""

    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_DeadlineReader(self.fp.detach(), sock))


class _Connection(HTTPConnection):
    response_class = _Response


class _TlsConnection(HTTPSConnection):
    response_class = _Response


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


class _DeadlineAdapter(HTTPAdapter):
    """Gives a request and its whole response a number of seconds: `timeout` alone starts anew with every byte."""

    def __init__(self, seconds: float, monotonic: Callable[[], float]) -> None:
        self._seconds = seconds
        self._monotonic = monotonic
        super().__init__()

    def send(self, *args: Any, **options: Any) -> requests.Response:
        """Send a request. Raises what `requests` raises."""
        deadline = self._monotonic() + self._seconds
        token = _REMAINING.set(lambda: deadline - self._monotonic())
        try:
            return super().send(*args, **options)
        finally:
            _REMAINING.reset(token)

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        """Make the connections to servers."""
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *args: Any, **options: Any) -> urllib3.ProxyManager:
        """Return the connections by way of a proxy."""
        manager: urllib3.ProxyManager = super().proxy_manager_for(*args, **options)
        manager.pool_classes_by_scheme = _POOLS
        return manager


_POOLS: Final = {"http": _Pool, "https": _TlsPool}


class Session(requests.Session):
    """A session with a token, or without one. Proxies and certificates still come from the environment.

    A request and its whole response may take `seconds`, by the clock `monotonic`.
    """

    def __init__(self, token: Token | None, seconds: float, monotonic: Callable[[], float]) -> None:
        super().__init__()
        adapter = _DeadlineAdapter(seconds, monotonic)
        self.mount("https://", adapter)
        self.mount("http://", adapter)
        self.auth = _Auth(token)
        self.headers["User-Agent"] = f"freeze-gate/{VERSION}"

    def get_redirect_target(self, _response: requests.Response) -> None:
        """Return None: `requests` prepares the next request even where it is told not to follow redirects."""


_CONNECTION_ERRORS: Final = (
    (requests.exceptions.SSLError, "the certificate of {} is not trusted (`REQUESTS_CA_BUNDLE` names your own)"),
    (
        requests.exceptions.ProxyError,
        "the proxy to {} did not answer, or did not let the call through (see `HTTPS_PROXY` and `NO_PROXY`)",
    ),
    (requests.exceptions.ConnectTimeout, "{} could not be reached in time"),
    (requests.exceptions.Timeout, "{} did not answer in time"),
    (urllib3.exceptions.ReadTimeoutError, "{} did not answer in time"),
    (urllib3.exceptions.ProtocolError, "the response of {} was cut short"),
    (requests.exceptions.ConnectionError, "{} could not be reached, or closed the connection"),
    (Exception, "the connection to {} broke"),
)
_INVALID_PROXY: Final = (
    requests.exceptions.InvalidSchema,
    requests.exceptions.InvalidURL,
    urllib3.exceptions.LocationValueError,
)
"""The address of a server is checked before it is used, so that these are about the proxy's."""


def error_from_exception(error: Exception, operation: Operation, server: str = "GitHub") -> ApiError:
    """Return what failed on the way to `server`. The exception's own text is left out: it would show the URL."""
    shortage = describe_shortage(error)
    if shortage:
        return ResourceShort(f"{_capitalize(shortage)}. It was short while {operation.description}")
    if isinstance(error, _INVALID_PROXY):
        return ServerUnusable(
            "The proxy of `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY` cannot be used: it must be http://host:port or "
            f"https://host:port, and not SOCKS. It was needed while {operation.description}"
        )
    if any(_is_no_http(cause) for cause in exception_chain(error)):
        return ServerUnusable(
            f"{_capitalize(server)} does not speak HTTP: its address, or the proxy's, leads to another kind of server. "
            f"It was asked while {operation.description}"
        )
    sentence = next(text for error_class, text in _CONNECTION_ERRORS if isinstance(error, error_class))
    return ConnectionFailed(f"{_capitalize(sentence.format(server))} while {operation.description}")


def _is_no_http(error: BaseException) -> bool:
    """Whether a response began with other bytes than `HTTP/`; a status line that was cut short began with those."""
    if isinstance(error, RemoteDisconnected) or not isinstance(error, BadStatusLine):
        return False
    return not "HTTP/".startswith(str(error.args[0])[:5])


def _capitalize(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
