"""Compressed bodies, followed to their end."""

import gzip
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.capture.transport.content_encoding import ContentDecoder, restrict_accept_encoding

CODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda payload: gzip.compress(payload, mtime=0),
    "x-gzip": lambda payload: gzip.compress(payload, mtime=0),
    "GZip": lambda payload: gzip.compress(payload, mtime=0),
    "identity, gzip": lambda payload: gzip.compress(payload, mtime=0),
    "identity": bytes,
}


def _decoded(coding: str | None, *pieces: bytes) -> tuple[bytes, ContentDecoder]:
    decoder = ContentDecoder(coding)
    body = b"".join(decoder.feed(piece) for piece in pieces) + decoder.flush()
    return body, decoder


@pytest.mark.parametrize("coding", CODERS)
@given(payload=st.binary(max_size=300), size=st.integers(1, 40))
def test_a_whole_body_is_decoded_and_known_to_be_whole(coding: str, payload: bytes, size: int) -> None:
    """In pieces of any size."""
    packed = CODERS[coding](payload)
    body, decoder = _decoded(coding, *(packed[i : i + size] for i in range(0, len(packed), size)))
    assert (body, decoder.is_complete, decoder.is_broken, decoder.is_known) == (payload, True, False, True)


@pytest.mark.parametrize("coding", [name for name in CODERS if name != "identity"])
@given(payload=st.binary(max_size=300), cut=st.integers(1, 400))
def test_a_cut_body_is_never_whole(coding: str, payload: bytes, cut: int) -> None:
    """Wherever it was cut, if any byte came; what could be decoded is the beginning of the body."""
    packed = CODERS[coding](payload)
    part = packed[: max(len(packed) - cut, 1)]
    body, decoder = _decoded(coding, part)
    assert not decoder.is_complete
    assert payload.startswith(body)


def test_several_gzip_members_are_one_body() -> None:
    """RFC 1952, section 2.2; and the last one must be whole."""
    first, second = gzip.compress(b"one "), gzip.compress(b"two")
    assert _decoded("gzip", first + second)[0] == b"one two"
    assert _decoded("gzip", first, second)[1].is_complete
    assert not _decoded("gzip", first, second[:-1])[1].is_complete
    assert not _decoded("gzip", first + second[:5])[1].is_complete


@pytest.mark.parametrize("padding", [b"\0", b"\0" * 500, b"garbage"])
def test_what_follows_the_last_gzip_member_is_ignored(padding: bytes) -> None:
    """Clients do, and servers pad."""
    body, decoder = _decoded("gzip", gzip.compress(b"one") + padding, padding)
    assert (body, decoder.is_complete, decoder.is_broken) == (b"one", True, False)


def test_bytes_that_are_not_what_the_header_says_are_broken() -> None:
    """A proxy that unpacks and keeps the header; a flipped bit."""
    assert _decoded("gzip", b"\xffplain text")[1].is_broken
    packed = bytearray(gzip.compress(bytes(range(256))))
    packed[len(packed) // 2] ^= 0xFF
    _, decoder = _decoded("gzip", bytes(packed))
    assert decoder.is_broken or not decoder.is_complete


def test_a_second_member_that_is_damaged_is_no_padding() -> None:
    """Its loss is not passed over."""
    second = bytearray(gzip.compress(b"two"))
    second[-5] ^= 0xFF
    assert _decoded("gzip", gzip.compress(b"one") + bytes(second))[1].is_broken


@pytest.mark.parametrize("coding", ["gzip", None, "", "identity"])
def test_no_bytes_are_a_whole_empty_body(coding: str | None) -> None:
    """An answer without a body may well carry the header."""
    body, decoder = _decoded(coding)
    assert (body, decoder.is_complete) == (b"", True)


@pytest.mark.parametrize("coding", ["br", "zstd", "deflate", "gzip, br", "gzip, gzip", "compress"])
def test_a_coding_that_cannot_be_followed_is_passed_over(coding: str) -> None:
    """It is known not to be known; nothing of it is taken for a body."""
    body, decoder = _decoded(coding, b"\x0b\x02\x80abc\x03")
    assert (body, decoder.is_known) == (b"", False)


@pytest.mark.parametrize(
    ("asked", "narrow"),
    [
        ("gzip, deflate, br, zstd", "gzip"),
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", "gzip;q=0.8"),
        ("br", "identity"),
        ("", "identity"),
        (None, "identity"),
        ("identity", "identity"),
        ("GZIP", "GZIP"),
    ],
)
def test_a_request_asks_for_nothing_that_cannot_be_followed(asked: str | None, narrow: str) -> None:
    """What is left at the least is `identity`."""
    assert restrict_accept_encoding(asked) == narrow
