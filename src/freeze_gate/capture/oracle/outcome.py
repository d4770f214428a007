"""What one more run of the oracle does to a record: the verdict comes from the exit status, and can only go down."""

from typing import Final

from freeze_gate.evidence.record import VERDICT_OF_OUTCOME, Oracle, Record

TIMED_OUT: Final = 124
"""The exit code at the time limit, as timeout(1) has it."""
_SIGNALLED: Final = 128


def ended(status: int | None) -> Oracle:
    """Read an exit status: negative is the signal that ended the command, None its time limit."""
    if status is None:
        return Oracle("timed_out", TIMED_OUT)
    if status < 0:
        return Oracle("crashed", _SIGNALLED - status)
    return Oracle("failed" if status else "passed", status)


def lowered(record: Record, now: Oracle) -> Record:
    """Add one run to what a record says.

    A run that did not pass stays; so does an input that was not the pin, and a run with the network on. Attempts to get
    out add up.
    """
    before = record.oracle if record.oracle_passed is not None else Oracle(runs=record.oracle.runs)
    kept = before if record.oracle_passed is False else now
    spoiled = before.fixture_sha256 not in (None, record.fixture_sha256)
    oracle = kept._replace(
        fixture_sha256=before.fixture_sha256 if spoiled else now.fixture_sha256,
        egress="open" if before.egress == "open" else now.egress,
        egress_attempts=_sum(before.egress_attempts, now.egress_attempts),
        runs=(before.runs or 0) + 1,
    )
    return record._replace(oracle=oracle, oracle_passed=VERDICT_OF_OUTCOME[oracle.outcome or "crashed"])


def not_run(record: Record) -> Record:
    """Say that the oracle could not be started, unless one was: nothing that was seen is taken back."""
    if record.oracle_passed is not None:
        return record
    return record._replace(oracle=Oracle("not_run", runs=record.oracle.runs))


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
