"""A call that another HTTP client made, as its user or curl describes it."""

import json
from typing import Any, Final

from freeze_gate.capture.transport.faults import Cause, fault_of
from freeze_gate.capture.transport.merge import Call, leaves_partial_body
from freeze_gate.capture.transport.observer import (
    PARTIAL_CONTENT,
    TransportOutcome,
    is_success_status,
    outcome_of_status,
)
from freeze_gate.errors import UsageError
from freeze_gate.validation.readers import MAX_SAFE_INTEGER

CAUSE_OF_EXIT_CODE: Final = {
    5: Cause.UNUSABLE_ADDRESS,  # the proxy's name is not found, or it has none
    6: Cause.CONNECTION,  # the host's name is not found
    7: Cause.CONNECTION,  # no connection
    16: Cause.CONNECTION,  # HTTP/2 framing
    18: Cause.TRUNCATED,  # fewer bytes than declared
    28: Cause.TIMEOUT,
    35: Cause.UNKNOWN,  # the TLS handshake broke off, or the other side speaks no TLS
    52: Cause.CONNECTION,  # nothing came back
    55: Cause.CONNECTION,  # sending failed
    56: Cause.CONNECTION,  # receiving failed
    60: Cause.NOT_TRUSTED,
    92: Cause.CONNECTION,  # HTTP/2 stream
    95: Cause.CONNECTION,  # HTTP/3
    96: Cause.CONNECTION,  # QUIC
    97: Cause.UNUSABLE_ADDRESS,  # the SOCKS proxy speaks no SOCKS, or refuses
    100: Cause.LIMIT,  # too many or too long headers, since 8.6
}
"""What curl(1) lists under EXIT CODES, as far as it says something here. Everything else is unknown."""

_MAX_HEADER_BYTES: Final = 300 << 10
"""MAX_HTTP_RESP_HEADER_SIZE of curl. Releases before 8.6 end with 56 there, as if the connection had broken."""

MAX_REPORT_BYTES: Final = 1 << 20
"""The largest report that is read: curl prints a few thousand bytes."""

_FIRST_REFUSAL: Final = 300  # the lowest status with which a proxy refuses CONNECT
_HTTP_ERROR: Final = 22  # with --fail, a status of 400 or more
_RECEIVING_FAILED: Final = 56


def parse_curl_report(payload: bytes) -> Call:
    """Read what `curl -w '%{json}'` printed. Raises `UsageError` where it is not that."""
    try:
        report = json.loads(payload)
    except (ValueError, RecursionError):
        report = None
    exit_code = _integer(report, "exitcode") if isinstance(report, dict) else None
    if exit_code is None:
        raise UsageError("this is not what curl -w '%{json}' prints, one object with an exitcode (curl 7.75 or later)")
    status, retries = _integer(report, "http_code") or None, _integer(report, "num_retries")
    refusal = _integer(report, "http_connect") or 0
    if status is None and refusal >= _FIRST_REFUSAL and exit_code in (_HTTP_ERROR, _RECEIVING_FAILED):
        return Call(outcome_of_status(refusal), retries)
    cause = CAUSE_OF_EXIT_CODE.get(exit_code, Cause.UNKNOWN)
    if exit_code == _RECEIVING_FAILED and (_integer(report, "size_header") or 0) > _MAX_HEADER_BYTES:
        cause = Cause.LIMIT
    fault = fault_of(cause)
    if fault is None and exit_code not in (0, _HTTP_ERROR):
        return Call(TransportOutcome(status_code=status), retries)
    return Call(outcome_from_facts(status, fault=fault, received=_integer(report, "size_download")), retries)


def outcome_from_facts(
    status: int | None = None, *, fault: str | None = None, received: int | None = None, declared: int | None = None
) -> TransportOutcome:
    """Return the outcome that facts add up to; bytes as on the wire, after chunk framing.

    Without a fault the status decides, and fewer bytes than declared are `truncated`. No status at all says nothing.
    """
    is_success = is_success_status(status)
    if fault is None and None not in (received, declared) and received != declared:
        fault = "truncated"
    if fault is None and status is not None and not is_success:
        return outcome_of_status(status)
    # a part, and whether it was asked for is not known
    ok = True if is_success and status != PARTIAL_CONTENT else None
    return TransportOutcome(
        ok=False if fault else ok,
        complete=False if leaves_partial_body(fault, status, received) else None,
        fault=fault,
        status_code=status,
        timed_out=fault == "timeout",
        bytes_received=received,
        bytes_declared=declared,
    )


def _integer(report: dict[str, Any], name: str) -> int | None:
    """Read a whole number; older versions of curl print sizes as 14.000."""
    value = report.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= MAX_SAFE_INTEGER:
        return None
    return int(value) if value == int(value) else None
