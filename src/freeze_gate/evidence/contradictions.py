"""What a record may not say at the same time: claims that cannot both be true make it unusable, whichever is right."""

from freeze_gate.evidence.record import TRANSIENT_STATUS, VERDICT_OF_OUTCOME, LengthChecks, Record
from freeze_gate.validation.readers import Problem


def contradictions(record: Record) -> list[Problem]:
    """Name each pair of claims in a record that cannot both be true. One is enough to make the record unusable."""
    transport, oracle = record.transport, record.oracle
    sizes = (transport.bytes_received, transport.bytes_declared)
    whole_body = None in sizes or sizes[0] == sizes[1]
    status = transport.status_code
    claims = (
        (
            record.transport_ok is True and bool(transport.timed_out or transport.fault or not whole_body),
            "transport_ok",
            "is true beside a timeout, a fault or a body of another length than declared",
        ),
        (
            record.transport_ok is False and transport.fault is None,
            "transport_ok",
            "is false, and transport.fault names no fault",
        ),
        (
            transport.fault == "http_status" and status is not None and status not in TRANSIENT_STATUS,
            "transport.status_code",
            "is no 408, 425, 429 or 5xx, and transport.fault is http_status",
        ),
        (
            transport.fault == "length_check" and transport.checks == LengthChecks(),
            "transport.checks",
            "declares nothing, and transport.fault is length_check",
        ),
        (
            oracle.outcome is not None and VERDICT_OF_OUTCOME[oracle.outcome] is not record.oracle_passed,
            "oracle_passed",
            "does not fit oracle.outcome",
        ),
        (
            record.oracle_passed is not None and record.fixture_sha256 is None,
            "oracle_passed",
            "is not null, and there is no pin that was checked",
        ),
        (
            record.run.replay_of is not None and record.transport_ok is not None,
            "run.replay_of",
            "says that no call was made, and transport_ok is not null",
        ),
    )
    return [Problem(address, message) for holds, address, message in claims if holds]
