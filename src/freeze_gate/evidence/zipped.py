"""A zip, read in the one way that every reader must read it, or refused.

`zipfile` is not enough for bytes that a stranger made: it builds the whole table of contents before anybody can count
it, lets members overlap, and takes a member that is longer or shorter than declared. Here the table is counted before
it is read, must fill the place between the members and the end of the file, and must agree with the header in front of
each member; a member must inflate to exactly the declared size and checksum. Only what uploaders write is read: one
disk, no comment, no encryption, stored or deflated. The format is PKWARE's APPNOTE.TXT 6.3, sections 4.3 and 4.5.3.
"""

import io
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import BinaryIO, Final, NamedTuple

from freeze_gate.evidence.digest import CHUNK
from freeze_gate.evidence.tree import ArchiveError, limit_count, limit_sizes, odd, relative

_END: Final = struct.Struct("<4s4H2LH")
_END64_PLACE: Final = struct.Struct("<4sLQL")
_END64: Final = struct.Struct("<4sQ2H2L4Q")
_ENTRY: Final = struct.Struct("<4s6H3L5H2L")
_HEADER: Final = struct.Struct("<4s5H3L2H")

_WIDE: Final = 0xFFFFFFFF  # a field whose value stands in its 64-bit extension
_WIDE_COUNT: Final = 0xFFFF
_WIDE_EXTRA: Final = 1

_STORED: Final = 0
_DEFLATED: Final = 8
_SIZES_FOLLOW: Final = 0x8
_UTF8: Final = 0x800
_KNOWN_FLAGS: Final = 0x6 | _SIZES_FOLLOW | _UTF8  # 0x6: how hard the compressor tried

_MAX_TABLE_BYTES: Final = 64 << 20  # some four times what 50,000 members need
_WINDOW: Final = 256 << 10  # a header with the longest name and extra, and a small member whole


class _Table(NamedTuple):
    """Where the table of contents stands, and how many members it says there are."""

    members: int
    size: int
    offset: int


class _Entry(NamedTuple):
    """One member as the table tells it."""

    raw_name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int
    attributes: int


class _Place(NamedTuple):
    """A member, and where whatever is behind it begins."""

    entry: _Entry
    stop: int


class Zip:
    """The members of a zip by name, all of it checked before any is opened. Raises `ArchiveError`."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        packed_bytes = stream.seek(0, io.SEEK_END)
        self._places: dict[str, _Place] = {}
        for place in self._table(_find_table(self._read, packed_bytes)):
            entry = place.entry
            name = relative(entry.raw_name.decode("utf-8" if entry.flags & _UTF8 else "cp437"))
            is_folder = not name or name.endswith("/")
            _refuse_odd(entry, stat.S_IFDIR if is_folder else stat.S_IFREG)
            if name in self._places:
                raise odd("two members of one name")
            if not is_folder:
                self._places[name] = place
        self.sizes = {name: place.entry.size for name, place in self._places.items()}
        limit_sizes(self.sizes, packed_bytes)

    def open(self, name: str) -> BinaryIO:
        """Open a member. A small one is checked as a whole before it is handed out, a large one while it is read."""
        place = self._places[name]
        packed = self._packed(place)
        chunks = _checked(place.entry, _inflated(packed) if place.entry.method == _DEFLATED else packed)
        if place.entry.size <= CHUNK:
            return io.BytesIO(b"".join(chunks))
        return io.BufferedReader(_Chunks(chunks))

    def _read(self, place: int, size: int) -> bytes:
        self._stream.seek(place)
        found = self._stream.read(size)
        if len(found) != size:
            raise odd("less than it says")
        return found

    def _table(self, table: _Table) -> Iterator[_Place]:
        """List the members, the last one first. Raises `ArchiveError` where two overlap."""
        stop = table.offset
        entries = _entries(self._read(table.offset, table.size), table.members)
        for entry in sorted(entries, key=attrgetter("offset"), reverse=True):
            if entry.offset + _HEADER.size + len(entry.raw_name) + entry.packed > stop:
                raise odd("members that overlap")
            yield _Place(entry, stop)
            stop = entry.offset

    def _packed(self, place: _Place) -> Iterator[bytes]:
        """Read a member's bytes as they are stored; the header in front of them must agree with the table."""
        origin = place.entry.offset
        window = self._read(origin, min(place.stop - origin, _WINDOW))
        start = _skip_header(window, place.entry)
        stop = start + place.entry.packed
        if origin + stop > place.stop:
            raise odd("members that overlap")
        yield window[start:stop]
        for offset in range(len(window), stop, CHUNK):
            yield self._read(origin + offset, min(CHUNK, stop - offset))


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


