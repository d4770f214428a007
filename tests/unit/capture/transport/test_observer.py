"""One exchange, told by hand: what each ending means."""

import gzip
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from freeze_gate.capture.transport.length_checks import BodyChecks
from freeze_gate.capture.transport.observer import Exchange, TransportOutcome

GZIP = gzip.compress(b"sample" * 50)
NOTHING = BodyChecks()
CHUNKED = {"transfer-encoding": "chunked"}


def _answered(
    headers: Mapping[str, str] | None = None, *pieces: bytes, declared: BodyChecks = NOTHING, **facts: Any
) -> Exchange:
    exchange = Exchange(declared, lambda: None)
    exchange.on_response(facts.pop("status", 200), headers or {}, **facts)
    for piece in pieces:
        exchange.on_data(piece)
    return exchange


def _finished(*args: Any, **facts: Any) -> TransportOutcome:
    exchange = _answered(*args, **facts)
    exchange.on_end()
    assert exchange.outcome is not None
    return exchange.outcome


@pytest.mark.parametrize(
    ("headers", "declared"),
    [
        ({"content-length": "6"}, 6),
        ({"content-length": " 6 , 6 "}, 6),
        ({"content-length": "6, 7"}, None),
        ({"content-length": "-6"}, None),
        ({"content-length": "six"}, None),
        ({"content-length": "9" * 16}, None),
        ({"content-length": "7", **CHUNKED}, None),
        ({}, None),
    ],
)
def test_only_a_length_that_counts_is_declared(headers: dict[str, str], declared: int | None) -> None:
    """RFC 9112, section 6.3: chunks go before a length, an odd length is none."""
    outcome = _finished(headers, b"sam", b"ple")
    assert (outcome.ok, outcome.bytes_received, outcome.bytes_declared) == (True, 6, declared)


@pytest.mark.parametrize(
    ("headers", "facts", "whole"),
    [
        ({"content-length": "6"}, {}, True),
        (CHUNKED, {}, True),
        ({}, {"is_framed": True}, True),
        ({}, {"declared": BodyChecks(ends_with=b"le")}, True),
        ({}, {}, None),
        ({}, {"declared": BodyChecks(min_bytes=6)}, None),
    ],
)
def test_a_body_is_known_to_be_whole_only_where_something_marks_its_end(
    headers: dict[str, str], facts: dict[str, Any], whole: bool | None
) -> None:
    """A connection that closes marks no end."""
    assert _finished(headers, b"sample", **facts).complete is whole


def test_a_compressed_body_marks_its_own_end() -> None:
    """Also where the connection alone ends it."""
    assert _finished({"content-encoding": "gzip"}, GZIP) == TransportOutcome(
        True, True, None, 200, False, len(GZIP), None
    )
    assert _finished({"content-encoding": "gzip"}, GZIP[:-1]).fault == "truncated"


@pytest.mark.parametrize(("status", "facts"), [(204, {}), (205, {}), (200, {"is_bodiless": True})])
def test_an_answer_without_a_body_is_whole(status: int, facts: dict[str, Any]) -> None:
    """Whatever its headers say of the body that a GET would bring."""
    outcome = _finished({"content-length": "9", "content-encoding": "gzip"}, status=status, **facts)
    assert (outcome.ok, outcome.complete, outcome.bytes_declared) == (True, True, None)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 529, 599])
def test_a_passing_status_is_a_fault_at_once(status: int) -> None:
    """Nobody has to read an error body for it."""
    assert _answered(status=status).outcome == TransportOutcome(ok=False, fault="http_status", status_code=status)


@pytest.mark.parametrize("status", [300, 302, 304, 400, 401, 403, 404, 409, 422, 600])
def test_any_other_refusal_says_nothing_of_the_transport(status: int) -> None:
    """Neither that it held nor that it failed; what follows of its body changes nothing."""
    exchange = _answered({"content-length": "9"}, b"no", status=status)
    exchange.on_error("truncated")
    assert exchange.outcome == TransportOutcome(status_code=status)
    assert exchange.body == b""


@pytest.mark.parametrize(
    ("ended", "headers", "pieces", "expected"),
    [
        (Exchange.on_end, {"content-length": "9"}, [b"abc"], (False, "truncated", False)),
        (lambda e: e.on_error("timeout"), {"content-length": "9"}, [b"abc"], (False, "timeout", False)),
        (lambda e: e.on_error(None), {"content-length": "9"}, [b"abc"], (None, None, False)),
        (Exchange.on_close, {"content-length": "9"}, [b"abc"], (None, None, False)),
        (Exchange.on_close, CHUNKED, [b"abc"], (None, None, None)),
        (Exchange.on_close, {"content-length": "3"}, [b"abc"], (True, None, True)),
        (Exchange.on_close, {"content-encoding": "gzip"}, [GZIP], (True, None, True)),
        (Exchange.on_close, {"content-encoding": "gzip", **CHUNKED}, [GZIP[:-1]], (None, None, None)),
        (Exchange.on_close, {"content-encoding": "gzip", **CHUNKED}, [], (None, None, None)),
    ],
)
def test_every_ending_says_what_it_shows_and_no_more(
    ended: Callable[[Exchange], None],
    headers: dict[str, str],
    pieces: list[bytes],
    expected: tuple[bool | None, str | None, bool | None],
) -> None:
    """A reader that leaves is no fault, and is no proof of a whole body unless all that was declared has come."""
    exchange = _answered(headers, *pieces)
    ended(exchange)
    assert exchange.outcome is not None
    assert exchange.outcome[:1] + exchange.outcome[2:3] + exchange.outcome[1:2] == expected
    assert exchange.outcome.timed_out is (expected[1] == "timeout")


