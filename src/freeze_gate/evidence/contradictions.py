"""What a record may not say at the same time: one such contradiction makes it unusable, whichever claim is true."""

from collections.abc import Callable
from typing import Final, NamedTuple

from freeze_gate.evidence.record import TRANSIENT_STATUS, VERDICT_OF_OUTCOME, LengthChecks, Record
from freeze_gate.validation.readers import Problem


class Contradiction(NamedTuple):
    """One row: the path and the message of the problem, and whether a record has it.

    `since` is the version of the rules that it came with.
    """

    path: str
    message: str
    holds: Callable[[Record], bool]
    since: int = 1


def contradictions(record: Record, rules: int | None = None) -> list[Problem]:
    """Return the contradictions of a record, in the order of the table. `rules` None is the newest version."""
    return [
        Problem(row.path, row.message)
        for row in CONTRADICTIONS
        if (rules is None or row.since <= rules) and row.holds(record)
    ]


def _transport_ok_with_fault(record: Record) -> bool:
    transport = record.transport
    sizes_differ = None not in (transport.bytes_received, transport.bytes_declared) and (
        transport.bytes_received != transport.bytes_declared
    )
    return record.transport_ok is True and (transport.timed_out is True or transport.fault is not None or sizes_differ)


def _transport_failed_without_fault(record: Record) -> bool:
    return record.transport_ok is False and record.transport.fault is None


def _http_status_not_transient(record: Record) -> bool:
    status = record.transport.status_code
    return record.transport.fault == "http_status" and status is not None and status not in TRANSIENT_STATUS


def _length_check_without_checks(record: Record) -> bool:
    return record.transport.fault == "length_check" and record.transport.checks == LengthChecks()


def _outcome_against_verdict(record: Record) -> bool:
    outcome = record.oracle.outcome
    return outcome is not None and VERDICT_OF_OUTCOME[outcome] is not record.oracle_passed


def _exit_code_against_verdict(record: Record) -> bool:
    exit_code = record.oracle.exit_code
    if record.oracle_passed is None:
        return exit_code is not None
    return record.oracle_passed and exit_code not in (None, 0)


def _verdict_without_pin(record: Record) -> bool:
    return record.oracle_passed is not None and record.fixture_sha256 is None


def _replay_with_call(record: Record) -> bool:
    # a replay makes no call: only a lane that was not reached, or lost a result, can have failed
    if record.run.replay_of is None or record.transport_ok is None:
        return False
    return record.transport_ok or record.oracle.lane is None


CONTRADICTIONS: Final = (
    Contradiction(
        "transport_ok",
        "is true beside a timeout, a fault or a body of another length than declared",
        _transport_ok_with_fault,
    ),
    Contradiction("transport_ok", "is false, and transport.fault names no fault", _transport_failed_without_fault),
    Contradiction(
        "transport.status_code",
        "is not 408, 425, 429 or 5xx, and transport.fault is http_status",
        _http_status_not_transient,
    ),
    Contradiction(
        "transport.checks", "declares nothing, and transport.fault is length_check", _length_check_without_checks
    ),
    Contradiction("oracle_passed", "does not fit oracle.outcome", _outcome_against_verdict),
    Contradiction("oracle_passed", "does not fit oracle.exit_code", _exit_code_against_verdict, since=2),
    Contradiction("oracle_passed", "is not null, and there is no pin that was checked", _verdict_without_pin),
    Contradiction("run.replay_of", "says that no call was made, and transport_ok is about one", _replay_with_call),
)
