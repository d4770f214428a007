"""What differs between two contents is said without quoting either, and without holding either in memory."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.evidence.diff import MAX_JSON_BYTES, MAX_POINTERS, Difference, compare
from freeze_gate.evidence.digest import CHUNK


def between(first: bytes, rerun: bytes) -> Difference:
    """Compare two contents in memory."""
    return compare(io.BytesIO(first), io.BytesIO(rerun))


def pointers(first: Any, rerun: Any) -> tuple[str, ...] | None:
    """Compare two documents."""
    return between(json.dumps(first).encode(), (json.dumps(rerun) + "\n").encode()).pointers


@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40))
def test_sizes_and_first_differing_byte(common: bytes, ours: bytes, theirs: bytes) -> None:
    """The offset is where the contents part, or the shorter one's size; None where they are equal."""
    first, rerun = common + ours, common + theirs
    found = between(first, rerun)
    assert found.sizes == (len(first), len(rerun))
    if first == rerun:
        assert found == Difference((len(first), len(rerun)), None)
    else:
        assert found.offset is not None
        assert first[: found.offset] == rerun[: found.offset]
        assert first[found.offset : found.offset + 1] != rerun[found.offset : found.offset + 1]


class Dripping(io.RawIOBase):
    """A stream that returns less than it was asked for."""

    def __init__(self, payload: bytes, most: int) -> None:
        self._source = io.BytesIO(payload)
        self._most = most

    def read(self, size: int = -1, /) -> bytes:
        """Return a part of what was asked for."""
        return self._source.read(min(size, self._most))


@pytest.mark.parametrize("place", [0, CHUNK - 1, CHUNK, 2 * CHUNK, 2 * CHUNK + 99])
def test_large_contents_whose_streams_return_parts(place: int) -> None:
    """Chunks of the two streams need not line up: the byte that differs is found all the same."""
    payload = bytes(range(251)) * (2 * CHUNK // 251 + 2)
    other = payload[:place] + bytes([payload[place] ^ 1]) + payload[place + 1 :]
    found = compare(Dripping(payload, 300_007), Dripping(other, 500_009))  # type: ignore[arg-type]
    assert found == Difference((len(payload), len(payload)), place)


@pytest.mark.parametrize(
    ("first", "rerun", "changed"),
    [
        ({"a": 1, "b": {"c": 2}}, {"a": 1, "b": {"c": 3}}, ("/b/c",)),
        ({"a": 1}, {"b": 1}, ("/a", "/b")),
        ([1, 2], [1, 2, 3, 4], ("/2", "/3")),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, ("/a/0/b",)),
        ({"a": 1}, {"a": True}, ("/a",)),
        ({"a": 1}, {"a": 1.0}, ("/a",)),
        ({"a": {}}, {"a": []}, ("/a",)),
        ({"a": None}, {}, ("/a",)),
        (1, 2, ("",)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, ()),
    ],
)
def test_changed_places_in_the_json(first: Any, rerun: Any, changed: tuple[str, ...]) -> None:
    """Changed, added, removed and of another type are changes; another order of keys is none."""
    assert pointers(first, rerun) == changed


@pytest.mark.parametrize("key", ["", "a b", "a/b", "~", "ü", "x" * 41, "<img>", "a\nb", "@octocat", "secret.value"])
def test_a_key_that_is_no_plain_name_is_a_star(key: str) -> None:
    """A stranger's key is not quoted, wherever it stands."""
    assert pointers({"plain": {key: {"inner": 1}}}, {"plain": {key: {"inner": 2}}}) == ("/plain/*/inner",)


def test_many_changes_are_counted() -> None:
    """Twenty places are named, each once, and the rest is a number."""
    found = between(json.dumps(list(range(100))).encode(), json.dumps(list(range(1, 101))).encode())
    assert found.pointers is not None
    assert len(found.pointers) == MAX_POINTERS
    assert found.omitted == 80
    assert pointers({"a b": 1, "c d": 1}, {"a b": 2, "c d": 2}) == ("/*",)


def test_a_place_deeper_than_ten_steps_is_cut() -> None:
    """The first ten steps are enough to find it, and a stranger does not decide how long a line gets."""
    first: Any = 1
    rerun: Any = 2
    for _ in range(400):
        first, rerun = {"k": first}, {"k": rerun}
    assert pointers(first, rerun) == ("/k" * 10 + "/…",)


@pytest.mark.parametrize(
    ("first", "rerun"),
    [
        (b"{", b"{}"),
        (b"plain", b"text"),
        (b"\xff", b"1"),
        (b"[" * 100_000, b"1"),
        (b'"' + b"x" * MAX_JSON_BYTES + b'"', b"1"),
        (b"1" * 5000, b"2"),
        (b"", b"1"),
    ],
    ids=["cut", "text", "no UTF-8", "deep", "large", "long number", "empty"],
)
def test_what_is_not_json_on_both_sides_is_not_compared_as_json(first: bytes, rerun: bytes) -> None:
    """Whatever a stranger pinned, there is an answer: sizes and offset, and no pointers."""
    for ours, theirs in ((first, rerun), (rerun, first)):
        found = between(ours, theirs)
        assert found.pointers is None
        assert found.offset == 0 or not (ours and theirs) or ours[:1] == theirs[:1]


def test_json_just_within_the_limit_is_compared() -> None:
    """One mebibyte is parsed."""
    assert between(b'"' + b"x" * (MAX_JSON_BYTES - 2) + b'"', b"1").pointers == ("",)


def test_line_breaks_in_strings_and_a_byte_order_mark_are_no_obstacle() -> None:
    """Samples are code more often than not."""
    assert between(b'\xef\xbb\xbf{"code": "a\\nb"}', b'{"code": "a\\nc"}').pointers == ("/code",)


_DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


@given(_DOCUMENTS, _DOCUMENTS)
def test_nothing_of_the_contents_is_quoted(first: Any, rerun: Any) -> None:
    """A pointer holds plain names, numbers, stars and the ellipsis, and nothing else."""
    found = pointers(first, rerun)
    assert found is not None
    assert all(_is_plain(part) for pointer in found for part in _parts(pointer))


def _parts(pointer: str) -> Iterator[str]:
    yield from pointer.split("/")[1:]


def _is_plain(part: str) -> bool:
    return part in {"*", "…"} or (part.isascii() and part.replace("_", "a").replace("-", "a").isalnum())
