"""What is a fault of the transport and what is not: decided here, for every client, by typed facts.

A client translates what it knows (an exit code, the classes of an exception and its causes) into a `Cause`. In doubt a
cause is no fault: a wrong fault can excuse a patch, a missing one cannot.
"""

from enum import Enum
from typing import Final

from freeze_gate.errors import exception_chain

FILE_ERRORS: Final = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError)
"""What opening a file raises and no network does: a request body that its sender could not read is no fault of the
transport, although HTTP clients take every `OSError` of a body for a broken connection."""


class Cause(Enum):
    """Why an attempt failed."""

    TIMEOUT = "silence for longer than the client waits"
    CONNECTION = "the connection was not made, or broke on the way"
    TRUNCATED = "the connection ended before the body did"
    LIMIT = "a limit of the client itself"
    NOT_HTTP = "the bytes are not HTTP, or not TLS"
    NOT_TRUSTED = "the certificate is not trusted"
    UNUSABLE_ADDRESS = "the address or the proxy cannot be used"
    CALLER = "the caller could not make the request"
    UNKNOWN = "nothing that is known here"


_FAULTS: Final = {Cause.TIMEOUT: "timeout", Cause.CONNECTION: "connection", Cause.TRUNCATED: "truncated"}


def fault_of(cause: Cause) -> str | None:
    """Return the `transport.fault` of a record; None where the same would happen on any day, or may."""
    return _FAULTS.get(cause)


def permanent_cause(error: BaseException, *, is_to_proxy: bool = False) -> Cause | None:
    """Find in an exception without an answer what a rerun would not heal; None where its chain shows none.

    `is_to_proxy`: the connection went to a proxy, whose name is configuration.
    """
    import http.client  # these three cost a command that reads curl's report a tenth of its start
    import socket
    import ssl

    ended_tls = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError, TimeoutError)
    for cause in exception_chain(error):
        if isinstance(cause, FILE_ERRORS):
            return Cause.CALLER
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Cause.NOT_TRUSTED
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, ended_tls):
            return Cause.NOT_HTTP
        if isinstance(cause, socket.gaierror) and is_to_proxy:
            return Cause.UNUSABLE_ADDRESS
        if isinstance(cause, http.client.HTTPException) and not isinstance(
            cause, http.client.RemoteDisconnected | http.client.IncompleteRead
        ):
            return Cause.NOT_HTTP if isinstance(cause, http.client.BadStatusLine) else Cause.LIMIT
    return None


def cause_in_body(error: BaseException) -> Cause:
    """Name the cause of an exception after the headers; TLS that breaks there broke on the way."""
    from http.client import HTTPException, IncompleteRead

    causes = list(exception_chain(error))
    if any(isinstance(cause, FILE_ERRORS) for cause in causes):
        return Cause.CALLER
    if any(isinstance(cause, IncompleteRead) for cause in causes):
        return Cause.TRUNCATED
    if any(isinstance(cause, OSError) for cause in causes):
        return Cause.CONNECTION
    return Cause.TRUNCATED if any(isinstance(cause, HTTPException) for cause in causes) else Cause.UNKNOWN
