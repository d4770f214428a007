"""Zips as an upload step makes them, and zips written byte by byte, so that each field can lie."""

import stat
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

WIDE: Final = 0xFFFFFFFF
FILE: Final = (stat.S_IFREG | 0o644) << 16
LINK: Final = (stat.S_IFLNK | 0o777) << 16
FOLLOWS: Final = 0x8  # the sizes stand behind the member
UTF8: Final = 0x800


class Member(NamedTuple):
    """A member, and what its entry in the table and its own header say; None is the truth."""

    name: str | bytes
    content: bytes = b""
    method: int = 8
    flags: int = FOLLOWS
    attributes: int = FILE
    crc: int | None = None
    packed: int | None = None
    size: int | None = None
    offset: int | None = None
    extra: bytes = b""
    local_name: bytes | None = None
    local_flags: int | None = None
    local_method: int | None = None
    local_sizes: tuple[int, int, int] | None = None
    raw: bytes | None = None


def deflated(content: bytes) -> bytes:
    """Compress as a zip's members are."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return deflate.compress(content) + deflate.flush()


def craft(
    *members: Member,
    count: int | None = None,
    table_size: int | None = None,
    table_offset: int | None = None,
    wide: bool = False,
    before: bytes = b"",
    between: bytes = b"",
    comment: bytes = b"",
) -> bytes:
    """Write a zip as the uploader does: deflated, sizes behind the members, no folders, no comment."""
    body, table = bytearray(before), bytearray()
    for member in members:
        raw_name = member.name.encode() if isinstance(member.name, str) else member.name
        raw = member.raw
        if raw is None:
            raw = deflated(member.content) if member.method == 8 else member.content
        crc = zlib.crc32(member.content) if member.crc is None else member.crc
        packed = len(raw) if member.packed is None else member.packed
        size = len(member.content) if member.size is None else member.size
        offset = len(body) if member.offset is None else member.offset
        follows = bool(member.flags & FOLLOWS)
        local = member.local_sizes or ((0, 0, 0) if follows else (crc, packed, size))
        local_name = raw_name if member.local_name is None else member.local_name
        flags = member.flags if member.local_flags is None else member.local_flags
        method = member.method if member.local_method is None else member.local_method
        body += struct.pack("<4s5H3L2H", b"PK\3\4", 20, flags, method, 0, 0x5B7D, *local, len(local_name), 0)
        body += local_name + raw
        if follows:
            body += struct.pack("<4s3L", b"PK\7\x08", crc, min(packed, WIDE), min(size, WIDE))
        extra = member.extra
        if wide:
            extra += struct.pack("<2H3Q", 1, 24, size, packed, offset)
            size = packed = offset = WIDE
        lengths = (len(raw_name), len(extra), 0, 0, 0)
        table += struct.pack(
            "<4s6H3L5H2L",
            b"PK\1\2",
            0x032D,
            20,
            member.flags,
            member.method,
            0,
            0x5B7D,
            crc,
            packed,
            size,
            *lengths,
            member.attributes,
            offset,
        )
        table += raw_name + extra
    count = len(members) if count is None else count
    table_size = len(table) if table_size is None else table_size
    table_offset = len(body) if table_offset is None else table_offset
    end = bytes(body) + bytes(table) + between
    if wide:
        place = len(end)
        end += struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, table_size, table_offset)
        end += struct.pack("<4sLQL", b"PK\6\7", 0, place, 1)
        count, table_size, table_offset = 0xFFFF, WIDE, WIDE
    return (
        end + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, table_size, table_offset, len(comment)) + comment
    )


def make_zip(members: Mapping[str, bytes], root: str = "") -> bytes:
    """Zip members, by their names below `root`."""
    return craft(*(Member(root + name, content) for name, content in members.items()))


def zip_folder(folder: Path, root: str = "") -> bytes:
    """Zip the files of a folder, without hidden ones."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return make_zip({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}, root)
