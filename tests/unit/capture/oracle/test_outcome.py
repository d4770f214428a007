"""What one more run of the oracle does to a record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.capture.oracle.outcome import from_exit_status, mark_not_run, merge_run
from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Oracle, Record, encode_record, read_record

PIN, OTHER = Sha256.of(b"pin"), Sha256.of(b"other")
FRESH = Record("x", PIN, f"fixtures/{PIN}", None, True)

statuses = st.none() | st.integers(-64, 255)
histories = st.lists(
    st.builds(
        lambda status, sha256, egress, attempts: from_exit_status(status)._replace(
            fixture_sha256=sha256, egress=egress, egress_attempts=attempts
        ),
        statuses,
        st.sampled_from([PIN, OTHER, None]),
        st.sampled_from(["sealed", "open"]),
        st.none() | st.integers(0, 9),
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize(
    ("status", "outcome", "code"),
    [(0, "passed", 0), (1, "failed", 1), (255, "failed", 255), (-9, "crashed", 137), (None, "timed_out", 124)],
)
def test_the_exit_status_alone_decides(status: int | None, outcome: str, code: int) -> None:
    """0 passed; any other status failed; a signal crashed, 128 and its number; no status is the time limit."""
    assert from_exit_status(status) == Oracle(outcome, code)


@given(histories)
def test_a_fail_is_never_taken_back(history: list[Oracle]) -> None:
    """The verdict is true only where every run passed, however many there are and in whatever order."""
    record = FRESH
    for run in history:
        record = merge_run(record, run)
    assert record.oracle_passed is all(run.outcome == "passed" for run in history)
    assert record.oracle.runs == len(history)


@given(histories)
def test_the_worst_of_each_other_fact_stays(history: list[Oracle]) -> None:
    """One run with the network on, one egress attempt or one wrong input stays in the record."""
    record = FRESH
    for run in history:
        record = merge_run(record, run)
    oracle, attempts = record.oracle, [run.egress_attempts for run in history if run.egress_attempts is not None]
    assert oracle.egress == ("open" if "open" in [run.egress for run in history] else "sealed")
    assert oracle.egress_attempts == (sum(attempts) if attempts else None)
    assert (oracle.fixture_sha256 == OTHER) is any(run.fixture_sha256 == OTHER for run in history)


@given(histories)
def test_the_result_is_a_valid_record(history: list[Oracle]) -> None:
    """The record can be read back and has no contradictions, whatever the runs were."""
    record = FRESH
    for run in history:
        record = merge_run(record, run)
    assert read_record(encode_record(record), "x") == record
    assert not contradictions(record)


def test_a_run_that_could_not_start_is_null_and_not_counted() -> None:
    """`not_run` is null, and counts as no run."""
    record = mark_not_run(FRESH)
    assert (record.oracle_passed, record.oracle) == (None, Oracle("not_run"))
    assert merge_run(record, from_exit_status(0)).oracle.runs == 1


@given(histories)
def test_a_run_that_could_not_start_changes_nothing(history: list[Oracle]) -> None:
    """After a run that did start, one that could not leaves the record as it is."""
    record = FRESH
    for run in history:
        record = merge_run(record, run)
    assert mark_not_run(record) == record


UNREPORTED = Oracle("unreported", fixture_sha256=PIN, egress="sealed", lane="ssh 0.1.0")


@pytest.mark.parametrize(
    ("history", "outcome"),
    [
        ([UNREPORTED, from_exit_status(0)], "unreported"),
        ([from_exit_status(0), UNREPORTED], "unreported"),
        ([UNREPORTED, from_exit_status(1)], "failed"),
        ([from_exit_status(1), UNREPORTED], "failed"),
    ],
)
def test_a_lost_result_is_worse_than_a_pass_and_better_than_a_fail(history: list[Oracle], outcome: str) -> None:
    """A patch that takes its lane down gains nothing by a second run in the same job."""
    record = FRESH
    for run in history:
        record = merge_run(record, run)
    assert (record.oracle.outcome, record.oracle.runs, record.oracle.lane) == (outcome, 2, "ssh 0.1.0")
    assert contradictions(record) == []
    assert mark_not_run(record, "ssh") == record


def test_a_lane_that_was_not_reached_stays_named() -> None:
    """A replay's transport fault is only true beside the lane that it is about."""
    record = mark_not_run(FRESH, "ssh")
    assert mark_not_run(record).oracle.lane == merge_run(record, from_exit_status(0)).oracle.lane == "ssh"
