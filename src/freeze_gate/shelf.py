"""Lines in a temporary file: what grows with the number of fixtures is kept there, and not in memory."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import SEEK_END
from threading import Lock
from typing import BinaryIO

from freeze_gate.errors import NoVerdictError


class Shelf:
    """Any thread may put a line there and get it back by its place. Raises `NoVerdictError` where the disk is full."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lock = Lock()
        self._end: int | None = None  # where the next line goes, if that is where the file stands

    def put(self, line: bytes) -> int:
        """Keep a line, which has no line end in it, and return its place."""
        with self._lock, _kept():
            place = self._file.seek(0, SEEK_END) if self._end is None else self._end
            self._end = place + self._file.write(line + b"\n")
        return place

    def get(self, place: int) -> bytes:
        """Return a line that was kept."""
        with self._lock, _kept():
            self._end = None
            self._file.seek(place)
            return self._file.readline()


@contextmanager
def temporary_shelf() -> Iterator[Shelf]:
    """Make a shelf that is gone with the process, however it ends. Raises `NoVerdictError`."""
    with ExitStack() as stack:
        with _kept():
            file = stack.enter_context(tempfile.TemporaryFile())
        yield Shelf(file)


@contextmanager
def _kept() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        words = f"the evidence cannot be kept in a temporary file ({error.strerror}): free some space, run again"
        raise NoVerdictError(words) from None
