"""Exchanges, told by hand, and the record that they leave on disk."""

import gc
from pathlib import Path
from typing import Any

import pytest

from freeze_gate.capture.bundle.pin import pin_sample
from freeze_gate.capture.bundle.store import Store
from freeze_gate.capture.transport.length_checks import BodyChecks
from freeze_gate.capture.transport.merge import RequestKey
from freeze_gate.capture.transport.observer import Exchange
from freeze_gate.capture.transport.recorder import Recorder
from freeze_gate.errors import UsageError
from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Record, Run

RUN = Run(run_id=1, capture_id="a" * 32)
ASKED = RequestKey("POST", "http://host/sample", b"{}")
LANE = RequestKey("POST", "http://lane/run", b"{}")
SAMPLE = b"sample"


class RecorderDriver:
    """A recorder, and short words for what happens to its exchanges."""

    def __init__(self, store: Store, **options: Any) -> None:
        self.store, self.recorder = store, Recorder(store, "x", RUN, **options)

    @property
    def record(self) -> Record:
        """What is on disk."""
        record = self.store.read("x")
        assert record is not None
        assert not contradictions(record)
        return record

    def begun(self, asked: RequestKey = ASKED, body: bytes = SAMPLE, declared: int | None = None) -> Exchange:
        """Begin a call that is answered, and whose body has come as far as `body`."""
        exchange = self.recorder.begin(asked)
        exchange.on_response(200, {"content-length": str(len(body) if declared is None else declared)})
        exchange.on_data(body)
        return exchange

    def held(self, asked: RequestKey = ASKED, body: bytes = SAMPLE) -> None:
        """Let a call hold."""
        self.begun(asked, body).on_end()

    def broken(self, asked: RequestKey = ASKED, body: bytes = b"stu") -> None:
        """Let a call break off in its body."""
        self.begun(asked, body, declared=99).on_error("truncated")

    def refused(self, asked: RequestKey = ASKED, status: int = 503) -> None:
        """Let a call be answered with an error."""
        self.recorder.begin(asked).on_response(status, {})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a store whose folder is not there yet."""
    return Store(tmp_path / "freeze-gate")


@pytest.fixture
def told(store: Store) -> RecorderDriver:
    """Return a recorder of a capture that begins."""
    return RecorderDriver(store)


def _pinned(told: RecorderDriver) -> bytes | None:
    path = told.store.pinned_file(told.record)
    return None if path is None else path.read_bytes()


def test_nothing_is_written_before_a_call_ends(told: RecorderDriver) -> None:
    """A capture that never called leaves no record that says something."""
    told.begun()
    assert told.store.read("x") is None


def test_a_call_that_held_is_written_without_a_pin(told: RecorderDriver) -> None:
    """What the sample is, its user says."""
    told.held()
    assert (told.record.transport_ok, told.record.fixture_sha256) == (True, None)
    assert told.record.run == RUN
    assert told.record.sampler == ASKED.sampler
    told.recorder.pin(SAMPLE)
    assert (_pinned(told), told.record.transport.pin_complete) == (SAMPLE, True)


def test_a_broken_call_pins_what_arrived_until_the_user_pins(told: RecorderDriver) -> None:
    """A truncated sample is better than nothing, and gives way to a sample."""
    told.broken()
    assert (_pinned(told), told.record.transport.pin_complete) == (b"stu", False)
    told.held(RequestKey("POST", "http://host/again", b"{}"))
    told.recorder.pin(SAMPLE)
    assert (_pinned(told), told.record.transport.pin_complete) == (SAMPLE, True)
    assert (told.record.transport_ok, told.record.transport.fault) == (False, "truncated")


def test_a_fault_before_the_first_byte_pins_nothing(told: RecorderDriver) -> None:
    """Zero bytes are pinned only where a whole empty answer came."""
    told.broken(body=b"")
    assert told.record.fixture_sha256 is None
    told.held(LANE, b"")
    told.recorder.pin(b"")
    assert (_pinned(told), told.record.transport.pin_complete) == (b"", True)


def test_a_part_of_a_whole_answer_is_complete_and_a_part_of_a_truncated_one_is_not(
    told: RecorderDriver, tmp_path: Path
) -> None:
    """The text that was taken out of the JSON."""
    told.held(body=b'{"text": "sample"}')
    told.recorder.pin(SAMPLE)
    assert told.record.transport.pin_complete is True
    other = RecorderDriver(Store(tmp_path / "other"))
    other.broken(body=b'{"text": "sam')
    other.recorder.pin(b"sam")
    assert (_pinned(other), other.record.transport.pin_complete) == (b"sam", False)


def test_a_part_of_one_of_two_answers_is_not_known_to_be_complete(told: RecorderDriver) -> None:
    """Where the bytes show the answer they came from, that one counts; where they do not, nothing is claimed."""
    told.broken()
    told.held(LANE, b"[sample]")
    told.recorder.pin(SAMPLE)
    assert told.record.transport.pin_complete is None


def test_the_same_request_after_an_attempt_without_a_sample_is_a_retry(told: RecorderDriver) -> None:
    """The last attempt is the call."""
    told.refused()
    told.recorder.begin(ASKED).on_error("connection")
    told.broken()
    assert (told.record.transport.retry_count, told.record.transport_ok) == (2, False)
    told.held()
    assert (told.record.transport.retry_count, told.record.transport_ok) == (3, True)
    assert told.record.fixture_sha256 is None


def test_the_same_request_after_a_sample_is_a_call_of_its_own(told: RecorderDriver) -> None:
    """Whether the first was read to its end or left."""
    told.held()
    told.begun(declared=99).on_close()
    told.refused()
    assert (told.record.transport.retry_count, told.record.transport_ok) == (0, False)


def test_another_request_is_no_retry(told: RecorderDriver) -> None:
    """The first one's fault stays."""
    told.refused()
    told.held(LANE)
    assert (told.record.transport_ok, told.record.transport.status_code) == (False, 503)


