"""A session of `requests` that does nothing unasked: no redirect, no password of its own finding, no endless wait."""

import re
from typing import Final

import requests
import urllib3
from requests.auth import AuthBase

from freeze_gate.version import VERSION

TIMEOUT: Final = (10, 30)
"""Seconds to connect, and between two pieces of an answer; GitHub itself gives up after 10."""


class Token:
    """A secret that no text shows. Raises `ValueError` with what is allowed."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        if not re.fullmatch(r"[!-~]{1,1000}", secret):
            raise ValueError("one word of plain characters, such as ${{ github.token }}")
        self._secret = secret

    def __repr__(self) -> str:
        """Show nothing."""
        return "***"

    __str__ = __repr__

    def bearer(self) -> str:
        """Return the value of the `Authorization` header."""
        return f"Bearer {self._secret}"


class _Auth(AuthBase):
    """Sets the token, or nothing. Being an `auth`, it keeps `requests` from putting an entry of `.netrc` there."""

    def __init__(self, token: Token | None) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = self._token.bearer()
        return request


class Session(requests.Session):
    """A session with a token, or with none. Proxies and a bundle of certificates still come from the environment."""

    def __init__(self, token: Token | None) -> None:
        super().__init__()
        self.auth = _Auth(token)
        self.headers["User-Agent"] = f"freeze-gate/{VERSION}"

    def get_redirect_target(self, _response: requests.Response) -> None:
        """Say that there is none: `requests` would read and prepare even a redirect that it is told not to follow."""


def cause(error: Exception, place: str = "GitHub") -> str:
    """Say what broke on the way to `place`, without the URL that the exception's own text would show."""
    words = next((words for kind, words in _CAUSES if isinstance(error, kind)), "the connection to {} broke")
    said = words.format(place)
    return said[0].upper() + said[1:]


_CAUSES: Final = (
    (requests.exceptions.SSLError, "the certificate of {} is not trusted (`REQUESTS_CA_BUNDLE` names your own)"),
    (
        requests.exceptions.ProxyError,
        "the proxy to {} did not answer, or did not let the call through (see `HTTPS_PROXY` and `NO_PROXY`)",
    ),
    (requests.exceptions.ConnectTimeout, "{} could not be reached in time"),
    (requests.exceptions.Timeout, "{} did not answer in time"),
    (urllib3.exceptions.ReadTimeoutError, "{} did not answer in time"),
    (urllib3.exceptions.ProtocolError, "the answer of {} was cut short"),
    (requests.exceptions.ConnectionError, "{} could not be reached, or closed the connection"),
)
