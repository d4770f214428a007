"""Writing a file into a folder that a stranger prepared: no link is followed, nothing odd is opened."""

import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path, PurePosixPath
from typing import Final

from freeze_gate.errors import FreezeGateError

_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FRESH: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_MODE: Final = 0o644


class WriteRefused(FreezeGateError):
    """Something stands in the way that must not be written through."""


def write_file(folder: Path, relative: str, payload: Iterable[bytes]) -> None:
    """Write `folder/relative` whole or not at all: a fresh file, renamed into place, owned as the folder is, mode 0644.

    `payload` is its content, piece by piece. Parents are made where they are missing. Raises `WriteRefused` for a link
    or anything but a plain file in the way, and where the system refuses.
    """
    *parents, name = PurePosixPath(relative).parts
    try:
        with ExitStack() as stack:
            parent = _open(folder, None, stack)
            owner = os.fstat(parent)
            for part in parents:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=parent)
                    _give(part, parent, owner)
                parent = _open(part, parent, stack)
            _replace(name, parent, owner, payload)
    except OSError as error:
        raise WriteRefused(f"{relative} was not written: {error.strerror}") from None


def _open(name: str | Path, parent: int | None, stack: ExitStack) -> int:
    descriptor = os.open(name, _FOLDER, dir_fd=parent)
    stack.callback(os.close, descriptor)
    return descriptor


def _replace(name: str, parent: int, owner: os.stat_result, payload: Iterable[bytes]) -> None:
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise WriteRefused(f"{name} was not written: a link, a folder or a special file stands in its place")
    fresh = f".{name[:200]}.{secrets.token_hex(8)}"
    descriptor = os.open(fresh, _FRESH, _MODE, dir_fd=parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, _MODE)  # whatever the umask was
            file.writelines(payload)
        _give(fresh, parent, owner)
        os.replace(fresh, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with suppress(OSError):
            os.unlink(fresh, dir_fd=parent)
        raise


def _give(name: str, parent: int, owner: os.stat_result) -> None:
    """Leave the file to the folder's owner: what root leaves in a workspace breaks the next checkout there."""
    if os.geteuid() == 0:
        os.chown(name, owner.st_uid, owner.st_gid, dir_fd=parent, follow_symlinks=False)
