"""A folder as an archive of its regular files. A link or a special file anywhere in it makes it unreadable."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from freeze_gate.evidence.abbreviation import printable_name
from freeze_gate.evidence.archive.base import ArchiveError, MemberTable, check_member_count, invalid_archive

_READ: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""The file may have been replaced since it was listed: follow no link and wait for no FIFO."""


class DirectoryArchive:
    """The files below a folder by name. Raises `ArchiveError` and `OSError`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names: set[str] = set()
        table = MemberTable()
        for count, (name, status) in enumerate(_walk(root), 1):
            check_member_count(count)
            table.add_name(name)
            if stat.S_ISREG(status.st_mode):
                self._names.add(name)
                table.add_file(name, status.st_size)
            elif not stat.S_ISDIR(status.st_mode):
                raise _special_file(name)
        table.check()
        self.records = table.records
        self.ignored_records = table.ignored_records
        self.record_bytes = table.record_bytes

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all files."""
        return iter(self._names)

    def open(self, name: str) -> BinaryIO:
        """Open a file. Raises `KeyError` if there was none with that name when the folder was listed."""
        if name not in self._names:
            raise KeyError(name)
        stream = os.fdopen(os.open(self._root / name, _READ), "rb")
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            stream.close()
            raise _special_file(name)
        return stream


def _special_file(name: str) -> ArchiveError:
    return invalid_archive(f"a link or a special file: {printable_name(name)}")


def _walk(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """List everything below a folder. Not recursive, because a stranger decides how deep it is."""
    pending = [""]
    while pending:
        prefix = pending.pop()
        with os.scandir(root / prefix) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                yield prefix + entry.name, status
                if stat.S_ISDIR(status.st_mode):
                    pending.append(f"{prefix}{entry.name}/")