def test_what_a_redirect_leads_to_belongs_to_the_call(told: RecorderDriver) -> None:
    """And is no retry."""
    told.refused(status=307)
    told.held(LANE)
    assert (told.record.transport_ok, told.record.transport.retry_count) == (True, 0)
    assert told.record.sampler == LANE.sampler


def test_a_call_after_the_pin_can_only_make_it_worse(told: RecorderDriver) -> None:
    """The lane that executes something: its fault is recorded, the pin stays whole, nothing of it is pinned."""
    told.held()
    told.recorder.pin(SAMPLE)
    told.held(LANE, b"lane")
    assert told.record.transport_ok is True
    told.broken(LANE)
    assert (told.record.transport_ok, told.record.transport.fault) == (False, "truncated")
    assert (_pinned(told), told.record.transport.pin_complete) == (SAMPLE, True)


def test_a_stream_that_is_still_read_when_it_is_pinned_is_judged_when_it_ends(told: RecorderDriver) -> None:
    """Its text may be complete before its connection is."""
    exchange = told.begun()
    told.recorder.pin(SAMPLE)
    assert (told.record.transport_ok, told.record.transport.pin_complete) == (None, None)
    exchange.on_end()
    assert (told.record.transport_ok, told.record.transport.pin_complete) == (True, True)


def test_other_bytes_are_refused_unless_they_may_replace(told: RecorderDriver) -> None:
    """A second sample needs its own fixture id; the first one's calls stay in the record."""
    told.broken()
    told.recorder.pin(b"one")
    with pytest.raises(UsageError, match="use another fixture id"):
        told.recorder.pin(b"two")
    assert _pinned(told) == b"one"
    told.recorder.pin(b"two", replace=True)
    assert (_pinned(told), told.record.transport_ok) == (b"two", False)


def test_what_was_declared_holds_for_the_sample_and_not_for_the_lane(store: Store) -> None:
    """It is declared of the sample."""
    told = RecorderDriver(store, checks=BodyChecks(min_bytes=6))
    told.held()
    told.recorder.pin(SAMPLE)
    told.held(LANE, b"ok")
    assert told.record.transport_ok is True
    assert told.record.transport.checks.min_bytes == 6


