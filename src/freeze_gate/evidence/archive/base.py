"""What a zip and a folder have in common for a reader: members by name, limits, and one error for all that is odd."""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, NamedTuple, Protocol
from zipfile import BadZipFile

from freeze_gate.evidence.limits import Limits
from freeze_gate.evidence.models import CheckFailure

LIMITS: Final = Limits()

_UNREADABLE: Final = (OSError, ValueError, EOFError, OverflowError, RuntimeError, zlib.error, struct.error, BadZipFile)
"""What reading a broken zip or a folder that changes raises: a name that cannot be decoded is a `ValueError`, what
`zipfile` does not support a `RuntimeError`."""


class ArchiveError(Exception):
    """The archive, or a member of it, cannot be used; `fault` says by which check."""

    def __init__(self, check: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = CheckFailure(check, detail)


class Archive(Protocol):
    """Regular files by name; a name is relative, its separator `/`.

    Naming them, opening one and reading it may raise what `archive_errors` turns into an `ArchiveError`.
    """

    records: list[str]
    """Those that are records."""

    record_bytes: int
    """What the records come to, in bytes as their sizes say it."""

    def __iter__(self) -> Iterator[str]:
        """Name all of them."""

    def open(self, name: str) -> BinaryIO:
        """Open one of them. Raises `KeyError` where there is none of that name."""


@contextmanager
def archive_errors(what: str) -> Iterator[None]:
    """Turn whatever a broken archive raises while it is read into an `archive-invalid`."""
    try:
        yield
    except _UNREADABLE as error:
        raise ArchiveError("archive-invalid", f"{what} cannot be read ({type(error).__name__})") from None


def invalid_archive(words: str) -> ArchiveError:
    """Say what the archive holds that it may not hold."""
    return ArchiveError("archive-invalid", f"it holds {words}")


def normalize_member_name(name: str) -> str:
    r"""Read `/` and `\` as separators and drop empty and `.` parts, as whoever unpacks it would.

    Raises `ArchiveError` for a name that could lead outside, and for one that is empty. A folder's name keeps its `/`.
    """
    plain = name.replace("\\", "/")
    parts = plain.split("/")
    if "\0" in plain or plain.startswith("/") or plain[1:2] == ":" or ".." in parts:
        raise invalid_archive("a member with an absolute path or a .. part")
    if "" in parts or "." in parts:
        kept = "/".join(part for part in parts if part not in ("", "."))
        plain = f"{kept}/" if parts[-1] in ("", ".") and kept else kept
    if not plain and name not in ("./", "."):
        raise invalid_archive("a member without a name")
    return plain


def is_record(name: str) -> bool:
    """Whether a member is a record: a `*.json` directly in a `records/` folder, at any depth."""
    return name.endswith(".json") and f"/{name}".rsplit("/", 2)[-2] == "records"


def check_member_count(count: int) -> None:
    """Refuse more members than anybody reads. Raises `ArchiveError`."""
    if count > LIMITS.members:
        raise ArchiveError("archive-limits", f"it holds over {LIMITS.members} members")


class _Limit(NamedTuple):
    exceeded: bool
    words: str


class ArchiveSize:
    """What the members of an archive come to, in bytes as their sizes say it. `records` names the records."""

    def __init__(self) -> None:
        self.records: list[str] = []
        self.record_bytes = 0
        self._largest = self._total = 0

    def add(self, name: str, size: int) -> None:
        """Count one more member."""
        self._largest = max(self._largest, size)
        self._total += size
        if is_record(name):
            self.records.append(name)
            self.record_bytes += size

    def check(self, packed_bytes: int | None = None) -> None:
        """Refuse more than anybody reads; `packed_bytes` is the archive's own size. Raises `ArchiveError`."""
        dense = packed_bytes is not None and self._total > LIMITS.ratio * packed_bytes
        for limit in (
            _Limit(self._largest > LIMITS.member_bytes, "a member of over 4 GiB"),
            _Limit(self._total > LIMITS.total_bytes, "over 8 GiB in all"),
            _Limit(self.record_bytes > LIMITS.records_bytes, "over 64 MiB of records"),
            _Limit(dense and self._total > LIMITS.ratio_free_bytes, f"over {LIMITS.ratio} times its own size"),
        ):
            if limit.exceeded:
                raise ArchiveError("archive-limits", f"it holds {limit.words}")


class RecordBudget:
    """What the records of all archives of one run may come to together, because all of them are kept in memory.

    Several threads may charge it: appending to a list is atomic.
    """

    def __init__(self) -> None:
        self._counts: list[int] = []
        self._sizes: list[int] = []

    def charge(self, archive: Archive) -> None:
        """Count the records of one more archive. Raises `ArchiveError` where they are too many."""
        self._counts.append(len(archive.records))
        self._sizes.append(archive.record_bytes)
        if sum(self._counts) > LIMITS.members:
            raise ArchiveError("archive-limits", f"the archives of this run hold over {LIMITS.members} records")
        if sum(self._sizes) > LIMITS.records_bytes:
            raise ArchiveError("archive-limits", "the archives of this run hold over 64 MiB of records")
