"""Makes one place, as root, and becomes a command there: nothing outside its own namespaces changes."""

import fcntl
import json
import os
import socket
import struct
import sys
from pathlib import Path
from typing import NamedTuple

from freeze_gate.capture.oracle.sandbox import linux

UID, GID, EXTRA_GROUP = 4321, 4322, 4323
ADDRESSES = ("192.0.2.10", "2001:db8::10")
PYTHON = "python/bin/python3"
"""This interpreter, below the working folder, where the place's user can reach it."""

_SIOCSIFADDR = 0x8916
_MS_BIND = 4096


class Place(NamedTuple):
    """What is special about a place.

    `uid` is who runs the command there, and `sudo` whether that user may. `limits` are files below `/proc/sys/user`
    that say 0, in a user namespace of the place's own. `addresses` gives it a network of its own with `ADDRESSES` up,
    a resolver on its loopback as systemd has one, and a `/run` where everybody may open sockets.
    `masked` hides a part of `/proc`, as container engines do.
    """

    uid: int = UID
    sudo: bool = False
    limits: tuple[str, ...] = ()
    addresses: bool = False
    masked: bool = False


def _make(place: Place, home: Path) -> None:
    if place.limits:
        _own_user_namespace()
    linux.unshare(linux.CLONE_NEWNS)
    linux.make_mounts_private()
    linux.mount(sys.base_prefix, str(home / "python"), flags=_MS_BIND)
    for file in (home / "etc").iterdir():
        if (known := Path("/etc", file.name)).exists():
            linux.bind_mount_file(str(file), str(known.resolve()))
    if place.masked:
        linux.mount("tmpfs", "/proc/irq", "tmpfs")
    if place.addresses:
        linux.unshare(linux.CLONE_NEWNET)
        linux.bring_up_loopback()
        _add_addresses()
        Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").write_text("0")
        linux.mount("tmpfs", "/run", "tmpfs", options="mode=1777")
    for name in place.limits:
        Path("/proc/sys/user", name).write_text("0")
    if place.uid:
        os.setgroups([GID, EXTRA_GROUP])
        os.setresgid(GID, GID, GID)
        os.setresuid(UID, UID, UID)


def _add_addresses() -> None:
    """Give the loopback two more addresses (netdevice(7); `lo:1` is a second name of it, index 1 is its own)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ipv4:
        address = socket.inet_aton(ADDRESSES[0])
        fcntl.ioctl(ipv4, _SIOCSIFADDR, struct.pack("16sH2x4s16x", b"lo:1", socket.AF_INET, address))
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as ipv6:
        address = socket.inet_pton(socket.AF_INET6, ADDRESSES[1])
        fcntl.ioctl(ipv6, _SIOCSIFADDR, struct.pack("16sIi", address, 128, 1))


def _own_user_namespace() -> None:
    """Enter a user namespace where every user keeps the number it had; only root outside may write such a map."""
    made, mapped = os.pipe(), os.pipe()
    if (inner := os.fork()) == 0:
        linux.unshare(linux.CLONE_NEWUSER)
        os.write(made[1], b"m")
        os.read(mapped[0], 1)
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
        return
    os.read(made[0], 1)
    for name in ("gid_map", "uid_map"):
        Path("/proc", str(inner), name).write_text("0 0 65536")
    os.write(mapped[1], b"m")
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]))


def _main(text: str) -> None:
    fields, home, words = json.loads(text)
    place = Place(*fields)
    _make(place, Path(home))
    os.chdir(home)
    python = f"{home}/{PYTHON}"
    environ = {**os.environ, "PYTHONPATH": f"{home}/src", "HOME": home}
    os.execve(python, [python, *words], environ)  # noqa: S606 - it becomes the command


if __name__ == "__main__":
    _main(sys.argv[1])