def test_a_body_too_short_for_what_was_declared_is_pinned_as_it_is(store: Store) -> None:
    """It came whole and is a truncated sample by the user's own word."""
    told = RecorderDriver(store, checks=BodyChecks(min_bytes=7), suffix=".txt")
    told.held()
    assert (told.record.transport.fault, _pinned(told)) == ("length_check", SAMPLE)
    assert str(told.record.fixture_path).endswith(".txt")


def test_calls_of_two_recorders_fold_into_one_record(told: RecorderDriver) -> None:
    """Two processes, or two clients of one: what the other wrote is taken as given."""
    told.held()
    told.recorder.pin(SAMPLE)
    other = RecorderDriver(told.store)
    other.refused(LANE)
    told.held(LANE)
    assert (told.record.transport_ok, told.record.transport.status_code) == (False, 503)
    assert (_pinned(told), told.record.transport.pin_complete) == (SAMPLE, True)
    assert told.record.run == RUN


def test_a_call_that_ends_after_another_recorder_wrote_is_still_counted(told: RecorderDriver) -> None:
    """A fault is not lost between two."""
    exchange = told.begun()
    RecorderDriver(told.store).held(LANE)
    exchange.on_error("truncated")
    assert (told.record.transport_ok, told.record.transport.fault) == (False, "truncated")


def test_the_first_call_recorded_after_a_pin_may_show_that_it_is_a_truncated_sample(told: RecorderDriver) -> None:
    """Whoever pinned by hand and reports the call then; a call that brought nothing shows nothing."""
    begun = Record("x", None, None, None, None, run=RUN)
    pin_sample(told.store, begun, [b"stu"])
    reporting = RecorderDriver(told.store)
    reporting.broken()
    assert (reporting.record.transport.pin_complete, _pinned(reporting)) == (False, b"stu")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"oracle_passed": False}, "an oracle has already run"),
        ({"run": RUN._replace(replay_of="b" * 32)}, "is a replay"),
        ({"run": RUN._replace(run_id=2)}, "another run"),
    ],
)
def test_a_record_that_no_call_belongs_to_is_left_alone(
    told: RecorderDriver, changed: dict[str, Any], words: str
) -> None:
    """Neither at the start nor at a call that was begun in time."""
    exchange = told.begun()
    pin = told.store.pin(SAMPLE)
    record = Record("x", pin.sha256, pin.path, None, None, run=RUN)._replace(**changed)
    told.store.write(record)
    for touch in (
        lambda: RecorderDriver(told.store),
        exchange.on_end,
        lambda: told.recorder.begin(LANE),
        told.recorder.save,
    ):
        with pytest.raises(UsageError, match=words):
            touch()
    with pytest.raises(UsageError, match=words):
        told.recorder.pin(SAMPLE)
    assert told.store.read("x") == record


def test_attempts_that_were_made_out_of_sight_are_counted(told: RecorderDriver) -> None:
    """By a library below; None where nobody knows how many."""
    exchange = told.recorder.begin(ASKED)
    told.recorder.add_retries(exchange, 2)
    exchange.on_error("connection")
    assert told.record.transport.retry_count == 2
    told.recorder.add_retries(exchange, None)
    assert told.recorder.save().transport.retry_count is None


def test_a_call_that_the_garbage_collector_ends_in_the_middle_of_a_write_is_written(told: RecorderDriver) -> None:
    """A response that nobody closed is ended wherever the collector happens to run, also while we hold the lock."""

    class Dropped:
        def __init__(self, exchange: Exchange) -> None:
            self.exchange, self.itself = exchange, self  # a cycle: only the collector finds it

        def __del__(self) -> None:
            self.exchange.on_error("truncated")

    class Collecting(Store):
        def write(self, record: Record) -> None:
            gc.collect()
            super().write(record)

    recorder = Recorder(Collecting(told.store.folder), "x", RUN)
    exchange = recorder.begin(ASKED)
    exchange.on_response(200, {"content-length": "9"})
    Dropped(exchange)
    recorder.save()
    assert (told.record.transport_ok, told.record.transport.fault) == (False, "truncated")
    assert told.record.fixture_sha256 is None


def test_the_digest_in_the_record_is_that_of_the_file(told: RecorderDriver) -> None:
    """Always."""
    told.held()
    assert told.recorder.pin(SAMPLE).sha256 == told.record.fixture_sha256 == Sha256.of(_pinned(told) or b"")
