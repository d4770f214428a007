"""Files that are complete or not there at all, whenever the process dies; on Linux, macOS and Windows.

A file is written beside its place under a hidden name, and renamed. A killed process leaves a hidden `.*.tmp`, which no
reader takes for a record, a pin or a verdict. What was renamed survives the process without `fsync`. Only a power cut
can empty it, and every reader refuses an empty file.

Whoever prepared the folder may still swap things in it. So a folder is opened without following a link, and all that
happens in it goes by its descriptor: it stays in that folder, whatever takes the folder's place meanwhile.
"""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, NamedTuple

from freeze_gate.errors import NoVerdictError, UsageError

HAS_DIR_FD: Final = os.open in os.supports_dir_fd
"""Windows lacks it. There a path is looked at before it is used, and a swap between the two goes unnoticed: the action
runs on Linux alone, and on a developer's machine nobody swaps folders."""

_BINARY: Final = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_CREATE: Final = os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY
_READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY  # a FIFO would wait for its writer
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_WRITABLE: Final = 0o666  # less the umask
_SHARED: Final = 0o644
_SPECIAL: Final = "{} is a link or a special file, and nothing is written through either: remove it"


class Folder(NamedTuple):
    """An open folder. The methods take names in it, and follow no link.

    `descriptor` is None without `HAS_DIR_FD`. Every method raises `OSError`, and `UsageError` for what is no folder or
    no ordinary file.
    """

    path: Path
    descriptor: int | None

    @contextlib.contextmanager
    def subfolder(self, name: str, owner: os.stat_result | None = None) -> Iterator["Folder"]:
        """Open a folder, which is made if it is missing. A new one is given to `owner`."""
        with contextlib.suppress(FileExistsError):
            os.mkdir(self._locate(name), dir_fd=self.descriptor)
            if owner:
                os.chown(self._locate(name), owner.st_uid, owner.st_gid, dir_fd=self.descriptor, follow_symlinks=False)
        with _open_folder(self.path / name, self._locate(name), self.descriptor) as folder:
            yield folder

    @contextlib.contextmanager
    def read(self, name: str) -> Iterator[BinaryIO]:
        """Open an ordinary file for reading."""
        _refuse_special(self._locate(name), self.path / name, self.descriptor)
        with os.fdopen(os.open(self._locate(name), _READ, dir_fd=self.descriptor), "rb") as stream:
            yield stream

    @contextlib.contextmanager
    def temporary_file(
        self, chunks: Iterable[bytes], mode: int | None = None, owner: os.stat_result | None = None
    ) -> Iterator[str]:
        """Write a hidden file and hand out its name, to be renamed. What is not renamed is removed.

        `mode` is set before; None leaves what the umask makes of a new file. The file is given to `owner`. Also raises
        what the chunks raise.
        """
        name = f".{secrets.token_hex(8)}.tmp"
        try:
            descriptor = os.open(self._locate(name), _CREATE, _WRITABLE, dir_fd=self.descriptor)
            with os.fdopen(descriptor, "wb") as stream:
                stream.writelines(chunks)
                if owner:
                    os.chown(descriptor, owner.st_uid, owner.st_gid)
                if mode is not None and HAS_DIR_FD:
                    os.fchmod(descriptor, mode)
            if mode is not None and not HAS_DIR_FD:
                (self.path / name).chmod(mode)
            yield name
        finally:
            self._remove(name)

    def rename(self, temporary: str, name: str) -> None:
        """Put a temporary file in its place. A link or a special file there is refused."""
        with contextlib.suppress(FileNotFoundError):
            _refuse_special(self._locate(name), self.path / name, self.descriptor)
        os.replace(self._locate(temporary), self._locate(name), src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def _locate(self, name: str) -> str | Path:
        return self.path / name if self.descriptor is None else name

    def _remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            try:
                os.unlink(self._locate(name), dir_fd=self.descriptor)
            except PermissionError:
                if HAS_DIR_FD:
                    raise
                (self.path / name).chmod(_WRITABLE)  # Windows removes no read-only file
                (self.path / name).unlink()


@contextlib.contextmanager
def open_folder(path: Path) -> Iterator[Folder]:
    """Open a folder. The folders above it are the user's own choice. Raises what the methods of `Folder` raise."""
    with _open_folder(path, path, None) as folder:
        yield folder


def write_file(folder: Path, relative: str, chunks: Iterable[bytes]) -> None:
    """Write `folder/relative`, complete or not at all: mode 0644 whatever the umask, its parents made.

    What root writes belongs to the owner of `folder`: files of root would break the next checkout there. Raises
    `NoVerdictError` where a link or anything but an ordinary file stands in the way, and where the system refuses.
    """
    *parents, name = PurePosixPath(relative).parts
    try:
        with contextlib.ExitStack() as stack:
            parent = stack.enter_context(open_folder(folder))
            owner = None
            if parent.descriptor is not None and os.geteuid() == 0:
                owner = os.fstat(parent.descriptor)
            for part in parents:
                parent = stack.enter_context(parent.subfolder(part, owner))
            parent.rename(stack.enter_context(parent.temporary_file(chunks, _SHARED, owner)), name)
    except UsageError as error:
        raise NoVerdictError(f"{relative} was not written: {error}") from None
    except OSError as error:
        raise NoVerdictError(f"{relative} was not written: {error.strerror}") from None


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
            raise UsageError(_SPECIAL.format(path))


@contextlib.contextmanager
def os_errors(verb: str, path: Path) -> Iterator[None]:
    """Turn what the system refuses into a `NoVerdictError`: "cannot `verb` `path`"."""
    try:
        yield
    except OSError as error:
        raise NoVerdictError(f"cannot {verb} {path}: {error.strerror or type(error).__name__}") from error


@contextlib.contextmanager
def _open_folder(path: Path, name: str | Path, parent: int | None) -> Iterator[Folder]:
    if not HAS_DIR_FD:
        refuse_links(path)
        yield Folder(path, None)
        return
    try:
        descriptor = os.open(name, _FOLDER, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise UsageError(f"{path} is no folder, and nothing is written through a link: remove it") from None
        raise
    try:
        yield Folder(path, descriptor)
    finally:
        os.close(descriptor)


def _refuse_special(name: str | Path, path: Path, parent: int | None) -> None:
    if not stat.S_ISREG(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
        raise UsageError(_SPECIAL.format(path))
