"""A lock between processes and threads that ends with its owner, however that one dies; on Windows too."""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from freeze_gate.errors import NoVerdictError

_FLAGS: Final = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_held = threading.local()


@contextlib.contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold the lock of the file at `path`, which is made where it is missing, and never removed.

    Removing it would let a third process lock a new file of the same name. A thread that holds it may take it again:
    the garbage collector can end an abandoned call at any moment. Raises `NoVerdictError` where it cannot be locked.
    """
    held = _held.__dict__.setdefault("paths", set())
    if (key := path.absolute()) in held:
        yield
        return
    try:
        descriptor = os.open(path, _FLAGS, 0o666)
    except OSError as error:
        raise NoVerdictError(f"cannot lock {path}: {error.strerror}") from error
    try:
        _acquire(descriptor)
        held.add(key)
        yield
    finally:
        held.discard(key)
        os.close(descriptor)  # releases the lock


if sys.platform == "win32":  # pragma: no cover - elsewhere
    import msvcrt

    def _acquire(descriptor: int) -> None:
        while True:
            with contextlib.suppress(OSError):  # it gives up after ten seconds
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
                return

else:
    import fcntl

    def _acquire(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
