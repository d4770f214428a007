"""What several capture commands print: pins, and the transport in one line of fixed words."""

from freeze_gate.capture.bundle.store import Pin
from freeze_gate.evidence.record import Record

_WORDS = {True: "true", False: "false", None: "null"}


def format_pin(pin: Pin | None) -> str:
    """Return the digest and the path, each on a line, or `missing` twice."""
    sha256, path = pin or ("missing", "missing")
    return f"fixture_sha256={sha256}\nfixture_path={path}\n"


def format_transport(record: Record) -> str:
    """Return `ID: transport_ok=… fault=… status=… bytes=… of … retries=…`: no text of an answer or a request."""
    transport = record.transport
    facts = {
        "transport_ok": _WORDS[record.transport_ok],
        "fault": transport.fault or "none",
        "status": _number(transport.status_code),
        "bytes": f"{_number(transport.bytes_received)} of {_number(transport.bytes_declared)}",
        "retries": _number(transport.retry_count),
        "pin_complete": _WORDS[transport.pin_complete],
    }
    return f"{record.fixture_id}: " + " ".join(f"{name}={value}" for name, value in facts.items())


def _number(value: int | None) -> str:
    return "unknown" if value is None else str(value)
