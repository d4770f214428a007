"""A zip or a folder, opened for reading in place. Nothing is ever extracted to disk.

All members are checked before any of them is opened. One bad member makes the whole archive invalid: which members of a
crafted archive are harmless depends on the program that reads it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from freeze_gate.evidence.archive.base import Archive, ArchiveError, RecordBudget, archive_errors
from freeze_gate.evidence.archive.directory import DirectoryArchive
from freeze_gate.evidence.archive.zip import ZipArchive

__all__ = ["Archive", "ArchiveError", "RecordBudget", "open_archive"]


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open a zip or a folder. Raises `ArchiveError`."""
    if path.is_dir():
        with archive_errors("the folder"):
            folder = DirectoryArchive(path)
        yield folder
        return
    with archive_errors("the zip"):
        if not path.is_file():  # a FIFO would wait for ever
            raise ArchiveError("archive-invalid", "it is neither a file nor a folder")
        stream = path.open("rb")
    with stream:
        with archive_errors("the zip"):
            archive = ZipArchive(stream)
        yield archive
