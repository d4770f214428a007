"""The table of contents of a zip: where it stands, and what it says of each member (PKWARE's APPNOTE.TXT 6.3)."""

import stat
import struct
from collections.abc import Callable
from typing import Final, NamedTuple

from freeze_gate.evidence.tree import ArchiveError, limit_count, odd, relative

STORED: Final = 0
DEFLATED: Final = 8
SIZES_FOLLOW: Final = 0x8
"""A flag: a member's sizes and checksum stand behind it, and not in its header."""

WIDE: Final = 0xFFFFFFFF
"""A field whose value stands in its 64-bit extension."""

NOT_AS_LONG: Final = "a table of contents that is not as long as it says"

Read = Callable[[int, int], bytes]
"""Returns so many bytes from a place of the file, or raises."""

_END: Final = struct.Struct("<4s4H2LH")
_END64_PLACE: Final = struct.Struct("<4sLQL")
_END64: Final = struct.Struct("<4sQ2H2L4Q")
_ENTRY: Final = struct.Struct("<4s6H3L5H2L")

_WIDE_COUNT: Final = 0xFFFF
_WIDE_EXTRA: Final = 1
_UTF8: Final = 0x800
_KNOWN_FLAGS: Final = 0x6 | SIZES_FOLLOW | _UTF8  # 0x6: how hard the compressor tried
_LEAST_PACKED: Final = 4 << 10
"""Bytes that any member may take: deflate adds 5 for each 65,535, and streams that are flushed often a few more."""
_MAX_BYTES: Final = 64 << 20  # some four times what 50,000 members need


class Table(NamedTuple):
    """Where the table of contents stands, and how many members it says there are."""

    members: int
    size: int
    offset: int


class Entry(NamedTuple):
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


def find_table(read: Read, file_size: int) -> Table:
    """Find the table by the end record, which must be the file's last bytes. Raises `ArchiveError`."""
    place = file_size - _END.size
    if place < 0:
        raise ArchiveError("archive-invalid", "it is no zip")
    mark, disk, table_disk, count_here, count, size, offset, comment = _END.unpack(read(place, _END.size))
    if mark != b"PK\5\6" or comment:
        raise ArchiveError("archive-invalid", "it is no zip, is cut off, or has something behind its end")
    if disk or table_disk or count_here != count:
        raise odd("a part of a zip that spans several files")
    table = Table(count, size, offset)
    if count == _WIDE_COUNT or WIDE in (size, offset):
        table, place = _find_wide_table(read, place)
    limit_count(table.members)
    if table.size > _MAX_BYTES:
        raise ArchiveError("archive-limits", f"its table of contents is over {_MAX_BYTES >> 20} MiB")
    if table.offset + table.size != place:
        raise odd("a table of contents that is not where it must be")
    return table


def _find_wide_table(read: Read, end_place: int) -> tuple[Table, int]:
    """Return the table as the 64-bit end record tells it, and the place of that record."""
    pointer = end_place - _END64_PLACE.size
    mark, disk, place, _disks = _END64_PLACE.unpack(read(max(pointer, 0), _END64_PLACE.size))
    if mark != b"PK\6\7" or disk or place + _END64.size > pointer:
        raise odd("a 64-bit end record that is not where it must be")
    mark, length, _made, _needed, disk, table_disk, here, count, size, offset = _END64.unpack(read(place, _END64.size))
    if mark != b"PK\6\6" or place + 12 + length != pointer or disk or table_disk or here != count:
        raise odd("a 64-bit end record that is not where it must be")
    return Table(count, size, offset), place


def read_entry(table: bytes, start: int) -> Entry:
    """Read one entry of the table of contents."""
    if start + _ENTRY.size > len(table):
        raise odd(NOT_AS_LONG)
    mark, _, _, flags, method, _, _, crc, packed, size, *rest = _ENTRY.unpack_from(table, start)
    name_length, extra_length, comment_length, disk, _, attributes, offset = rest
    name_start = start + _ENTRY.size
    extra_start = name_start + name_length
    length = _ENTRY.size + name_length + extra_length + comment_length
    if mark != b"PK\1\2" or disk or start + length > len(table):
        raise odd(NOT_AS_LONG)
    wide = _extension(table[extra_start : extra_start + extra_length]) if extra_length else b""
    if WIDE in (packed, size, offset):
        size, packed, offset = _widened(wide, size, packed, offset)
    return Entry(table[name_start:extra_start], flags, method, crc, packed, size, offset, attributes, length)


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
    found = [next(values, None) if field == WIDE else field for field in fields]
    if None in found:
        raise odd("a size that does not fit and has no 64-bit extension")
    return [field for field in found if field is not None]


def refuse_odd(entry: Entry, *, is_folder: bool) -> None:
    """Refuse what nobody uploads, and what not every reader reads alike. Raises `ArchiveError`."""
    kind = stat.S_IFDIR if is_folder else stat.S_IFREG
    if stat.S_IFMT(entry.attributes >> 16) not in (0, kind):
        raise odd("a link or a special file")
    if entry.flags & ~_KNOWN_FLAGS:
        raise odd("an encrypted member, or one of a kind that nothing writes")
    if entry.method not in (STORED, DEFLATED):
        raise odd("a member that is neither stored nor deflated")
    if entry.method == STORED and entry.packed != entry.size:
        raise odd("a member of another size than it says")
    if entry.packed > entry.size + entry.size // 8 + _LEAST_PACKED:
        raise odd("a member that takes far more room than it needs")
