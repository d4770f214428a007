"""A call that another HTTP client made, as its user or curl describes it."""

import json
from typing import Any, Final

from freeze_gate.capture.transport.merge import Call, leaves_partial_body
from freeze_gate.capture.transport.observer import TransportOutcome, is_success_status, outcome_of_status
from freeze_gate.errors import UsageError
from freeze_gate.validation.readers import MAX_SAFE_INTEGER

FAULT_OF_EXIT_CODE: Final = {
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

MAX_REPORT_BYTES: Final = 1 << 20
"""The largest report that is read: curl prints a few thousand bytes."""

_HTTP_ERROR: Final = 22  # with --fail, a status of 400 or more


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
    fault = FAULT_OF_EXIT_CODE.get(exit_code)
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
    ok = True if is_success else None
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
