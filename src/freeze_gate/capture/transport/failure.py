"""Why a call brought no sample, by the classes of exceptions and the status; for people, and never evidence."""

import socket
from ssl import SSLCertVerificationError
from typing import Final, NamedTuple

import requests

from freeze_gate.capture.transport.faults import Cause, permanent_cause
from freeze_gate.errors import exception_chain

_Causes = tuple[tuple[type[BaseException], str], ...]

_EXACT: Final[_Causes] = (
    (requests.exceptions.ProxyError, "its proxy did not answer, or did not let the call through"),
    (requests.exceptions.InvalidURL, Cause.UNUSABLE_ADDRESS.value),
    (requests.exceptions.InvalidSchema, Cause.UNUSABLE_ADDRESS.value),  # a SOCKS proxy without its library
    (socket.gaierror, "the name is not found"),
    (ConnectionRefusedError, "the connection was refused"),
    (SSLCertVerificationError, "its certificate is not trusted (REQUESTS_CA_BUNDLE names your own authorities)"),
)
"""The first class in the chain of an exception counts. A proxy comes first: its own name may not be found either."""

_GENERAL: Final[_Causes] = (
    (requests.exceptions.ConnectTimeout, "it could not be reached within --connect-timeout"),
    (requests.exceptions.Timeout, "it was silent for longer than --read-timeout"),
    (requests.exceptions.SSLError, "the TLS handshake failed"),
    (requests.exceptions.ConnectionError, "the connection broke"),
)


class Failure(NamedTuple):
    """What is known of a failed attempt: a cause, or what the answer said. `body` is its beginning."""

    cause: str | None = None
    location: str | None = None
    body: bytes = b""


def name_cause(error: Exception) -> str | None:
    """Return the cause in words of our own; None for an exception that no sentence fits. Its text is never quoted."""
    if words := _first(_EXACT, error):
        return words
    permanent = permanent_cause(error)
    return permanent.value if permanent else _first(_GENERAL, error)


def _first(causes: _Causes, error: Exception) -> str | None:
    chain = list(exception_chain(error))
    return next((words for kind, words in causes if any(isinstance(cause, kind) for cause in chain)), None)
