"""Lines outside of memory: what grows with the number of fixtures is kept in a temporary file."""

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import BinaryIO, Final, Self

from freeze_gate.errors import NoVerdictError

_IN_MEMORY: Final = 1 << 20
"""Bytes that need no file yet: most runs have no more."""


class _Kept:
    """Says in words that a file could not be written or read. A class, because a generator costs more than the work."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, OSError):
            words = f"no temporary file can be written ({error.strerror}): free some space, or name a folder in TMPDIR"
            raise NoVerdictError(words) from None


_KEPT: Final = _Kept()


class Shelf:
    """Any thread may put a line there and get it back by its place, until it is closed.

    The file has no name, so it is gone with the process, however that ends. Raises `NoVerdictError` where there is no
    room for it.
    """

    def __init__(self) -> None:
        self._file: BinaryIO = io.BytesIO()
        self._lock = Lock()
        self._end: int | None = 0  # where the next line goes, if that is where the file stands

    def __enter__(self) -> Self:
        """Use it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        _discard(self._file)

    def put(self, line: bytes) -> int:
        """Keep a line, which has no line end in it, and return its place."""
        with self._lock, _KEPT:
            place = self._file.seek(0, io.SEEK_END) if self._end is None else self._end
            if isinstance(self._file, io.BytesIO) and place > _IN_MEMORY:
                self._file = _moved(self._file)
            self._end = place + self._file.write(line + b"\n")
        return place

    def get(self, place: int) -> bytes:
        """Return a line that was kept."""
        with self._lock, _KEPT:
            self._end = None
            self._file.seek(place)
            return self._file.readline()


@contextmanager
def whole(pieces: Iterable[bytes]) -> Iterator[BinaryIO]:
    """Hand out what is made piece by piece only when all of it is there. Raises what `pieces` raise."""
    with _KEPT:
        file = _temporary()
    try:
        for piece in pieces:
            with _KEPT:
                file.write(piece)
        with _KEPT:
            file.seek(0)
        yield file
    finally:
        _discard(file)


def _moved(memory: io.BytesIO) -> BinaryIO:
    file = _temporary()
    file.write(memory.getbuffer())
    return file


def _temporary() -> BinaryIO:
    from tempfile import TemporaryFile  # its import takes a tenth of the time of a small run

    return TemporaryFile()


def _discard(file: BinaryIO) -> None:
    with suppress(OSError):  # what could not be written would be tried once more, and is thrown away with the rest
        file.close()
