"""The tree that goes with a pin to the lane: a tar of a folder, and the folder of a tar."""

import tarfile
import tempfile
from pathlib import Path
from typing import IO, Final, Protocol

from freeze_gate.capture.lane.protocol import LIMITS

_BUFFER: Final = 1 << 16


class TreeError(Exception):
    """A tree cannot be sent, or must not be unpacked. The message says why."""


class _Reader(Protocol):
    def read(self, size: int, /) -> bytes: ...


def pack_tree(folder: Path) -> IO[bytes]:
    """Write a folder as a tar to a temporary file, at its beginning. Raises `TreeError`.

    The limits of the lane hold here too: a tree that it would refuse must not look like a lost connection.
    """
    if not folder.is_dir():
        raise TreeError(f"{folder} cannot be sent: it is no folder")
    members = _Members()
    tar_file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller's
    try:
        with tarfile.open(fileobj=tar_file, mode="w|", format=tarfile.PAX_FORMAT) as tar:
            tar.add(folder, ".", filter=members.count)
        tar_file.seek(0)
    except (OSError, tarfile.TarError, TreeError) as error:
        tar_file.close()
        raise TreeError(f"{folder} cannot be sent: {error}") from None
    return tar_file


def unpack_tree(stream: _Reader, folder: Path) -> None:
    """Unpack a tar below a folder: no link or path that leads out of it, no device, no foreign owner.

    Raises `TreeError`, and what `stream` raises.
    """
    members = _Members()
    try:
        with tarfile.open(fileobj=stream, mode="r|", bufsize=_BUFFER) as tar:  # type: ignore[call-overload] # only read
            for member in tar:
                tar.extract(members.count(member), folder, filter="data")
                tar.members = []  # it would keep them all in memory
    except (OSError, tarfile.TarError, ValueError) as error:
        raise TreeError(f"the tree cannot be unpacked: {error}") from None


class _Members:
    """Counts the members of a tar and their bytes against the limits."""

    def __init__(self) -> None:
        self._count = self._bytes = 0

    def count(self, member: tarfile.TarInfo) -> tarfile.TarInfo:
        """Return the member. Raises `TreeError` for the first one over a limit."""
        self._count += 1
        self._bytes += member.size
        if self._count > LIMITS.members or self._bytes > LIMITS.total_bytes:
            raise TreeError(f"it has over {LIMITS.members:,} files or {LIMITS.total_bytes >> 30} GiB")
        return member
