"""What one more run of the oracle does to a record: the exit status decides, and a verdict can only get worse."""

from typing import Final

from freeze_gate.evidence.record import VERDICT_OF_OUTCOME, Oracle, Record

TIMEOUT_EXIT_CODE: Final = 124
"""The exit code at the time limit, as of timeout(1)."""
_SIGNAL_OFFSET: Final = 128


def from_exit_status(status: int | None) -> Oracle:
    """Return the outcome of an exit status: negative for the signal that ended the command, None at its time limit."""
    if status is None:
        return Oracle("timed_out", TIMEOUT_EXIT_CODE)
    if status < 0:
        return Oracle("crashed", _SIGNAL_OFFSET - status)
    return Oracle("failed" if status else "passed", status)


def merge_run(record: Record, run: Oracle) -> Record:
    """Add one run to a record.

    A run that did not pass stays, and one that was not reported gives way only to a fail; so does an input that was
    not the pin, and a run with the network on. Egress attempts add up.
    """
    before = record.oracle if _has_started(record) else Oracle(runs=record.oracle.runs)
    is_pass_after_loss = before.outcome == "unreported" and run.outcome == "passed"
    decisive = before if record.oracle_passed is False or is_pass_after_loss else run
    had_other_input = before.fixture_sha256 not in (None, record.fixture_sha256)
    attempts = [count for count in (before.egress_attempts, run.egress_attempts) if count is not None]
    oracle = decisive._replace(
        fixture_sha256=before.fixture_sha256 if had_other_input else run.fixture_sha256,
        egress="open" if before.egress == "open" else run.egress,
        egress_attempts=sum(attempts) if attempts else None,
        runs=(before.runs or 0) + 1,
        lane=run.lane or record.oracle.lane,
    )
    return record._replace(oracle=oracle, oracle_passed=VERDICT_OF_OUTCOME[oracle.outcome or "crashed"])


def mark_not_run(record: Record, lane: str | None = None) -> Record:
    """Record that the oracle could not be started. An earlier run stays, with or without its result."""
    if _has_started(record):
        return record
    return record._replace(oracle=Oracle("not_run", runs=record.oracle.runs, lane=lane or record.oracle.lane))


def add_lane_retries(record: Record, retries: int) -> Record:
    """Count the attempts to reach a lane that worked in the end. Its success says nothing about other calls."""
    if not retries:
        return record
    transport = record.transport
    is_unknown = transport.retry_count is None and transport.timed_out is not None
    count = None if is_unknown else (transport.retry_count or 0) + retries
    return record._replace(transport=transport._replace(retry_count=count))


def add_lane_fault(record: Record, fault: str, retries: int = 0) -> Record:
    """Record a failed call: a lane that was not reached, or that lost a result. What is pinned stays as it is."""
    from freeze_gate.capture.transport.merge import Call, merge_calls  # imported only where something failed
    from freeze_gate.capture.transport.observer import TransportOutcome

    call = Call(TransportOutcome(ok=False, fault=fault, timed_out=fault == "timeout"), retries)
    ok, transport = merge_calls(record, [call])
    before = record.transport
    transport = transport._replace(pin_complete=before.pin_complete, checks=before.checks)
    return record._replace(transport_ok=ok, transport=transport)


def _has_started(record: Record) -> bool:
    return record.oracle_passed is not None or record.oracle.outcome == "unreported"
