"""A folder as an archive of its regular files. A link or a special file anywhere in it makes it unreadable."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from freeze_gate.evidence.archive.base import ArchiveSize, check_member_count, invalid_archive

_READ: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""The file may have been replaced since it was listed: follow no link and wait for no FIFO."""


class DirectoryArchive:
    """The files below a folder by name. Raises `ArchiveError` and `OSError`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names: set[str] = set()
        size = ArchiveSize()
        for count, (name, status) in enumerate(_walk(root), 1):
            check_member_count(count)
            if stat.S_ISREG(status.st_mode):
                self._names.add(name)
                size.add(name, status.st_size)
            elif not stat.S_ISDIR(status.st_mode):
                raise invalid_archive("a link or a special file")
        size.check()
        self.records = size.records
        self.record_bytes = size.record_bytes

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
            raise invalid_archive("a link or a special file")
        return stream


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
