"""The members of a zip or a folder, each opened as a stream. Nothing is ever extracted to disk.

A zip is looked through as a whole before any member is opened: one that is odd anywhere is refused everywhere, because
a reader that picks the harmless members of a crafted archive can be led to another choice than the next reader's.
"""

import os
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, Protocol

from freeze_gate.evidence.limits import Limits
from freeze_gate.evidence.side import Fault

LIMITS: Final = Limits()

_DEFLATED_OR_STORED: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED: Final = 0x1
_UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError, OverflowError)
"""What `zipfile` raises for bytes that are no zip; NotImplementedError and UnicodeError are kinds of two of them."""


class ArchiveError(Exception):
    """The archive, or a member of it, cannot be used; `fault` says by which check."""

    def __init__(self, check: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = Fault(check, detail)


class Tree(Protocol):
    """Members by name, with their sizes in bytes; a name is relative, its separator `/`."""

    @property
    def sizes(self) -> Mapping[str, int]:
        """All regular files."""

    def open(self, name: str) -> BinaryIO:
        """Open one of them. Reading it may raise what `reading` turns into an `ArchiveError`."""


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn whatever a broken archive raises while it is read into an `archive-invalid`."""
    try:
        yield
    except _UNREADABLE as error:
        raise ArchiveError("archive-invalid", f"{what} cannot be read ({type(error).__name__})") from None


@contextmanager
def open_tree(path: Path) -> Iterator[Tree]:
    """Open a zip or a folder. Raises `ArchiveError`."""
    if path.is_dir():
        with reading("the folder"):
            tree = _Folder(path)
        yield tree
        return
    with reading("the zip"):
        archive = zipfile.ZipFile(path)
    with archive:
        yield _Zip(archive, path.stat().st_size)


class _Zip:
    def __init__(self, archive: zipfile.ZipFile, packed_bytes: int) -> None:
        self._archive = archive
        entries = archive.infolist()
        _limit_count(len(entries))
        self._members: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            name = _relative(entry.orig_filename)
            _refuse_odd(entry)
            if entry.is_dir() or name.endswith("/"):
                continue
            if name in self._members:
                raise ArchiveError("archive-invalid", "it holds two members of one name")
            self._members[name] = entry
        self.sizes = {name: entry.file_size for name, entry in self._members.items()}
        _limit_sizes(self.sizes, packed_bytes)

    def open(self, name: str) -> BinaryIO:
        return self._archive.open(self._members[name])  # type: ignore[return-value]


class _Folder:
    def __init__(self, root: Path) -> None:
        self._root = root
        self.sizes: dict[str, int] = {}
        for name, status in _walk(root, ""):
            self.sizes[name] = status.st_size
            _limit_count(len(self.sizes))
        _limit_sizes(self.sizes, None)

    def open(self, name: str) -> BinaryIO:
        descriptor = os.open(self._root / name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        return os.fdopen(descriptor, "rb")


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                yield from _walk(folder / entry.name, f"{prefix}{entry.name}/")
            elif stat.S_ISREG(status.st_mode):
                yield prefix + entry.name, status
            else:
                raise ArchiveError("archive-invalid", "it holds a link or a special file")


def _relative(name: str) -> str:
    """Read both separators as `/`; refuse every name that could lead outside."""
    plain = name.replace("\\", "/")
    if "\0" in plain or plain.startswith("/") or plain[1:2] == ":" or ".." in plain.split("/"):
        raise ArchiveError("archive-invalid", "it holds a member with an absolute path or a .. part")
    return plain


def _refuse_odd(entry: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ArchiveError("archive-invalid", "it holds a link or a special file")
    if entry.flag_bits & _ENCRYPTED:
        raise ArchiveError("archive-invalid", "it holds an encrypted member")
    if entry.compress_type not in _DEFLATED_OR_STORED:
        raise ArchiveError("archive-invalid", "it holds a member that is neither stored nor deflated")


def _limit_count(count: int) -> None:
    if count > LIMITS.members:
        raise ArchiveError("archive-limits", f"it holds over {LIMITS.members} members")


class _Limit(NamedTuple):
    exceeded: bool
    words: str


def _limit_sizes(sizes: Mapping[str, int], packed_bytes: int | None) -> None:
    total = sum(sizes.values())
    records = sum(size for name, size in sizes.items() if is_record(name))
    for limit in (
        _Limit(max(sizes.values(), default=0) > LIMITS.member_bytes, "a member of over 4 GiB"),
        _Limit(total > LIMITS.total_bytes, "over 8 GiB in all"),
        _Limit(records > LIMITS.records_bytes, "over 64 MiB of records"),
        _Limit(
            packed_bytes is not None and total > LIMITS.ratio_free_bytes and total > LIMITS.ratio * packed_bytes,
            f"over {LIMITS.ratio} times its own size",
        ),
    ):
        if limit.exceeded:
            raise ArchiveError("archive-limits", f"it holds {limit.words}")


def is_record(name: str) -> bool:
    """Whether a member is a record: a `*.json` directly in a `records/` folder, at any depth."""
    return name.endswith(".json") and f"/{name}".rsplit("/", 2)[-2] == "records"
