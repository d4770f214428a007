"""Sets up one user environment, as root, and runs a command in it. Nothing outside its own namespaces changes."""

import fcntl
import json
import os
import socket
import struct
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

from freeze_gate.capture.oracle.sandbox import linux

UID, GID, EXTRA_GROUP = 4321, 4322, 4323
ADDRESSES = ("192.0.2.10", "2001:db8::10")
PYTHON = "python/bin/python3"
"""This interpreter, below the working folder, where the environment's user can reach it."""

IS_SHARED = sysconfig.get_config_var("Py_ENABLE_SHARED")  # read by root: another user may not reach the answer

_SIOCSIFADDR = 0x8916
_MS_BIND = 4096


class UserEnvironment(NamedTuple):
    """What is special about an environment.

    `uid` runs the command there, and `sudo` says whether it may use sudo. `limits` are files below `/proc/sys/user`
    that say 0, in a user namespace of the environment's own. `addresses` gives it a network of its own with `ADDRESSES`
    up, a resolver on its loopback as systemd has one, and a `/run` where everybody may open sockets. `masked` hides a
    part of `/proc`, as container engines do.
    """

    uid: int = UID
    sudo: bool = False
    limits: tuple[str, ...] = ()
    addresses: bool = False
    masked: bool = False


def _set_up(environment: UserEnvironment, home: Path) -> None:
    if environment.limits:
        _enter_user_namespace()
    linux.unshare(linux.CLONE_NEWNS)
    linux.make_mounts_private()
    linux.mount(sys.base_prefix, str(home / "python"), flags=_MS_BIND)
    for file in (home / "etc").iterdir():
        if (original := Path("/etc", file.name)).exists():
            linux.bind_mount_file(str(file), str(original.resolve()))
    if environment.masked:
        linux.mount("tmpfs", "/proc/irq", "tmpfs")
    if environment.addresses:
        linux.unshare(linux.CLONE_NEWNET)
        linux.bring_up_loopback()
        _add_addresses()
        Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").write_text("0")
        linux.mount("tmpfs", "/run", "tmpfs", options="mode=1777")
    for name in environment.limits:
        Path("/proc/sys/user", name).write_text("0")
    if environment.uid:
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


def _enter_user_namespace() -> None:
    """Enter a user namespace where every user keeps the number it had; only root outside may write such a map."""
    entered, mapped = os.pipe(), os.pipe()
    if (inner := os.fork()) == 0:
        linux.unshare(linux.CLONE_NEWUSER)
        os.write(entered[1], b"m")
        os.read(mapped[0], 1)
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
        return
    os.read(entered[0], 1)
    for name in ("gid_map", "uid_map"):
        Path("/proc", str(inner), name).write_text("0 0 65536")
    os.write(mapped[1], b"m")
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]))


def _main(text: str) -> None:
    fields, home, arguments = json.loads(text)
    _set_up(UserEnvironment(**fields), Path(home))
    os.chdir(home)
    python = f"{home}/{PYTHON}"
    variables = {**os.environ, "PYTHONPATH": f"{home}/src", "HOME": home}
    if IS_SHARED:  # the path to its library that it was built with may lie below /root
        variables["LD_LIBRARY_PATH"] = f"{home}/python/lib"
    os.execve(python, [python, *arguments], variables)  # noqa: S606 - it becomes the command


if __name__ == "__main__":
    _main(sys.argv[1])
