"""What differs between two pinned contents, without quoting either: sizes, the first byte, the places in the JSON."""

import json
import re
from collections.abc import Iterator
from itertools import islice, zip_longest
from typing import Any, BinaryIO, Final, NamedTuple

from freeze_gate.evidence.digest import CHUNK

MAX_JSON_BYTES: Final = 1 << 20
"""Contents beyond this are not parsed: a parsed document takes some twenty times its size."""

MAX_POINTERS: Final = 20
_MAX_PARTS: Final = 10
_MAX_COUNTED: Final = 10_000

_PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_ABSENT: Final = object()


class Difference(NamedTuple):
    """What differs.

    `sizes` are the first run's and the rerun's, in bytes. `offset` is that of the first byte that differs, where one is
    a prefix of the other the shorter one's size; None where the contents are equal. `pointers` are the JSON pointers of
    the changed values, in the first run's order, at most `MAX_POINTERS`, and `more` is how many changes they leave out
    (counted to 10,000): a key that is not `[A-Za-z0-9_-]{1,40}` is `*`, and what is nested beyond ten steps is `…`.
    `pointers` is None where not both contents are JSON of at most `MAX_JSON_BYTES`.
    """

    sizes: tuple[int, int]
    offset: int | None
    pointers: tuple[str, ...] | None = None
    more: int = 0


def difference(first: BinaryIO, rerun: BinaryIO) -> Difference:
    """Compare two streams to their ends, a chunk at a time. Raises what the streams raise."""
    size, other_size, offset = 0, 0, None
    heads = bytearray(), bytearray()
    while True:
        ours, theirs = _chunk(first), _chunk(rerun)
        if not ours and not theirs:
            break
        if offset is None and ours != theirs:
            offset = size + _first_difference(ours, theirs)
        size, other_size = size + len(ours), other_size + len(theirs)
        _keep(heads[0], ours)
        _keep(heads[1], theirs)
    pointers, more = (None, 0) if offset is None else _pointers(bytes(heads[0]), bytes(heads[1]))
    return Difference((size, other_size), offset, pointers, more)


def _keep(head: bytearray, chunk: bytes) -> None:
    """Keep what may be parsed, and one byte more, which shows that it is too large."""
    head += chunk[: MAX_JSON_BYTES + 1 - len(head)]


def _chunk(stream: BinaryIO) -> bytes:
    """Read a whole chunk, or what is left: a stream may return less than it was asked for before its end."""
    chunk = stream.read(CHUNK)
    while chunk and len(chunk) < CHUNK and (rest := stream.read(CHUNK - len(chunk))):
        chunk += rest
    return chunk


def _first_difference(ours: bytes, theirs: bytes) -> int:
    """Return the offset of the first byte that differs, halving the span that holds it."""
    low, high = 0, min(len(ours), len(theirs))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if ours[low:middle] == theirs[low:middle] else (low, middle - 1)
    return low


def _pointers(ours: bytes, theirs: bytes) -> tuple[tuple[str, ...] | None, int]:
    try:
        changed = _changed(_parse(ours), _parse(theirs))
    except (ValueError, RecursionError):  # no JSON, a number of too many digits, nested too deeply, too large
        return None, 0
    pointers, counted = dict[str, None](), 0
    for pointer in islice(changed, _MAX_COUNTED):
        if len(pointers) < MAX_POINTERS or pointer in pointers:
            pointers[pointer] = None
        else:
            counted += 1
    return tuple(pointers), counted


def _parse(payload: bytes) -> Any:
    if len(payload) > MAX_JSON_BYTES:
        raise ValueError("too large to parse")
    return json.loads(payload.removeprefix(_BYTE_ORDER_MARK).decode("utf-8"))


def _changed(ours: Any, theirs: Any) -> Iterator[str]:
    """Walk two documents side by side. Iterative, since a stranger decides how deep they are."""
    open_values = [iter([("", 0, ours, theirs)])]
    while open_values:
        step = next(open_values[-1], None)
        if step is None:
            open_values.pop()
            continue
        pointer, depth, one, other = step
        if type(one) is type(other) and type(one) in (dict, list):
            open_values.append(_children(pointer, depth, one, other))
        elif type(one) is not type(other) or repr(one) != repr(other):
            yield pointer


def _children(pointer: str, depth: int, ours: Any, theirs: Any) -> Iterator[tuple[str, int, Any, Any]]:
    if type(ours) is dict:
        names = (*ours, *(name for name in theirs if name not in ours))
        pairs = ((name, ours.get(name, _ABSENT), theirs.get(name, _ABSENT)) for name in names)
    else:
        values = zip_longest(ours, theirs, fillvalue=_ABSENT)
        pairs = ((str(index), one, other) for index, (one, other) in enumerate(values))
    for name, one, other in pairs:
        yield _below(pointer, depth, name), depth + 1, one, other


def _below(pointer: str, depth: int, name: str) -> str:
    if depth >= _MAX_PARTS:
        return pointer if pointer.endswith("…") else f"{pointer}/…"
    return f"{pointer}/{name if _PLAIN_KEY.fullmatch(name) else '*'}"
