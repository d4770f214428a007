"""A call that another HTTP client made, in the words of its user or of curl."""

import json
from typing import Any, Final

from freeze_gate.capture.transport.merge import Call, leaves_stump
from freeze_gate.capture.transport.observer import Outcome, is_success, status_outcome
from freeze_gate.errors import UsageError
from freeze_gate.validation.readers import MAX_SAFE_INTEGER

FAULT_OF_EXIT: Final = {
    5: "connection",  # the proxy's name is not found
    6: "connection",  # the host's name is not found
    7: "connection",  # no connection
    16: "connection",  # HTTP/2 framing
    18: "truncated",  # fewer bytes than declared
    28: "timeout",
    35: "connection",  # the TLS handshake broke off
    52: "connection",  # nothing came back
    55: "connection",  # sending failed
    56: "connection",  # receiving failed
    92: "connection",  # HTTP/2 stream
    95: "connection",  # HTTP/3
    96: "connection",  # QUIC
}
"""What curl(1) lists under EXIT CODES, as far as it says something about the transport. Everything else is unknown."""

MOST_BYTES: Final = 1 << 20
"""The largest file that is read: curl prints a few thousand bytes."""

_FAIL_ON_STATUS: Final = 22  # with --fail, a status of 400 or more


def from_curl(payload: bytes) -> Call:
    """Read what `curl -w '%{json}'` printed. Raises `UsageError` where it is not that."""
    try:
        said = json.loads(payload)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or _number(said, "exitcode") is None:
        raise UsageError("this is not what curl -w '%{json}' prints, one object with an exitcode (curl 7.75 or later)")
    status, received = _number(said, "http_code") or None, _number(said, "size_download")
    retries = _number(said, "num_retries")
    exit_code = _number(said, "exitcode")
    fault = FAULT_OF_EXIT.get(exit_code or 0)
    if fault is None and exit_code not in (0, _FAIL_ON_STATUS):
        return Call(Outcome(status_code=status), retries)
    return Call(reported(status, fault=fault, received=received), retries)


def reported(
    status: int | None = None, *, fault: str | None = None, received: int | None = None, declared: int | None = None
) -> Outcome:
    """Make an outcome of the facts that somebody names; bytes as on the wire, after chunk framing.

    Without a fault the status speaks, and fewer bytes than declared are `truncated`. No status at all says nothing.
    """
    success = is_success(status)
    if fault is None and None not in (received, declared) and received != declared:
        fault = "truncated"
    if fault is None and status is not None and not success:
        return status_outcome(status)
    return Outcome(
        ok=False if fault else True if success else None,
        whole=False if leaves_stump(fault, status, received) else None,
        fault=fault,
        status_code=status,
        timed_out=fault == "timeout",
        bytes_received=received,
        bytes_declared=declared,
    )


def _number(said: dict[str, Any], name: str) -> int | None:
    """Read a whole number; older versions of curl print sizes as 14.000."""
    value = said.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= MAX_SAFE_INTEGER:
        return None
    return int(value) if value == int(value) else None