def _find_table(read: Callable[[int, int], bytes], file_size: int) -> _Table:
    """Find the table by the end record, which must be the file's last bytes. Raises `ArchiveError`."""
    place = file_size - _END.size
    if place < 0:
        raise ArchiveError("archive-invalid", "it is no zip")
    mark, disk, table_disk, count_here, count, size, offset, comment = _END.unpack(read(place, _END.size))
    if mark != b"PK\5\6" or comment:
        raise ArchiveError("archive-invalid", "it is no zip, is cut off, or has something behind its end")
    if disk or table_disk or count_here != count:
        raise odd("a part of a zip that spans several files")
    table = _Table(count, size, offset)
    if count == _WIDE_COUNT or _WIDE in (size, offset):
        table, place = _find_wide_table(read, place)
    limit_count(table.members)
    if table.size > _MAX_TABLE_BYTES:
        raise ArchiveError("archive-limits", f"its table of contents is over {_MAX_TABLE_BYTES >> 20} MiB")
    if table.offset + table.size != place:
        raise odd("a table of contents that is not where it must be")
    return table


def _find_wide_table(read: Callable[[int, int], bytes], end_place: int) -> tuple[_Table, int]:
    """Return the table as the 64-bit end record tells it, and the place of that record."""
    pointer = end_place - _END64_PLACE.size
    mark, disk, place, _disks = _END64_PLACE.unpack(read(max(pointer, 0), _END64_PLACE.size))
    if mark != b"PK\6\7" or disk or place + _END64.size > pointer:
        raise odd("a 64-bit end record that is not where it must be")
    mark, length, _made, _needed, disk, table_disk, here, count, size, offset = _END64.unpack(read(place, _END64.size))
    if mark != b"PK\6\6" or place + 12 + length != pointer or disk or table_disk or here != count:
        raise odd("a 64-bit end record that is not where it must be")
    return _Table(count, size, offset), place


def _entries(table: bytes, count: int) -> Iterator[_Entry]:
    """Read the table of contents; its entries must fill it."""
    place = 0
    for _ in range(count):
        if place + _ENTRY.size > len(table):
            break
        mark, _, _, flags, method, _, _, crc, packed, size, *rest = _ENTRY.unpack_from(table, place)
        name_length, extra_length, comment_length, disk, _, attributes, offset = rest
        name_start = place + _ENTRY.size
        extra_start = name_start + name_length
        place = extra_start + extra_length + comment_length
        if mark != b"PK\1\2" or disk:
            break
        wide = _extension(table[extra_start : extra_start + extra_length]) if extra_length else b""
        if _WIDE in (packed, size, offset):
            size, packed, offset = _widened(wide, size, packed, offset)
        yield _Entry(table[name_start:extra_start], flags, method, crc, packed, size, offset, attributes)
    else:
        if place == len(table):
            return
    raise odd("a table of contents that is not as long as it says")


def _extension(extra: bytes) -> bytes:
    """Return what the 64-bit extension among a member's extensions holds; every one of them must fit its place."""
    wide = b""
    while len(extra) >= 4:  # noqa: PLR2004 - an extension's id and its length
        kind, length = struct.unpack_from("<2H", extra)
        if length > len(extra) - 4:
            raise odd("an extension that is longer than its place")
        wide = wide or (extra[4 : 4 + length] if kind == _WIDE_EXTRA else b"")
        extra = extra[4 + length :]
    return wide


def _widened(wide: bytes, *fields: int) -> list[int]:
    """Take the fields that did not fit from the 64-bit extension, where they stand in the same order."""
    values = iter(struct.unpack_from(f"<{len(wide) // 8}Q", wide))
    found = [next(values, None) if field == _WIDE else field for field in fields]
    if None in found:
        raise odd("a size that does not fit and has no 64-bit extension")
    return [field for field in found if field is not None]


def _refuse_odd(entry: _Entry, kind: int) -> None:
    if stat.S_IFMT(entry.attributes >> 16) not in (0, kind):
        raise odd("a link or a special file")
    if entry.flags & ~_KNOWN_FLAGS:
        raise odd("an encrypted member, or one of a kind that nothing writes")
    if entry.method not in (_STORED, _DEFLATED):
        raise odd("a member that is neither stored nor deflated")
    if entry.method == _STORED and entry.packed != entry.size:
        raise odd("a member of another size than it says")


def _skip_header(window: bytes, entry: _Entry) -> int:
    """Return where a member's bytes begin, behind its own header, which must say what the table says."""
    mark, _, flags, method, _, _, crc, packed, size, name_length, extra_length = _HEADER.unpack_from(window)
    start: int = _HEADER.size + name_length
    same = (flags, method, window[_HEADER.size : start]) == (entry.flags, entry.method, entry.raw_name)
    if not flags & _SIZES_FOLLOW:
        same = same and crc == entry.crc and packed in (entry.packed, _WIDE) and size in (entry.size, _WIDE)
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


def _checked(entry: _Entry, chunks: Iterator[bytes]) -> Iterator[bytes]:
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
