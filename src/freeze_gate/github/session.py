"""A `requests` session that follows no redirect, reads no `.netrc` and has timeouts; and the token that it sends."""

import re
from typing import Final

import requests
import urllib3
from requests.auth import AuthBase

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


class Session(requests.Session):
    """A session with a token, or without one. Proxies and certificates still come from the environment."""

    def __init__(self, token: Token | None) -> None:
        super().__init__()
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


def describe_connection_error(error: Exception, server: str = "GitHub") -> str:
    """Return what failed on the way to `server`. The exception's own text is left out: it would show the URL."""
    description = next(text for error_class, text in _CONNECTION_ERRORS if isinstance(error, error_class))
    sentence = description.format(server)
    return sentence[0].upper() + sentence[1:]
