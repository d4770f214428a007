"""Zips by strangers: read as every reader must read them, or refused by the id of a check; nothing else comes out."""

import contextlib
import io
import os
import random
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freeze_gate.evidence.archive import ArchiveError, base, open_archive
from freeze_gate.evidence.archive.base import archive_errors
from freeze_gate.evidence.archive.zip import ZipArchive
from freeze_gate.evidence.digest import CHUNK, hash_stream
from tests.builders.zip import FOLLOWS, LINK, UTF8, WIDE, Member, craft, deflated

HELLO = Member("freeze-gate/records/a.json", b"hello hello hello")
FOLDER = 0o040755 << 16


def contents(payload: bytes) -> dict[str, bytes]:
    """Read all of a zip. Raises `ArchiveError` and nothing else."""
    with archive_errors("the zip"):
        archive = ZipArchive(io.BytesIO(payload))
        found = {}
        for name in archive:
            with archive.open(name) as stream:
                found[name] = stream.read()
        return found


def refused(payload: bytes) -> tuple[str, str]:
    """Return the check and the words that a zip is refused with."""
    with pytest.raises(ArchiveError) as caught:
        contents(payload)
    return caught.value.fault


def test_a_zip_as_the_uploader_writes_it_is_read() -> None:
    """Deflated, its sizes behind each member, in any order, an empty file included."""
    members = (HELLO, Member("freeze-gate/fixtures/e3b0.json"), Member("b", b"x" * 100))
    assert contents(craft(*members)) == {str(member.name): member.content for member in members}
    assert contents(craft()) == {}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("seekable", [True, False])
