"""Several calls in one record."""

import hashlib
from itertools import permutations, product

import pytest

from freeze_gate.capture.transport.merge import (
    Call,
    RequestKey,
    has_calls,
    is_truncated,
    leaves_partial_body,
    merge_calls,
)
from freeze_gate.capture.transport.observer import TransportOutcome
from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.record import Record, Sampler, Transport

BLANK = Record("x", None, None, None, None)
HELD = Call(TransportOutcome(ok=True, status_code=200, bytes_received=6, bytes_declared=6), 1)
FAILED = Call(TransportOutcome(ok=False, fault="timeout", timed_out=True), 2)
FAILED_TOO = Call(TransportOutcome(ok=False, fault="http_status", status_code=503), 4)
REFUSED = Call(TransportOutcome(status_code=401))


def _after(*calls: Call) -> Record:
    ok, transport = merge_calls(None, list(calls))
    return BLANK._replace(transport_ok=ok, transport=transport)


def test_no_call_is_known_of_at_first() -> None:
    """Which is not the same as a call of which nothing is known."""
    assert merge_calls(None, []) == (None, Transport())
    assert not has_calls(BLANK)
    assert has_calls(_after(REFUSED))


@pytest.mark.parametrize("calls", list(product([HELD, FAILED, FAILED_TOO, REFUSED], repeat=3)))
def test_a_fold_is_the_worst_of_its_calls_and_never_contradicts_itself(calls: tuple[Call, ...]) -> None:
    """One failed: false, with the first failed one's fields. One unknown: null. The retries add up."""
    record = _after(*calls)
    failed = [call for call in calls if call.outcome.ok is False]
    assert record.transport_ok is (False if failed else None if REFUSED in calls else True)
    described = (failed or calls)[0].outcome
    assert (record.transport.fault, record.transport.status_code) == (described.fault, described.status_code)
    assert (record.transport.timed_out, record.transport.bytes_received) == (
        described.timed_out,
        described.bytes_received,
    )
    assert record.transport.retry_count == sum(call.retries or 0 for call in calls)
    assert not contradictions(record)


@pytest.mark.parametrize("calls", list(permutations([HELD, FAILED, REFUSED])))
def test_it_does_not_matter_how_calls_are_spread_over_processes(calls: tuple[Call, ...]) -> None:
    """Folded one by one into the record on disk, or all at once."""
    record = BLANK
    for call in calls:
        ok, transport = merge_calls(record, [call])
        record = record._replace(transport_ok=ok, transport=transport)
    assert record == _after(*calls)


def test_without_a_failed_call_the_sampler_s_is_described() -> None:
    """Whichever of the calls that was."""
    _, transport = merge_calls(None, [REFUSED, HELD], sampler=1)
    assert transport.status_code == 200


def test_retries_that_nobody_counted_leave_the_sum_unknown() -> None:
    """Unknown is not none."""
    assert merge_calls(None, [HELD, HELD._replace(retries=None)])[1].retry_count is None


@pytest.mark.parametrize(
    ("fault", "status", "received", "is_truncated_sample"),
    [
        ("truncated", None, None, True),
        ("stream_error", 200, None, True),
        ("length_check", 200, 9, True),
        ("timeout", 200, None, True),
        ("connection", None, 5, True),
        ("timeout", None, None, False),
        ("connection", None, 0, False),
        ("http_status", 503, 5, False),
        (None, 200, 5, False),
    ],
)
def test_only_a_call_that_brought_something_can_leave_a_truncated_sample(
    fault: str | None, status: int | None, received: int | None, is_truncated_sample: bool
) -> None:
    """A pin cannot come from a call that was not answered."""
    assert leaves_partial_body(fault, status, received) is is_truncated_sample
    transport = Transport(fault=fault, status_code=status, bytes_received=received)
    assert is_truncated(BLANK._replace(transport=transport)) is is_truncated_sample


@pytest.mark.parametrize(
    "url",
    [
        "https://user:secret@host:8/v1/sample?key=secret#secret",
        "https://host:8/v1/sample",
        "https://host:8/v1/sample#a?b@c",
        "https://a@b@host:8/v1/sample?x=://y@z",
    ],
)
def test_a_request_is_identified_without_its_secrets(url: str) -> None:
    """METHOD SP URL LF BODY, the URL without user, query and fragment."""
    expected = hashlib.sha256(b'POST https://host:8/v1/sample\n{"model": "small-1"}').hexdigest()
    assert RequestKey("post", url, b'{"model": "small-1"}').sampler == Sampler("small-1", expected)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[]",
        b'{"model": 1}',
        b'{"model": "a\\nb"}',
        b'{"model": ""}',
        b"[" * 100000,
        b"\xff",
        b'{"model": "' + b"x" * 201 + b'"}',
        b'{"model": "\\ud800"}',
    ],
)
def test_a_body_that_names_no_model_is_hashed_all_the_same(body: bytes) -> None:
    """Whatever is in it."""
    sampler = RequestKey("POST", "http://host/", body).sampler
    assert (sampler.model, sampler.request_sha256) == (None, hashlib.sha256(b"POST http://host/\n" + body).hexdigest())


def test_a_body_that_streams_is_not_known_and_never_the_same() -> None:
    """Reading it would use it up."""
    asked = RequestKey("POST", "http://host/", None)
    assert asked.sampler == Sampler()
    assert not asked.is_repeat_of(asked)
