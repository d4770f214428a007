"""ctypes wrappers for the Linux calls of the sandbox: `os.unshare` needs Python 3.12, and Python has no `mount`.

They raise `OSError`. Inside `setup_step` it becomes a `SetupError`, which names the step that failed.
"""

import contextlib
import ctypes
import errno
import functools
import os
import socket
import struct
from collections.abc import Iterator
from typing import Final

CLONE_NEWNS: Final = 0x00020000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000

_MS_RDONLY: Final = 1
_MS_NOSUID: Final = 2
_MS_NODEV: Final = 4
_MS_NOEXEC: Final = 8
_MS_REMOUNT: Final = 32
_MS_BIND: Final = 4096
_MS_REC: Final = 16384
_MS_PRIVATE: Final = 1 << 18
_LOCKED_FLAGS: Final = {2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}
"""Flags of statvfs and their flags of mount: nosuid, nodev, noexec, noatime, nodiratime, relatime. In a user namespace
the kernel does not allow a remount without the flags that the mount came with (mount_namespaces(7), "locked")."""

_PR_SET_DUMPABLE: Final = 4
_PR_CAPBSET_DROP: Final = 24
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_CAP_AMBIENT: Final = 47
_PR_CAP_AMBIENT_CLEAR_ALL: Final = 4
_CAPABILITY_VERSION_3: Final = 0x20080522
_MAX_CAPABILITIES: Final = 64

_SIOCGIFFLAGS: Final = 0x8913
_SIOCSIFFLAGS: Final = 0x8914
_IFF_UP: Final = 1


class SetupError(Exception):
    """A step of the set-up failed: this machine does not allow it."""

    def __init__(self, step: str, cause: str) -> None:
        super().__init__(f"{step}: {cause}")
        self.step, self.cause = step, cause


@contextlib.contextmanager
def setup_step(description: str) -> Iterator[None]:
    """Turn an `OSError` of the block into a `SetupError` with the C library's message."""
    try:
        yield
    except OSError as error:
        cause = error.strerror or type(error).__name__
        if error.errno == errno.ENOSPC:  # its message is that of a full disk
            cause += " (a limit below /proc/sys/user is used up, or 0)"
        raise SetupError(description, cause) from None


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> None:
    """Call a function that returns -1 for an error. Raises `OSError`."""
    if _libc()[name](*arguments) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _prctl(option: int, first: int = 0, second: int = 0) -> None:
    _call("prctl", option, *(ctypes.c_ulong(value) for value in (first, second, 0, 0)))


def unshare(namespace: int) -> None:
    """Enter a new namespace of one kind, a `CLONE_NEW…` constant. A new process namespace is for later children."""
    _call("unshare", namespace)


def mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, options: str = "") -> None:
    """Attach a file system to a folder, or change its flags."""
    names = [None if name is None else os.fsencode(name) for name in (source, target, kind)]
    _call("mount", *names, ctypes.c_ulong(flags), os.fsencode(options))


def mount_proc() -> None:
    """Mount a `/proc` that shows only this process's own process namespace."""
    mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)


def make_mounts_private() -> None:
    """Keep the mounts of this namespace from appearing in another one, and the other way round."""
    mount(None, "/", flags=_MS_REC | _MS_PRIVATE)


def bind_mount_self(path: str) -> None:
    """Mount a folder over itself, with everything mounted below it: a mount point cannot be renamed."""
    mount(path, path, flags=_MS_BIND | _MS_REC)


def bind_mount_file(source: str, target: str) -> None:
    """Show one file in the place of another."""
    mount(source, target, flags=_MS_BIND)


def make_read_only(path: str) -> None:
    """Mount a folder over itself, read-only."""
    bind_mount_self(path)
    current = os.statvfs(path).f_flag
    locked = sum(mount_flag for statvfs_flag, mount_flag in _LOCKED_FLAGS.items() if current & statvfs_flag)
    mount(None, path, flags=_MS_REMOUNT | _MS_BIND | _MS_RDONLY | locked)
    if not os.statvfs(path).f_flag & os.ST_RDONLY:
        raise OSError(errno.EROFS, "it stayed writable")


def bring_up_loopback() -> None:
    """Bring up `lo`, the only interface of a new network namespace."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        interface = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, struct.pack("16sH22x", b"lo", 0))
        flags = struct.unpack_from("16sH", interface)[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags | _IFF_UP))


def drop_bounding_set() -> None:
    """Give up every capability that a later `exec` could bring back, also for user 0."""
    for capability in range(_MAX_CAPABILITIES):
        try:
            _prctl(_PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno == errno.EINVAL:  # beyond the last one of this kernel
                return
            raise


def drop_capabilities() -> None:
    """Give up every capability of this process, the ambient ones included."""
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    _call("capset", struct.pack("=II", _CAPABILITY_VERSION_3, 0), bytes(24))


def set_no_new_privs() -> None:
    """Disable set-user-id programs, such as sudo, for this process and all its children."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def set_child_subreaper() -> None:
    """Become the parent of every descendant whose own parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def set_dumpable(*, dumpable: bool) -> None:
    """Set whether other processes of the same user may read and change this one's memory."""
    _prctl(_PR_SET_DUMPABLE, int(dumpable))