def test_a_zip_of_the_standard_library_is_read(method: int, seekable: bool) -> None:
    """Written to a file or to a pipe, with folders in it."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return seekable

        def tell(self) -> int:
            if not seekable:
                raise io.UnsupportedOperation
            return super().tell()

    out = Pipe()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.mkdir("records")
        archive.writestr("records/ü.json", b"{}" * 1000)
        archive.writestr("records/a.json", b"")
    assert contents(out.getvalue()) == {"records/ü.json": b"{}" * 1000, "records/a.json": b""}


def test_a_zip_with_the_64_bit_extension_is_read() -> None:
    """As writers make it that do not know the sizes in advance."""
    assert contents(craft(HELLO, Member("b", b"y"), wide=True)) == {str(HELLO.name): HELLO.content, "b": b"y"}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, archive.open("a", "w", force_zip64=True) as stream:
        stream.write(b"z" * 10)
    assert contents(out.getvalue()) == {"a": b"z" * 10}


def test_names_are_read_as_whoever_unpacks_it_would() -> None:
    """Both separators, and parts that say nothing."""
    folders = (Member(name, attributes=0) for name in ("./", "e/", "e/", "f\\"))
    assert set(contents(craft(*folders, *map(Member, (r"a\records\x.json", "./b//c/./d", "G", "h"))))) == {
        "a/records/x.json",
        "b/c/d",
        "G",
        "h",
    }
    assert set(contents(craft(Member("é", flags=FOLLOWS | UTF8), Member(b"\x81")))) == {"é", "ü"}


@pytest.mark.parametrize(
    "name",
    [
        "../../x",
        "/etc/x",
        "a/../../x",
        r"..\x",
        r"\\server\x",
        "C:/x",
        r"c:\x",
        "a/..",
        "records/a.json\0.txt",
        "",
        "..",
        "//",
    ],
)
def test_a_name_that_leads_outside_is_refused(name: str) -> None:
    """Wherever such a member would land, nobody asked for it."""
    assert refused(craft(HELLO, Member(name)))[0] == "archive-invalid"


@pytest.mark.parametrize("twin", ["a/b", "a//b", "./a/b", r"a\b", "a/./b"])
def test_two_members_of_one_name_are_refused(twin: str) -> None:
    """Readers differ on which one counts, however the name is written."""
    assert refused(craft(Member("a/b", b"1"), Member(twin, b"2"))) == (
        "archive-invalid",
        "it holds two members of one name: a/b",
    )


ODD: dict[str, Member] = {
    "a link": HELLO._replace(attributes=LINK),
    "a FIFO": HELLO._replace(attributes=0o010644 << 16),
    "a folder that is named like a file": HELLO._replace(attributes=FOLDER),
    "a file that is named like a folder": HELLO._replace(name="x/"),
    "encrypted": HELLO._replace(flags=FOLLOWS | 0x1),
    "strongly encrypted": HELLO._replace(flags=FOLLOWS | 0x41),
    "a masked header": HELLO._replace(flags=FOLLOWS | 0x2000),
    "patched": HELLO._replace(flags=FOLLOWS | 0x20),
    "bzip2": HELLO._replace(method=12),
    "lzma": HELLO._replace(method=14),
    "zstandard": HELLO._replace(method=93),
    "a wrong checksum": HELLO._replace(crc=1),
    "a smaller size": HELLO._replace(size=5),
    "a larger size": HELLO._replace(size=50),
    "a larger size stored": HELLO._replace(method=0, size=50),
    "fewer packed bytes": HELLO._replace(packed=5),
    "another name in its header": HELLO._replace(local_name=b"freeze-gate/records/b.json"),
    "a shorter name in its header": HELLO._replace(local_name=b"a"),
    "an offset in the air": HELLO._replace(offset=7),
    "an offset beyond the end": HELLO._replace(offset=10**6),
    "an offset into nothing": HELLO._replace(offset=WIDE),
    "a deflate stream of nothing, and then the bytes": HELLO._replace(
        raw=b"\0\0\0\xff\xff" * 1_000 + deflated(HELLO.content)
    ),
    "no deflate stream": HELLO._replace(raw=b"\xff" * 20),
    "half a deflate stream": HELLO._replace(raw=deflated(HELLO.content)[:-4]),
    "a name that is no UTF-8": HELLO._replace(name=b"\xff", flags=FOLLOWS | UTF8),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_an_odd_member_is_refused(odd: Member) -> None:
    """Alone, and beside others that are harmless."""
    assert refused(craft(odd))[0] == "archive-invalid"
    assert refused(craft(Member("a", b"1"), odd, Member("b", b"2")))[0] == "archive-invalid"


ENDS: dict[str, dict[str, Any]] = {
    "fewer members": {"count": 1},
    "more members": {"count": 3},
    "a shorter table": {"table_size": 50},
    "a longer table": {"table_size": 500},
    "a table elsewhere": {"table_offset": 0},
    "a table in the air": {"table_offset": WIDE},
    "something in front": {"before": b"#!/bin/sh\n", "table_offset": 0},
    "something between": {"between": b"\0" * 30},
    "a comment": {"comment": b"PK"},
    "fewer members in 64 bits": {"wide": True, "count": 1},
    "more members in 64 bits": {"wide": True, "count": 3},
    "something between in 64 bits": {"wide": True, "between": b"\0" * 30},
    "a table that is vast": {"wide": True, "table_size": 2**63},
}


@pytest.mark.parametrize("facts", ENDS.values(), ids=ENDS)
def test_an_odd_end_is_refused(facts: dict[str, Any]) -> None:
    """The table of contents must be counted right, and stand before the end record."""
    assert refused(craft(HELLO, Member("b", b"2"), **facts))[0] in {"archive-invalid", "archive-limits"}


@pytest.mark.parametrize(
    "payload", [b"", b"PK", b"not a zip" * 100, b"<html>proxy</html>" * 10, b"\x1f\x8b" + b"\0" * 99]
)
def test_what_is_no_zip_is_refused(payload: bytes) -> None:
    """An uploader may have stored the file itself, a proxy may have answered."""
    assert refused(payload)[0] == "archive-invalid"


def test_a_zip_inside_a_zip_is_bytes() -> None:
    """A pin may be a zip; its end record is not ours."""
    inner = craft(HELLO)
    assert contents(craft(Member("fixtures/x.zip", inner, method=0))) == {"fixtures/x.zip": inner}


def test_a_zip_cut_anywhere_is_refused() -> None:
    """Whatever the length that arrived, there is one error."""
    payload = craft(HELLO, Member("b", os.urandom(100)), Member("c"))
    for length in range(len(payload)):
        assert refused(payload[:length])[0] == "archive-invalid"


def test_a_zip_with_any_byte_changed_is_refused_or_the_same() -> None:
    """No single byte makes a member's content another one unseen."""
    payload = craft(HELLO, Member("b", b"second", method=0), wide=True)
    whole = contents(payload)
    rng = random.Random(7)  # noqa: S311 - chosen, not secret
    for place in range(len(payload)):
        changed = bytearray(payload)
        changed[place] ^= 1 << rng.randrange(8)
        with contextlib.suppress(ArchiveError):
            assert sorted(contents(bytes(changed)).values()) == sorted(whole.values())


