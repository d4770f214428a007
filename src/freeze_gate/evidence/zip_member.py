"""The bytes of one member of a zip: exactly what its table of contents says, or none."""

import io
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final

from freeze_gate.evidence.digest import CHUNK
from freeze_gate.evidence.tree import odd
from freeze_gate.evidence.zip_table import DEFLATED, SIZES_FOLLOW, WIDE, Entry, Read

_HEADER: Final = struct.Struct("<4s5H3L2H")
_WINDOW: Final = 256 << 10  # a header with the longest name and extra, and a small member whole


def least_stop(entry: Entry) -> int:
    """Return where a member's bytes end at the earliest: its own header may hold extensions besides."""
    return entry.offset + _HEADER.size + len(entry.raw_name) + entry.packed


def open_member(read: Read, entry: Entry, stop: int) -> BinaryIO:
    """Open a member; `stop` is where whatever is behind it begins.

    A small one is checked as a whole before it is handed out, a large one while it is read.
    """
    packed = _packed(read, entry, stop)
    chunks = _checked(entry, _inflated(packed) if entry.method == DEFLATED else packed)
    if entry.size <= CHUNK:
        return io.BytesIO(b"".join(chunks))
    return io.BufferedReader(_Chunks(chunks))


class _Chunks(io.RawIOBase):
    """An iterator of bytes, none empty, as a stream."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = memoryview(next(self._chunks, b""))
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _packed(read: Read, entry: Entry, stop: int) -> Iterator[bytes]:
    """Read a member's bytes as they are stored; the header in front of them must agree with the table."""
    window = read(entry.offset, max(0, min(stop - entry.offset, _WINDOW)))
    first = _skip_header(window, entry)
    last = first + entry.packed
    if entry.offset + last > stop:
        raise odd("members that overlap")
    yield window[first:last]
    for offset in range(len(window), last, CHUNK):
        yield read(entry.offset + offset, min(CHUNK, last - offset))


def _skip_header(window: bytes, entry: Entry) -> int:
    """Return where a member's bytes begin, behind its own header, which must say what the table says."""
    mark, _, flags, method, _, _, crc, packed, size, name_length, extra_length = _HEADER.unpack_from(window)
    start: int = _HEADER.size + name_length
    same = (flags, method, window[_HEADER.size : start]) == (entry.flags, entry.method, entry.raw_name)
    if not flags & SIZES_FOLLOW:
        same = same and crc == entry.crc and packed in (entry.packed, WIDE) and size in (entry.size, WIDE)
    if mark != b"PK\3\4" or not same:
        raise odd("a member whose header contradicts the table of contents")
    return start + int(extra_length)


def _inflated(packed: Iterator[bytes]) -> Iterator[bytes]:
    """Inflate a chunk at a time, so that a member's size in memory does not depend on what it claims."""
    inflate = zlib.decompressobj(-zlib.MAX_WBITS)
    for piece in packed:
        chunk = inflate.decompress(piece, CHUNK)
        yield chunk
        while len(chunk) == CHUNK:
            chunk = inflate.decompress(inflate.unconsumed_tail, CHUNK)
            yield chunk
        if inflate.unused_data:
            break
    if not inflate.eof or inflate.unused_data:
        raise odd("a member that ends early or late")


def _checked(entry: Entry, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Pass a member's bytes on, and refuse any other number or checksum of them than the table tells."""
    size = crc = 0
    for chunk in chunks:
        size += len(chunk)
        crc = zlib.crc32(chunk, crc)
        if size > entry.size:
            break
        if chunk:
            yield chunk
    if size != entry.size or crc != entry.crc:
        raise odd("a member of another size or checksum than it says")
