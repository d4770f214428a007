"""A zip as an archive, read by `zipfile`.

`zipfile` builds its whole table before anybody can count it, and hands out a member that ends early without an error.
So the end record (PKWARE's APPNOTE.TXT 6.3, sections 4.3.14 to 4.3.16) is read here first, and the length of each
member is checked while it is read. If a member's own header contradicts the table, it is read as `zipfile` reads it:
whoever can craft such a zip can write any record into it.
"""

import io
import stat
import struct
from collections.abc import Iterator
from typing import IO, BinaryIO, Final, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from freeze_gate.evidence.abbreviation import printable_name
from freeze_gate.evidence.archive.base import (
    ArchiveError,
    MemberTable,
    check_member_count,
    invalid_archive,
    normalize_member_name,
)

_END: Final = struct.Struct("<4s4H2LH")
_END64_LOCATOR: Final = struct.Struct("<4sLQL")
_END64: Final = struct.Struct("<4sQ2H2L4Q")
_ENTRY_SIGNATURE: Final = b"PK\1\2"
_MAX_TABLE_BYTES: Final = 10 << 20
"""What 50,000 members with names of 160 characters need; as a table in memory it takes up to ten times as much."""

_KNOWN_FLAGS: Final = 0x800 | 0x8 | 0x6
"""The name is UTF-8; sizes and checksum stand behind the member; how hard the compressor tried."""

_MIN_PACKED_BYTES: Final = 4 << 10
"""What any member may take: deflate adds 5 bytes for each 65,535, and streams that are flushed often a few more."""


class ZipArchive:
    """The members of a zip by name, all of them checked before any is opened.

    Raises `ArchiveError`, and what `zipfile` raises for a broken zip.
    """

    def __init__(self, stream: BinaryIO) -> None:
        count = _count_members(stream)
        self._zip = ZipFile(stream)
        if len(self._zip.infolist()) != count:
            raise invalid_archive("a table of contents that is not as long as it says")
        self._members: dict[str, ZipInfo] = {}
        table = MemberTable()
        for member in self._zip.infolist():
            name = normalize_member_name(member.orig_filename)
            _reject_unsupported(name, member)
            if name in self._members:
                raise invalid_archive(f"two members of one name: {printable_name(name)}")
            table.add_name(name)
            if not _is_folder(name):
                self._members[name] = member
                table.add_file(name, member.file_size)
        table.check(stream.seek(0, io.SEEK_END))
        self.records = table.records
        self.ignored_records = table.ignored_records
        self.record_bytes = table.record_bytes

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all files."""
        return iter(self._members)

    def open(self, name: str) -> BinaryIO:
        """Open a file. Raises `KeyError` if there is none with that name."""
        member = self._members[name]
        return cast("BinaryIO", _Member(self._zip.open(member), member.file_size))


class _Member(io.BufferedIOBase):
    """A member that is exactly as long as the table says, or an error; `zipfile` compares its checksum."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self._stream = stream
        self._left = size

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            size = self._left + 1  # `zipfile` would inflate up to a gigabyte before it looks at the declared size
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left and len(data) < size:
            raise invalid_archive("a member that is shorter than it says")
        return data

    def close(self) -> None:
        self._stream.close()
        super().close()


def _count_members(stream: BinaryIO) -> int:
    """Read how many members there are from the end record. Raises `ArchiveError` if there are too many.

    The record must be the file's last bytes: then `zipfile` reads the same one. Its count may lie, so the entries of
    the table are counted as well.
    """
    end = stream.seek(0, io.SEEK_END) - _END.size
    if end < 0:
        raise ArchiveError("archive-invalid", "it is no zip")
    signature, *_, count, table_size, _, comment_size = _END.unpack(_read(stream, end, _END.size))
    if signature != b"PK\5\6" or comment_size:
        raise ArchiveError("archive-invalid", "it is no zip, is cut off, or has something behind its end")
    locator = end - _END64_LOCATOR.size
    if locator >= 0 and _read(stream, locator, 4) == b"PK\6\7":
        _, _, end, _ = _END64_LOCATOR.unpack(_read(stream, locator, _END64_LOCATOR.size))
        if end + _END64.size != locator:
            raise invalid_archive("a 64-bit end record that is not where it must be")
        signature, *_, count, table_size, _ = _END64.unpack(_read(stream, end, _END64.size))
        if signature != b"PK\6\6":
            raise invalid_archive("a 64-bit end record that is not where it must be")
    check_member_count(count)
    if table_size > _MAX_TABLE_BYTES:
        raise ArchiveError("archive-limits", f"its table of contents is over {_MAX_TABLE_BYTES >> 20} MiB")
    if table_size > end:
        raise invalid_archive("a table of contents that is not where it must be")
    check_member_count(_read(stream, end - table_size, table_size).count(_ENTRY_SIGNATURE))
    return int(count)


def _read(stream: BinaryIO, offset: int, size: int) -> bytes:
    stream.seek(offset)
    return stream.read(size)


def _reject_unsupported(name: str, member: ZipInfo) -> None:
    """Refuse what no uploader writes. Raises `ArchiveError`."""
    kind = stat.S_IFDIR if _is_folder(name) else stat.S_IFREG
    if stat.S_IFMT(member.external_attr >> 16) not in (0, kind):
        raise invalid_archive(f"a link or a special file: {printable_name(name)}")
    if member.flag_bits & ~_KNOWN_FLAGS:
        raise invalid_archive("an encrypted member, or one of a kind that nothing writes")
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise invalid_archive("a member that is neither stored nor deflated")
    if member.compress_size > member.file_size + member.file_size // 8 + _MIN_PACKED_BYTES:
        raise invalid_archive("a member that takes far more room than it needs")


def _is_folder(name: str) -> bool:
    return not name or name.endswith("/")