def test_an_extension_that_does_not_fit_is_refused() -> None:
    """It says that it is longer than what is left for it; a zip reader of another make could read on into the next."""
    assert refused(craft(Member("a", extra=b"\1\0\xff\xff")))[0] == "archive-invalid"


@given(st.binary(max_size=300))
def test_random_bytes_never_raise_anything_else(payload: bytes) -> None:
    """With and without an end record behind them."""
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(payload), 0, 0)
    for each in (payload, payload + end, b"PK\1\2" + payload + end):
        with contextlib.suppress(ArchiveError):
            contents(each)


fields = st.sampled_from([0, 1, 5, 8, 20, 46, 99, 0x8000, 0xFFFF])
wide_fields = st.sampled_from([0, 1, 5, 8, 46, 99, 200, 0x7FFFFFFF, WIDE])


names = st.sampled_from(["a", "b", "a/b", "records/x.json", b"\xff", "x/"])
lies = {
    "content": st.binary(max_size=40),
    "method": st.sampled_from([0, 8, 8, 8, 12]),
    "flags": st.sampled_from([0, FOLLOWS, UTF8, 1]),
    **dict.fromkeys(("size", "packed", "crc", "offset"), st.none() | wide_fields),
    "extra": st.sampled_from([b"", b"\1\0\x18\0" + b"\1" * 24, b"\1\0\xff\xff", b"\1\0\4\0\0\0\0\0", b"\1"]),
}
members = st.fixed_dictionaries({"name": names}, optional=lies).map(lambda facts: Member(**facts))


@given(
    st.lists(members, max_size=4), st.none() | fields, st.none() | wide_fields, st.none() | wide_fields, st.booleans()
)
def test_a_crafted_zip_never_raises_anything_else(
    members: list[Member], count: int | None, size: int | None, offset: int | None, wide: bool
) -> None:
    """It is read or refused, and a member that is read is as long as the table says."""
    payload = craft(*members, count=count, table_size=size, table_offset=offset, wide=wide)
    with contextlib.suppress(ArchiveError):
        found = contents(payload)
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist() if not entry.is_dir()}
        assert {name: len(content) for name, content in found.items()} == sizes


# ---- limits --------------------------------------------------------------------------------------------------------


def test_members_are_counted_before_they_are_read(tmp_path: Path) -> None:
    """50,000 are read, and one more is refused by its count alone."""
    assert refused(craft(count=50_001)) == ("archive-limits", "it holds over 50000 members")
    assert refused(craft(count=2**40, wide=True))[0] == "archive-limits"
    path = tmp_path / "many.zip"
    path.write_bytes(craft(*(Member(f"f/{number}", method=0, flags=0) for number in range(50_000))))
    with open_archive(path) as found:
        assert len(list(found)) == 50_000


def declared(*sizes: int, name: str = "f/{}") -> bytes:
    """Return a zip whose members say that they are of these sizes."""
    return craft(*(Member(name.format(n), b"\0" * 1000, size=size) for n, size in enumerate(sizes)), wide=True)


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (declared(10 << 30), "a member of over 4 GiB"),
        (declared((4 << 30) + 1), "a member of over 4 GiB"),
        (declared(3 << 30, 3 << 30, 3 << 30), "over 8 GiB in all"),
        (declared(60 << 20, 5 << 20, name="b/records/{}.json"), "over 64 MiB of records"),
        (declared(65 << 20), "over 1000 times its own size"),
        (declared(2**63), "a member of over 4 GiB"),
    ],
)
def test_declared_sizes_are_limited(payload: bytes, words: str) -> None:
    """What a zip says about itself is enough to refuse it."""
    assert refused(payload) == ("archive-limits", f"it holds {words}")


