"""The few kernel calls that a seal is made of, by way of the C library: Python 3.11 has no `os.unshare`, none a mount.

They raise `OSError`; `step` turns it into `Refused`, so that a person reads which step the machine did not allow.
"""

import ctypes
import errno
import functools
import os
import socket
import struct
from collections.abc import Callable
from typing import Final

NEW_MOUNTS: Final = 0x00020000
NEW_USERS: Final = 0x10000000
NEW_PROCESSES: Final = 0x20000000
NEW_NETWORK: Final = 0x40000000

_MS_RDONLY: Final = 1
_MS_NOTHING_TO_RUN: Final = 2 | 4 | 8  # no set-user-id programs, no devices, no programs
_MS_REMOUNT: Final = 32
_MS_BIND: Final = 4096
_MS_REC: Final = 16384
_MS_PRIVATE: Final = 1 << 18
_KEPT: Final = {2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}
"""Flags of statvfs and of mount: nosuid, nodev, noexec, noatime, nodiratime, relatime. In a user namespace the kernel
refuses to drop the ones that a mount came with (mount_namespaces(7), "locked")."""

_PR_SET_DUMPABLE: Final = 4
_PR_CAPBSET_DROP: Final = 24
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_CAP_AMBIENT: Final = 47
_PR_CAP_AMBIENT_CLEAR_ALL: Final = 4
_CAPABILITY_VERSION_3: Final = 0x20080522
_CAPABILITIES: Final = 64

_SIOCGIFFLAGS: Final = 0x8913
_SIOCSIFFLAGS: Final = 0x8914
_IFF_UP: Final = 1


class Refused(Exception):
    """The machine does not allow a step."""

    def __init__(self, step: str, cause: str) -> None:
        super().__init__(f"{step}: {cause}")
        self.step, self.cause = step, cause

    @classmethod
    def by(cls, step: str, error: OSError) -> "Refused":
        """Say why, in the words of the C library; a used-up limit does not look like one there."""
        cause = error.strerror or type(error).__name__
        if error.errno == errno.ENOSPC:
            cause += " (a limit below /proc/sys/user is used up, or 0)"
        return cls(step, cause)


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> None:
    """Call a function that answers -1 for an error. Raises `OSError`."""
    if _libc()[name](*arguments) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _prctl(option: int, first: int = 0, second: int = 0) -> None:
    rest = [ctypes.c_ulong(value) for value in (first, second, 0, 0)]
    _call("prctl", option, *rest)


def unshare(namespace: int, step: str) -> None:
    """Enter a new namespace of one kind."""
    try:
        _call("unshare", namespace)
    except OSError as error:
        raise Refused.by(step, error) from None


def mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, options: str = "") -> None:
    """Put a file system, or a part of one, at a path (mount(2)). Raises `OSError`."""
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    _call("mount", *words, ctypes.c_ulong(flags), os.fsencode(options))


def mount_own_processes() -> None:
    """Let `/proc` show the process namespace that this process is in."""
    mount("proc", "/proc", "proc", _MS_NOTHING_TO_RUN)


def keep_mounts_apart() -> None:
    """Let no mount of this namespace appear in another one, nor the other way round."""
    mount(None, "/", flags=_MS_REC | _MS_PRIVATE)


def mount_over_itself(path: str) -> None:
    """Make a folder a mount of its own, with all that is mounted below it: nobody can rename it any more."""
    mount(path, path, flags=_MS_BIND | _MS_REC)


def mount_file(source: str, target: str) -> None:
    """Show one file in the place of another."""
    mount(source, target, flags=_MS_BIND)


def make_read_only(path: str) -> None:
    """Mount a folder over itself, read-only."""
    mount_over_itself(path)
    found = os.statvfs(path).f_flag
    kept = sum(flag for seen, flag in _KEPT.items() if found & seen)
    mount(None, path, flags=_MS_REMOUNT | _MS_BIND | _MS_RDONLY | kept)
    if not os.statvfs(path).f_flag & os.ST_RDONLY:
        raise OSError(errno.EROFS, "it stayed writable")


def raise_loopback() -> None:
    """Bring up the loopback of this network namespace, which is the only thing in it."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        found = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, struct.pack("16sH22x", b"lo", 0))
        flags = struct.unpack_from("16sH", found)[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags | _IFF_UP))


def drop_bounding_set() -> None:
    """Give up every capability that a later `exec` could bring back, also to user 0."""
    for capability in range(_CAPABILITIES):
        try:
            _prctl(_PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno == errno.EINVAL:  # beyond the last one that this kernel has
                return
            raise


def drop_capabilities() -> None:
    """Give up every capability that this process has or could hand on."""
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    _call("capset", struct.pack("=II", _CAPABILITY_VERSION_3, 0), bytes(24))


def forbid_new_privileges() -> None:
    """Take the power from set-user-id programs, sudo among them, for this process and all its children."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def set_readable(*, readable: bool) -> None:
    """Say whether processes of the same user may look into this one's memory."""
    _prctl(_PR_SET_DUMPABLE, int(readable))


def step(words: str, act: Callable[[], None]) -> None:
    """Do one step of the seal; a refusal of the machine becomes `Refused` with the step's words."""
    try:
        act()
    except OSError as error:
        raise Refused.by(words, error) from None
