"""Error events, wherever the network cuts the stream and however its lines end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.capture.transport.sse import MAX_EVENT_TYPE_BYTES, SseErrorDetector


def _seen(*pieces: bytes, ended: bool = True) -> bool:
    events = SseErrorDetector()
    for piece in pieces:
        events.feed(piece)
    if ended:
        events.end()
    return events.has_error


@pytest.mark.parametrize(
    "stream",
    [
        b"event: error\ndata: x\n\n",
        b"event:error\n\n",
        b"data: x\nevent: error\nid: 1\n\n",
        b"event: ping\n\nevent: error\n\n",
        b"event: ping\nevent: error\n\n",
        b"\xef\xbb\xbfevent: error\n\n",
        b": comment\n\nevent: error\n\n",
        b"event: error\ndata: cut off",
        b"event: error",
        b"event: response.failed\ndata: {}\n\n",
    ],
)
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_an_event_of_type_error_is_seen(stream: bytes, end: bytes) -> None:
    """By its type, whatever else it has, also as the first or an unfinished one."""
    assert _seen(stream.replace(b"\n", end))


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        b"data: event: error\n\n",
        b"data: x\ndata: error\n\n",
        b"event: errors\n\n",
        b"event: Error\n\n",
        b"event:  error\n\n",
        b"events: error\n\n",
        b" event: error\n\n",
        b": event: error\n\n",
        b"event: error\nevent: ping\n\n",
        b"event\nid: error\n\n",
        b"event: error" + b"!" * 1000 + b"\n\n",
        b"x" * 1000 + b"event: error\n\n",
    ],
)
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_nothing_else_is_an_error_event(stream: bytes, end: bytes) -> None:
    """The model's text, a longer word, another field, a type that was taken back."""
    assert not _seen(stream.replace(b"\n", end))


def test_further_types_can_be_declared_in_advance() -> None:
    """They count beside the known ones, and by the whole type."""
    for stream, is_error in ((b"event: run.failed\n\n", True), (b"event: error\n\n", True), (b"event: run\n\n", False)):
        events = SseErrorDetector(["run.failed"])
        events.feed(stream)
        assert events.has_error is is_error


def test_the_longest_type_is_told_from_a_longer_one() -> None:
    """What is kept of a line is more than the longest type that may be declared."""
    longest = "x" * MAX_EVENT_TYPE_BYTES
    for stream, is_error in ((longest, True), (longest + "x" * 99, False)):
        events = SseErrorDetector([longest])
        for byte in f"event: {stream}\n\n".encode():
            events.feed(bytes([byte]))
        assert events.has_error is is_error


def test_an_event_counts_once_it_is_complete() -> None:
    """Who stops reading after the blank line has seen it; before that, the stream must end first."""
    assert _seen(b"event: error\n\n", ended=False)
    assert not _seen(b"event: error\n", ended=False)


@given(st.lists(st.sampled_from([b"event: error", b"event: ", b"error", b"data: x", b"\r", b"\n", b"\r\n", b"x"])))
def test_it_does_not_matter_where_a_stream_is_cut(pieces: list[bytes]) -> None:
    """Piece by piece, byte by byte or in one: the same answer."""
    whole = b"".join(pieces)
    assert _seen(*pieces) == _seen(whole) == _seen(*(whole[i : i + 1] for i in range(len(whole))))