def zeros(size: int) -> bytes:
    """Deflate zeros without holding them."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = b"\0" * (4 << 20)
    return b"".join(deflate.compress(piece) for _ in range(size // len(piece))) + deflate.flush()


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """64 MiB of zeros, of which 65 KiB are left."""
    return zeros(64 << 20)


def test_entries_are_counted_whatever_the_end_record_says() -> None:
    """A table that holds more entries than its count is refused before anything is built of them."""
    members = [Member(f"f/{number}", method=0, flags=0) for number in range(50_001)]
    assert refused(craft(*members, count=1)) == ("archive-limits", "it holds over 50000 members")
    assert refused(craft(HELLO, table_size=17 << 20, before=b"\0" * (17 << 20)))[0] == "archive-limits"


@pytest.mark.parametrize("size", [60 << 10, CHUNK, CHUNK + 1, 64 << 20])
def test_zeros_behind_a_lie_stay_flat_in_memory(bomb: bytes, size: int) -> None:
    """A member that inflates to more than it says is refused a chunk later; memory does not follow the claim."""
    payload = craft(Member("f", raw=bomb, size=size), Member("noise", os.urandom(100 << 10), method=0))
    archive = ZipArchive(io.BytesIO(payload))
    tracemalloc.start()
    with pytest.raises(ArchiveError, match="cannot be read"), archive_errors("a member"), archive.open("f") as stream:
        hash_stream(stream)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * CHUNK


def test_a_large_member_is_read_in_chunks(bomb: bytes) -> None:
    """64 MiB are read through with a few chunks in memory, and the checksum is that of all of it."""
    crc = 0
    for _ in range(64):
        crc = zlib.crc32(b"\0" * (1 << 20), crc)
    payload = craft(Member("f", raw=bomb, size=64 << 20, crc=crc), Member("noise", os.urandom(100 << 10), method=0))
    archive = ZipArchive(io.BytesIO(payload))
    tracemalloc.start()
    with archive.open("f") as stream:
        assert hash_stream(stream).size == 64 << 20
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * CHUNK
    wrong = ZipArchive(
        io.BytesIO(craft(Member("f", raw=bomb, size=64 << 20, crc=1), Member("n", os.urandom(100 << 10))))
    )
    with pytest.raises(ArchiveError, match="BadZipFile"), archive_errors("a member"), wrong.open("f") as stream:
        hash_stream(stream)


def pieces(stream: Any, sizes: list[int]) -> Iterator[bytes]:
    """Read a stream in pieces of these sizes, then to its end."""
    for size in sizes:
        yield stream.read(size)
    yield stream.read()


LARGE = random.Random(1).randbytes(CHUNK // 8) * 18 + b"end"  # noqa: S311 - as above
TWINS = {method: craft(Member("a", LARGE, method), Member("b", LARGE[::-1], method)) for method in (0, 8)}


@settings(max_examples=20)
@given(st.lists(st.integers(0, 3 << 20), max_size=5), st.sampled_from([0, 8]))
def test_a_large_member_can_be_read_in_any_pieces(sizes: list[int], method: int) -> None:
    """And two members of one zip by turns."""
    archive = ZipArchive(io.BytesIO(TWINS[method]))
    with archive.open("a") as ours, archive.open("b") as theirs:
        turns = zip(pieces(ours, sizes), pieces(theirs, sizes), strict=True)
        first, second = zip(*turns, strict=True)
    assert (b"".join(first), b"".join(second)) == (LARGE, LARGE[::-1])


def test_limits_are_those_of_the_contract() -> None:
    """50,000 members, 64 MiB of records, 4 GiB a member, 8 GiB in all, a ratio of 1,000 beyond 64 MiB."""
    assert base.LIMITS == (2048 << 20, 50_000, 64 << 20, 4 << 30, 8 << 30, 1_000, 64 << 20)
