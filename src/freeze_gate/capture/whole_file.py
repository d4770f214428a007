"""Files that are whole or not there at all, whenever the process dies; on Linux, macOS and Windows.

A file is written beside its place under a hidden name, flushed, and renamed. What a killed process leaves is a hidden
`.*.tmp` that no reader takes for a record or a pin.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from freeze_gate.errors import NoVerdictError, UsageError

_WRITABLE: Final = 0o666  # less the umask
_CREATE: Final = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)


@contextlib.contextmanager
def whole_file(folder: Path, chunks: Iterable[bytes], mode: int | None = None) -> Iterator[Path]:
    """Write a hidden file in `folder` and hand out its path, to be renamed; what is still there afterwards is removed.

    `mode` is set before; None leaves what the umask makes of a new file. Raises what the chunks and the system raise.
    """
    temporary = folder / f".{secrets.token_hex(8)}.tmp"
    try:
        with open(os.open(temporary, _CREATE, _WRITABLE), "wb") as stream:  # noqa: PTH123 - a descriptor
            stream.writelines(chunks)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            temporary.chmod(mode)
        yield temporary
        _sync(folder)
    finally:
        _remove(temporary)


@contextlib.contextmanager
def reported(verb: str, path: Path) -> Iterator[None]:
    """Turn what the system refuses into a `NoVerdictError`."""
    try:
        yield
    except OSError as error:
        raise NoVerdictError(f"cannot {verb} {path}: {error.strerror or type(error).__name__}") from error


def refuse_links(*paths: Path) -> None:
    """Refuse what is neither a folder nor an ordinary file: a link leads out of the bundle, a FIFO never answers.

    Raises `UsageError`. What is not there is fine.
    """
    for path in paths:
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UsageError(f"{path} cannot be looked at: {error.strerror}") from None
        if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
            raise UsageError(f"{path} is a link or an odd file, and the bundle is written through neither: remove it")


def _remove(temporary: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        try:
            temporary.unlink()
        except PermissionError:  # Windows removes no read-only file
            temporary.chmod(_WRITABLE)
            temporary.unlink()


def _sync(folder: Path) -> None:
    """Make a rename last through a power cut, where folders can be opened at all."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