def test_the_first_ending_counts_and_is_told_once() -> None:
    """A client that closes after an error takes nothing back."""
    told: list[None] = []
    exchange = Exchange(BodyChecks(), lambda: told.append(None))
    exchange.on_response(200, {"content-length": "9"})
    exchange.on_error("timeout")
    exchange.on_data(b"late")
    exchange.on_end()
    exchange.on_close()
    assert exchange.outcome is not None
    assert (exchange.outcome.fault, exchange.outcome.bytes_received, len(told)) == ("timeout", 0, 1)


def test_an_error_before_an_answer_has_no_status_and_no_bytes() -> None:
    """There is nothing to be whole or not."""
    exchange = Exchange(BodyChecks(), lambda: None)
    exchange.on_error("connection")
    assert exchange.outcome == TransportOutcome(ok=False, fault="connection")


def test_an_error_event_goes_before_what_breaks_afterwards() -> None:
    """The server said that it fails; how the connection ends then is no news."""
    stream = {"content-type": "Text/Event-Stream; charset=utf-8", **CHUNKED}
    for ended in (Exchange.on_end, Exchange.on_close, lambda e: e.on_error("truncated")):
        exchange = _answered(stream, b"event: error\n\n")
        ended(exchange)
        assert exchange.outcome is not None
        assert (exchange.outcome.fault, exchange.outcome.complete) == ("stream_error", False)


def test_events_are_looked_for_only_in_a_stream_of_events() -> None:
    """In any other body it is text."""
    assert _finished({"content-type": "text/plain", **CHUNKED}, b"event: error\n\n").ok is True


def test_events_in_a_compressed_stream_are_seen() -> None:
    """After decoding."""
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip", **CHUNKED}
    assert _finished(headers, gzip.compress(b"event: error\n\n")).fault == "stream_error"


@pytest.mark.parametrize(
    ("declared", "whole"),
    [(BodyChecks(min_bytes=7), False), (BodyChecks(ends_with=b"!"), False), (BodyChecks(max_bytes=5), True)],
)
def test_what_was_declared_decides_over_a_body_of_the_right_length(declared: BodyChecks, whole: bool) -> None:
    """A body that lacks what was declared is truncated for whoever declared it; one that is too long is whole."""
    outcome = _finished({"content-length": "6"}, b"sample", declared=declared)
    assert (outcome.ok, outcome.fault, outcome.complete) == (False, "length_check", whole)


def test_checks_count_decoded_bytes() -> None:
    """The wire's bytes are compared with the wire's length, the sample with what was declared of it."""
    assert _finished({"content-encoding": "gzip"}, GZIP, declared=BodyChecks(min_bytes=300, max_bytes=300)).ok is True


def test_a_body_that_cannot_be_decoded_is_neither_good_nor_a_fault() -> None:
    """Its length was right, its content is not known."""
    outcome = _finished({"content-encoding": "gzip", "content-length": "5"}, b"plain")
    assert (outcome.ok, outcome.fault, outcome.complete) == (None, None, None)


def test_a_coding_that_cannot_be_followed_is_judged_by_its_frame() -> None:
    """The user's client may know it; what was declared of its content cannot be looked at."""
    headers = {"content-encoding": "br", "content-length": "3"}
    assert _finished(headers, b"abc")[:2] == (True, True)
    assert _finished(headers, b"abc", declared=BodyChecks(min_bytes=1))[:2] == (None, True)
    assert _finished({"content-encoding": "br"}, b"abc")[:2] == (True, None)
    assert not _answered(headers).has_sample_body


def test_a_body_is_kept_only_where_somebody_wants_it() -> None:
    """Later calls may bring gigabytes."""
    exchange = Exchange(BodyChecks(), lambda: None, keep=False)
    exchange.on_response(200, CHUNKED)
    exchange.on_data(b"abc")
    exchange.on_end()
    assert exchange.outcome is not None
    assert (bytes(exchange.body), exchange.outcome.bytes_received) == (b"", 3)


@pytest.mark.parametrize(
    ("content_range", "has_range", "expected"),
    [
        ("bytes 0-2/10", False, (False, "truncated", False)),
        ("bytes 7-9/10", False, (False, "truncated", False)),
        ("bytes 0-2/3", False, (True, None, True)),
        ("bytes 0-2/*", False, (None, None, None)),
        ("", False, (None, None, None)),
        ("bytes 0-2/10", True, (True, None, True)),
    ],
)
def test_a_part_that_nobody_asked_for_is_truncated(
    content_range: str, has_range: bool, expected: tuple[bool | None, str | None, bool | None]
) -> None:
    """A 206 whose range leaves bytes out; what its range does not say is unknown."""
    exchange = Exchange(NOTHING, lambda: None)
    exchange.on_response(206, {"content-length": "3", "content-range": content_range}, has_range=has_range)
    exchange.on_data(b"abc")
    exchange.on_end()
    assert exchange.outcome is not None
    assert (exchange.outcome.ok, exchange.outcome.fault, exchange.outcome.complete) == expected
