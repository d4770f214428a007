"""Compares two pinned contents without quoting either: sizes, the first byte that differs, the changed JSON values."""

import json
import re
from collections.abc import Iterator
from itertools import islice, zip_longest
from typing import Any, BinaryIO, Final, NamedTuple

from freeze_gate.evidence.digest import CHUNK
from freeze_gate.evidence.lfs import is_lfs_pointer
from freeze_gate.validation.readers import BYTE_ORDER_MARK

MAX_JSON_BYTES: Final = 1 << 20
"""Contents beyond this are not parsed: a parsed document takes some twenty times its size."""

MAX_POINTERS: Final = 20
_MAX_PARTS: Final = 10
_MAX_COUNTED: Final = 10_000

_PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_ABSENT: Final = object()


class Difference(NamedTuple):
    """How two contents differ.

    - `sizes`: bytes of the first run's and of the rerun's content.
    - `offset`: of the first byte that differs; the shorter size if one is a prefix of the other; None if equal.
    - `pointers`: JSON pointers of the changed values, in the first run's order, at most `MAX_POINTERS`. A key that is
      not `[A-Za-z0-9_-]{1,40}` is shown as `*`, and what is nested deeper than ten steps as `…`. None if not both
      contents are JSON of at most `MAX_JSON_BYTES`.
    - `omitted`: how many changes `pointers` leaves out, counted to 10,000.
    - `lfs_pointers`: whether the first run's and the rerun's content is a Git LFS pointer.
    """

    sizes: tuple[int, int]
    offset: int | None
    pointers: tuple[str, ...] | None = None
    omitted: int = 0
    lfs_pointers: tuple[bool, bool] = (False, False)


def compare(first: BinaryIO, rerun: BinaryIO) -> Difference:
    """Compare two streams to their ends, a chunk at a time. Raises what the streams raise."""
    first_size, rerun_size, offset = 0, 0, None
    first_head, rerun_head = bytearray(), bytearray()
    while True:
        first_chunk, rerun_chunk = _read_chunk(first), _read_chunk(rerun)
        if not first_chunk and not rerun_chunk:
            break
        if offset is None and first_chunk != rerun_chunk:
            offset = first_size + _first_difference(first_chunk, rerun_chunk)
        first_size += len(first_chunk)
        rerun_size += len(rerun_chunk)
        _buffer_head(first_head, first_chunk)
        _buffer_head(rerun_head, rerun_chunk)
    if offset is None:
        return Difference((first_size, rerun_size), None)
    pointers, omitted = _changed_pointers(bytes(first_head), bytes(rerun_head))
    lfs_pointers = (is_lfs_pointer(bytes(first_head)), is_lfs_pointer(bytes(rerun_head)))
    return Difference((first_size, rerun_size), offset, pointers, omitted, lfs_pointers)


def _buffer_head(head: bytearray, chunk: bytes) -> None:
    """Keep what may be parsed, and one byte more, which shows that the content is too large."""
    head += chunk[: MAX_JSON_BYTES + 1 - len(head)]


def _read_chunk(stream: BinaryIO) -> bytes:
    """Read a whole chunk, or what is left: a stream may return less than it was asked for before its end."""
    chunk = stream.read(CHUNK)
    while chunk and len(chunk) < CHUNK and (rest := stream.read(CHUNK - len(chunk))):
        chunk += rest
    return chunk


def _first_difference(first: bytes, rerun: bytes) -> int:
    """Return the offset of the first byte that differs, halving the span that holds it."""
    low, high = 0, min(len(first), len(rerun))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if first[low:middle] == rerun[low:middle] else (low, middle - 1)
    return low


def _changed_pointers(first: bytes, rerun: bytes) -> tuple[tuple[str, ...] | None, int]:
    try:
        changes = _changes(_parse(first), _parse(rerun))
    except (ValueError, RecursionError):  # no JSON, a number of too many digits, nested too deeply, too large
        return None, 0
    pointers, omitted = dict[str, None](), 0
    for pointer in islice(changes, _MAX_COUNTED):
        if len(pointers) < MAX_POINTERS or pointer in pointers:
            pointers[pointer] = None
        else:
            omitted += 1
    return tuple(pointers), omitted


def _parse(payload: bytes) -> Any:
    if len(payload) > MAX_JSON_BYTES:
        raise ValueError("too large to parse")
    return json.loads(payload.removeprefix(BYTE_ORDER_MARK).decode("utf-8"))


def _changes(first: Any, rerun: Any) -> Iterator[str]:
    """Walk two documents side by side. Not recursive, because a stranger decides how deep they are."""
    open_values = [iter([("", 0, first, rerun)])]
    while open_values:
        step = next(open_values[-1], None)
        if step is None:
            open_values.pop()
            continue
        pointer, depth, first_value, rerun_value = step
        if type(first_value) is type(rerun_value) and type(first_value) in (dict, list):
            open_values.append(_children(pointer, depth, first_value, rerun_value))
        elif type(first_value) is not type(rerun_value) or repr(first_value) != repr(rerun_value):
            yield pointer


def _children(pointer: str, depth: int, first: Any, rerun: Any) -> Iterator[tuple[str, int, Any, Any]]:
    if type(first) is dict:
        names = (*first, *(name for name in rerun if name not in first))
        pairs = ((name, first.get(name, _ABSENT), rerun.get(name, _ABSENT)) for name in names)
    else:
        values = zip_longest(first, rerun, fillvalue=_ABSENT)
        pairs = ((str(index), first_value, rerun_value) for index, (first_value, rerun_value) in enumerate(values))
    for name, first_value, rerun_value in pairs:
        yield _child_pointer(pointer, depth, name), depth + 1, first_value, rerun_value


def _child_pointer(pointer: str, depth: int, name: str) -> str:
    if depth >= _MAX_PARTS:
        return pointer if pointer.endswith("…") else f"{pointer}/…"
    return f"{pointer}/{name if _PLAIN_KEY.fullmatch(name) else '*'}"
