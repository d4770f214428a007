"""Files that are complete or not there at all, whenever the process dies; on Linux, macOS and Windows.

A file is written beside its place under a hidden name, flushed, and renamed. A killed process leaves a hidden `.*.tmp`,
which no reader takes for a record, a pin or a verdict. Links are looked for before anything is written, so that what a
stranger put into a checkout leads nothing out of it.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from freeze_gate.errors import NoVerdictError, UsageError

_CREATE: Final = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_WRITABLE: Final = 0o666  # less the umask
_SHARED: Final = 0o644


def write_file(folder: Path, relative: str, chunks: Iterable[bytes]) -> None:
    """Write `folder/relative`, complete or not at all: mode 0644 whatever the umask, its parents made.

    What root writes belongs to the owner of `folder`: files of root would break the next checkout there. Raises
    `NoVerdictError` where a link or anything but an ordinary file stands in the way, and where the system refuses.
    """
    try:
        refuse_links(folder)
        owner = folder.stat()
        parent = folder
        *parents, name = PurePosixPath(relative).parts
        for part in parents:
            parent /= part
            refuse_links(parent)
            if not parent.is_dir():
                parent.mkdir(0o755)
                _give_to(owner, parent)
        path = parent / name
        refuse_links(path)
        with temporary_file(parent, chunks, _SHARED) as temporary:
            _give_to(owner, temporary)
            temporary.replace(path)
    except UsageError as error:
        raise NoVerdictError(f"{relative} was not written: {error}") from None
    except OSError as error:
        raise NoVerdictError(f"{relative} was not written: {error.strerror}") from None


@contextlib.contextmanager
def temporary_file(folder: Path, chunks: Iterable[bytes], mode: int | None = None) -> Iterator[Path]:
    """Write a hidden file in `folder` and hand out its path, to be renamed; what is not renamed is removed.

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


def refuse_links(*paths: Path) -> None:
    """Refuse what is neither a folder nor an ordinary file: a link leads elsewhere, a FIFO never answers.

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
            raise UsageError(f"{path} is a link or a special file, and nothing is written through either: remove it")


@contextlib.contextmanager
def os_errors(verb: str, path: Path) -> Iterator[None]:
    """Turn what the system refuses into a `NoVerdictError`: "cannot `verb` `path`"."""
    try:
        yield
    except OSError as error:
        raise NoVerdictError(f"cannot {verb} {path}: {error.strerror or type(error).__name__}") from error


def _give_to(owner: os.stat_result, path: Path) -> None:
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


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
