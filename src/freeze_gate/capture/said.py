"""What a record says of the transport, in one line of closed words: nothing of an answer or a request is in it."""

from freeze_gate.evidence.record import Record

_WORDS = {True: "true", False: "false", None: "null"}


def said(record: Record) -> str:
    """Return `ID: transport_ok=… fault=… status=… bytes=… of … retries=…`."""
    seen = record.transport
    facts = {
        "transport_ok": _WORDS[record.transport_ok],
        "fault": seen.fault or "none",
        "status": _number(seen.status_code),
        "bytes": f"{_number(seen.bytes_received)} of {_number(seen.bytes_declared)}",
        "retries": _number(seen.retry_count),
        "pin_complete": _WORDS[seen.pin_complete],
    }
    return f"{record.fixture_id}: " + " ".join(f"{name}={value}" for name, value in facts.items())


def _number(value: int | None) -> str:
    return "unknown" if value is None else str(value)
