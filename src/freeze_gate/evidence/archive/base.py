"""The interface of an archive, its limits, and the one error for an archive that cannot be used."""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, Protocol
from zipfile import BadZipFile

from freeze_gate.evidence.abbreviation import printable_name
from freeze_gate.evidence.limits import Limits
from freeze_gate.evidence.models import CheckFailure

LIMITS: Final = Limits()

_UNREADABLE: Final = (OSError, ValueError, EOFError, OverflowError, RuntimeError, zlib.error, struct.error, BadZipFile)
"""What reading a broken zip or a folder that changes raises: a name that cannot be decoded is a `ValueError`, what
`zipfile` does not support a `RuntimeError`."""


class ArchiveError(Exception):
    """The archive, or a member of it, cannot be used; `fault` names the check that fails."""

    def __init__(self, check: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = CheckFailure(check, detail)


class Archive(Protocol):
    """Regular files by name. A name is relative, and its separator is `/`.

    All methods, and reading an open member, may raise what `archive_errors` turns into an `ArchiveError`.
    """

    records: list[str]
    """The names of the records."""

    ignored_records: list[str]
    """The names of the AppleDouble files beside the records."""

    record_bytes: int
    """The size of all records together, as the archive declares it."""

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all files."""

    def open(self, name: str) -> BinaryIO:
        """Open a file. Raises `KeyError` if there is none with that name."""


@contextmanager
def archive_errors(what: str) -> Iterator[None]:
    """Turn what a broken archive raises while it is read into an `archive-invalid`."""
    try:
        yield
    except _UNREADABLE as error:
        raise ArchiveError("archive-invalid", f"{what} cannot be read ({type(error).__name__})") from None


def invalid_archive(content: str) -> ArchiveError:
    """Return an `archive-invalid` that names what an archive may not hold."""
    return ArchiveError("archive-invalid", f"it holds {content}")


def normalize_member_name(name: str) -> str:
    r"""Read `/` and `\` as separators and drop empty and `.` parts, as a program that unpacks the archive does.

    Raises `ArchiveError` for an empty name and for one that could lead outside. A folder's name keeps its final `/`.
    """
    plain = name.replace("\\", "/")
    parts = plain.split("/")
    if "\0" in plain or plain.startswith("/") or plain[1:2] == ":" or ".." in parts:
        raise invalid_archive("a member with an absolute path or a .. part")
    if "" in parts or "." in parts:
        plain = "/".join(part for part in parts if part not in ("", "."))
        if plain and parts[-1] in ("", "."):
            plain += "/"
    if not plain and name not in ("./", "."):
        raise invalid_archive("a member without a name")
    return plain


def is_record(name: str) -> bool:
    """Whether a member is a record: a `*.json` directly in a `records/` folder, at any depth.

    `._NAME.json` is none: macOS stores the attributes of `NAME.json` there on a file system that has none
    (AppleDouble, RFC 1740), and no fixture id begins with a dot.
    """
    return _is_in_records(name) and not _is_apple_double(name)


def _is_in_records(name: str) -> bool:
    return name.endswith(".json") and f"/{name}".rsplit("/", 2)[-2] == "records"


def _is_apple_double(name: str) -> bool:
    return name.rpartition("/")[2].startswith("._")


def check_member_count(count: int) -> None:
    """Raise `ArchiveError` if there are too many members."""
    if count > LIMITS.members:
        raise ArchiveError("archive-limits", f"it holds over {LIMITS.members} members")


class MemberTable:
    """What an archive's members are: their names, and their declared sizes in bytes."""

    def __init__(self) -> None:
        self.records: list[str] = []
        self.ignored_records: list[str] = []
        self.record_bytes = 0
        self._spellings: dict[str, str] = {}
        self._largest = self._total = 0

    def add_name(self, name: str) -> None:
        """Add the name of a file or a folder. Raises `ArchiveError` if it differs from another in case alone.

        Such names are one file on some file systems, and `Records/` is a folder that nothing reads.
        """
        path = name.removesuffix("/")
        for spelling in (path, path.rpartition("/")[0]):
            other = self._spellings.setdefault(spelling.casefold(), spelling)
            if other != spelling:
                names = f"{printable_name(other)} and {printable_name(spelling)}"
                raise invalid_archive(f"names that are equal but for case: {names}")

    def add_file(self, name: str, size: int) -> None:
        """Add the size of a file."""
        self._largest = max(self._largest, size)
        self._total += size
        if not _is_in_records(name):
            return
        if _is_apple_double(name):
            self.ignored_records.append(name)
        else:
            self.records.append(name)
            self.record_bytes += size

    def check(self, packed_bytes: int | None = None) -> None:
        """Compare with the limits. `packed_bytes` is the size of a compressed archive. Raises `ArchiveError`."""
        if self._largest > LIMITS.member_bytes:
            raise ArchiveError("archive-limits", "it holds a member of over 4 GiB")
        if self._total > LIMITS.total_bytes:
            raise ArchiveError("archive-limits", "it holds over 8 GiB in all")
        if self.record_bytes > LIMITS.records_bytes:
            raise ArchiveError("archive-limits", "it holds over 64 MiB of records")
        if packed_bytes is not None and self._total > max(LIMITS.ratio_free_bytes, LIMITS.ratio * packed_bytes):
            raise ArchiveError("archive-limits", f"it holds over {LIMITS.ratio} times its own size")


class RecordBudget:
    """Limits the records of all archives of one run together, because all of them are kept in memory.

    Several threads may charge it: appending to a list is atomic.
    """

    def __init__(self) -> None:
        self._counts: list[int] = []
        self._sizes: list[int] = []

    def charge(self, archive: Archive) -> None:
        """Add the records of an archive. Raises `ArchiveError` if the run has too many."""
        self._counts.append(len(archive.records))
        self._sizes.append(archive.record_bytes)
        if sum(self._counts) > LIMITS.members:
            raise ArchiveError("archive-limits", f"the archives of this run hold over {LIMITS.members} records")
        if sum(self._sizes) > LIMITS.records_bytes:
            raise ArchiveError("archive-limits", "the archives of this run hold over 64 MiB of records")
