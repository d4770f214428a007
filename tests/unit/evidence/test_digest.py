"""A digest is 64 lower-case hexadecimal characters, never repaired; bytes are hashed as they are."""

import io

import pytest

from freeze_gate import pin_fixture
from freeze_gate.evidence.digest import CHUNK, ContentDigest, Sha256, hash_stream

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize(
    "odd",
    [
        "",
        EMPTY.upper(),
        f"sha256:{EMPTY}",
        f"{EMPTY}\n",
        f"{EMPTY}\r",
        f" {EMPTY}",
        EMPTY[:63],
        f"{EMPTY}0",
        "g" * 64,
        "\u0660" * 64,
    ],
)
def test_nothing_is_repaired_into_a_digest(odd: str) -> None:
    """A repaired digest is a guess."""
    with pytest.raises(ValueError, match="64 lower-case"):
        Sha256(odd)


def test_zero_bytes_are_a_real_pin() -> None:
    """No bytes is something else: there is nothing to hash."""
    assert pin_fixture(b"") == EMPTY == Sha256(EMPTY)


def test_bytes_are_bytes() -> None:
    """No decoding, no normalising of line ends, byte-order marks or key order."""
    contents = [b"a\nb\n", b"a\r\nb\r\n", b"a\nb", b"\xef\xbb\xbfa\nb\n", b'{"a":1,"b":2}', b'{"b":2,"a":1}', b"\xff"]
    assert len({pin_fixture(content) for content in contents}) == len(contents)


def test_a_stream_is_read_to_its_end() -> None:
    """However many chunks it takes, digest and size are those of all of it."""
    content = b"x" * (2 * CHUNK + 1)
    assert hash_stream(io.BytesIO(content)) == ContentDigest(Sha256.of(content), len(content))
    assert hash_stream(io.BytesIO(b"")) == ContentDigest(Sha256(EMPTY), 0)
