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
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import BinaryIO, Final, NamedTuple

from freeze_gate.evidence.digest import CHUNK
from freeze_gate.evidence.tree import ArchiveError, Weight, is_record, limit_count, odd, relative

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

_NOT_AS_LONG: Final = "a table of contents that is not as long as it says"


class _Table(NamedTuple):
    """Where the table of contents stands, and how many members it says there are."""

    members: int
    size: int
    offset: int

    @property
    def stop(self) -> int:
        """Where it ends."""
        return self.offset + self.size


class _Entry(NamedTuple):
    """One member as the table tells it, and how long its entry there is."""

    raw_name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int
    attributes: int
    length: int

    @property
    def name(self) -> str:
        """The name as a path; that of a folder ends in `/` or is empty. Raises `ArchiveError`, `ValueError`."""
        return relative(self.raw_name.decode("utf-8" if self.flags & _UTF8 else "cp437"))

    @property
    def least_stop(self) -> int:
        """Where the member's bytes end at the earliest: its own header may hold extensions besides."""
        return self.offset + _HEADER.size + len(self.raw_name) + self.packed


class Zip:
    """The members of a zip by name, all of it checked before any is opened. Raises `ArchiveError`.

    Of its table of contents nothing is kept but the names of the records and, for each file, the hash of its name, the
    place of its entry, and where whatever is behind the file begins: 32 bytes, however long the name is.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        packed_bytes = stream.seek(0, io.SEEK_END)
        self._table = _find_table(self._read, packed_bytes)
        self.records: list[str] = []
        self._files = self._look_through(packed_bytes)

    def __iter__(self) -> Iterator[str]:
        """Name all files."""
        return (name for _, entry in self._entries() if not _is_folder(name := entry.name))

    def open(self, name: str) -> BinaryIO:
        """Open a file. A small one is checked as a whole before it is handed out, a large one while it is read.

        Raises `KeyError` where there is none of that name.
        """
        entry, stop = self._find(name)
        packed = self._packed(entry, stop)
        chunks = _checked(entry, _inflated(packed) if entry.method == _DEFLATED else packed)
        if entry.size <= CHUNK:
            return io.BytesIO(b"".join(chunks))
        return io.BufferedReader(_Chunks(chunks))

    def _look_through(self, packed_bytes: int) -> "_Files":
        """Check all that the table says, and return what is kept of it."""
        hashes, numbers, weight = array("q"), array("L"), Weight()
        places, lengths = array("Q"), array("L")
        offsets, least_stops = array("Q"), array("Q")
        for number, (place, entry) in enumerate(self._entries()):
            name = entry.name
            is_folder = _is_folder(name)
            _refuse_odd(entry, stat.S_IFDIR if is_folder else stat.S_IFREG)
            if entry.least_stop > self._table.offset:
                raise odd("members that overlap")
            places.append(place)
            lengths.append(entry.length)
            offsets.append(entry.offset)
            least_stops.append(entry.least_stop)
            if not is_folder:
                hashes.append(hash(name))
                numbers.append(number)
                weight.add(name, entry.size)
                self.records += [name] if is_record(name) else []
        stops = _stops(offsets, least_stops, self._table.offset)
        order = sorted(range(len(hashes)), key=hashes.__getitem__)
        if any(hashes[one] == hashes[other] for one, other in pairwise(order)):
            raise odd("two members of one name")
        weight.limit(packed_bytes)
        chosen = [numbers[place] for place in order]
        return _Files(
            array("q", map(hashes.__getitem__, order)),
            array("Q", map(places.__getitem__, chosen)),
            array("L", map(lengths.__getitem__, chosen)),
            array("Q", map(stops.__getitem__, chosen)),
        )

    def _find(self, name: str) -> tuple[_Entry, int]:
        """Return a file's entry, and where whatever is behind the file begins. Raises `KeyError`."""
        place, length, stop = self._files.find(name)
        entry = _read_entry(self._read(place, length), 0)
        if entry.name != name:
            raise KeyError(name)
        return entry, stop

    def _read(self, place: int, size: int) -> bytes:
        self._stream.seek(place)
        found = self._stream.read(size)
        if len(found) != size:
            raise odd("less than it says")
        return found

    def _entries(self) -> Iterator[tuple[int, _Entry]]:
        """Read the table of contents, each entry with its place; they must fill it."""
        table, start = self._read(self._table.offset, self._table.size), 0
        for _ in range(self._table.members):
            entry = _read_entry(table, start)
            yield self._table.offset + start, entry
            start += entry.length
        if start != len(table):
            raise odd(_NOT_AS_LONG)

    def _packed(self, entry: _Entry, stop: int) -> Iterator[bytes]:
        """Read a member's bytes as they are stored; the header in front of them must agree with the table."""
        window = self._read(entry.offset, max(0, min(stop - entry.offset, _WINDOW)))
        first = _skip_header(window, entry)
        last = first + entry.packed
        if entry.offset + last > stop:
            raise odd("members that overlap")
        yield window[first:last]
        for offset in range(len(window), last, CHUNK):
            yield self._read(entry.offset + offset, min(CHUNK, last - offset))


class _Files(NamedTuple):
    """The files by the hashes of their names, in the order of the hashes, of which no two are equal.

    64 bits with a key of this process's own: that two names share them by chance is less than one in ten thousand
    million for 50,000 members, and then the archive is refused.
    """

    hashes: "array[int]"
    places: "array[int]"
    lengths: "array[int]"
    stops: "array[int]"

    def find(self, name: str) -> tuple[int, int, int]:
        """Return the place and the length of an entry, and where whatever is behind the file begins.

        Whether it is of that very name, only the entry can say. Raises `KeyError`.
        """
        wanted = hash(name)
        number = bisect_left(self.hashes, wanted)
        if number == len(self.hashes) or self.hashes[number] != wanted:
            raise KeyError(name)
        return self.places[number], self.lengths[number], self.stops[number]


def _is_folder(name: str) -> bool:
    return not name or name.endswith("/")


def _stops(offsets: "array[int]", least_stops: "array[int]", stop: int) -> "array[int]":
    """Return where whatever is behind each member begins. Raises `ArchiveError` where two overlap."""
    stops = array("Q", offsets)
    for number in sorted(range(len(offsets)), key=offsets.__getitem__, reverse=True):
        if least_stops[number] > stop:
            raise odd("members that overlap")
        stops[number], stop = stop, offsets[number]
    return stops


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


def _read_entry(table: bytes, start: int) -> _Entry:
    """Read one entry of the table of contents."""
    if start + _ENTRY.size > len(table):
        raise odd(_NOT_AS_LONG)
    mark, _, _, flags, method, _, _, crc, packed, size, *rest = _ENTRY.unpack_from(table, start)
    name_length, extra_length, comment_length, disk, _, attributes, offset = rest
    name_start = start + _ENTRY.size
    extra_start = name_start + name_length
    length = _ENTRY.size + name_length + extra_length + comment_length
    if mark != b"PK\1\2" or disk or start + length > len(table):
        raise odd(_NOT_AS_LONG)
    wide = _extension(table[extra_start : extra_start + extra_length]) if extra_length else b""
    if _WIDE in (packed, size, offset):
        size, packed, offset = _widened(wide, size, packed, offset)
    return _Entry(table[name_start:extra_start], flags, method, crc, packed, size, offset, attributes, length)


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
