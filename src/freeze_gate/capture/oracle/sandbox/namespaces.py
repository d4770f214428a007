"""Namespaces and mounts of a sealed oracle: no network but its own loopback, no `/run`, the bundle read-only."""

import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from freeze_gate.capture.oracle.sandbox import linux
from freeze_gate.capture.oracle.sandbox.linux import SetupError, setup_step
from freeze_gate.capture.oracle.sandbox.protocol import Isolation

_SOCKET_FOLDERS: Final = ("/run", "/var/run")
_HOSTS: Final = "/etc/hosts"
_MOUNT_TABLE: Final = "/proc/self/mountinfo"
_OCTAL: Final = re.compile(r"\\([0-7]{3})")  # how the table writes a space
_RESOLV_CONF: Final = "/etc/resolv.conf"
_UNROUTABLE_RESOLV_CONF: Final = """\
# written by the seal: an address that no network has (RFC 5737)
nameserver 192.0.2.1
options timeout:1 attempts:1
"""


def isolate(isolation: Isolation) -> None:
    """Put this process and its later children into new namespaces. Raises `SetupError` at the first step that fails.

    The next child is the first process of the new process namespace, and must call `mount_own_proc`.
    """
    if isolation.user_namespace:
        _enter_user_namespace()
    with setup_step("making a mount namespace"):
        linux.unshare(linux.CLONE_NEWNS)
    with setup_step("keeping mounts apart"):
        linux.make_mounts_private()
    with setup_step("making a network namespace"):
        linux.unshare(linux.CLONE_NEWNET)
    with setup_step("bringing up the loopback"):
        linux.bring_up_loopback()
    with setup_step("hiding /run"):
        _hide_sockets()
    with setup_step("resolving the machine's own name"):
        _resolve_own_name()
    with setup_step("making the bundle read-only"):
        _protect_bundle(isolation.bundle)
    with setup_step("making a process namespace"):
        linux.unshare(linux.CLONE_NEWPID)


def is_hidden(path: str) -> bool:
    """Whether a path names, without its links being followed, a place below a folder that a seal shows empty."""
    return any(Path(os.path.normpath(path)).is_relative_to(folder) for folder in _SOCKET_FOLDERS)


def mount_own_proc() -> None:
    """Let `/proc` show only the own process namespace, and keep user 0 from changing the machine through it.

    Raises `SetupError`. The user's other processes must be invisible: through their `/proc/<pid>/root` the oracle could
    change the pin and the record.
    """
    with setup_step("mounting /proc"):
        linux.mount_proc()
    for path in ("/proc/sys", "/sys"):
        if Path(path).is_dir():
            with setup_step(f"making {path} read-only"):
                linux.make_read_only(path)


def drop_privileges(uid: int, gid: int, groups: Sequence[int], *, user_namespace: bool) -> None:
    """Become the caller again, without a capability and without a way to one. Raises `SetupError`.

    In a user namespace this process has been the caller all the time.
    """
    with setup_step("giving up privileges"):
        linux.drop_bounding_set()
        if not user_namespace:
            os.setgroups(groups)
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
        linux.drop_capabilities()
        linux.set_no_new_privs()


def count_unroutable() -> int:
    """Count the packets that had no route out of this network namespace: IPv4 and IPv6, connections and datagrams."""
    return parse_snmp(_read("/proc/self/net/snmp")) + parse_snmp6(_read("/proc/self/net/snmp6"))


def parse_snmp(table: str) -> int:
    """Read `OutNoRoutes` of the two `Ip:` lines of /proc/net/snmp: names above, numbers below."""
    rows = [line.split() for line in table.splitlines() if line.startswith("Ip:")]
    return int(dict(zip(*rows, strict=True)).get("OutNoRoutes", 0)) if rows else 0


def parse_snmp6(table: str) -> int:
    """Read `Ip6OutNoRoutes` of /proc/net/snmp6: a name and a number a line."""
    for line in table.splitlines():
        if line.startswith("Ip6OutNoRoutes"):
            return int(line.split()[1])
    return 0


def _enter_user_namespace() -> None:
    """Get root's rights over new namespaces, as the same user (user_namespaces(7))."""
    uid, gid = os.geteuid(), os.getegid()
    with setup_step("making a user namespace"):
        linux.unshare(linux.CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("gid_map", f"{gid} {gid} 1"), ("uid_map", f"{uid} {uid} 1")):
        path = Path("/proc/self") / name
        with setup_step(f"writing {path}"), path.open("w") as stream:
            stream.write(text)


def _hide_sockets() -> None:
    """Mount an empty tmpfs over `/run`, and point DNS at an unroutable address so that lookups are counted."""
    hidden: set[str] = set()
    for name in _SOCKET_FOLDERS:
        path = os.path.realpath(name)
        if path not in hidden and Path(path).is_dir():
            linux.mount("tmpfs", path, "tmpfs", options="mode=755,size=1m")
            hidden.add(path)
    resolv_conf = Path(os.path.realpath(_RESOLV_CONF))
    if any(resolv_conf.is_relative_to(path) for path in hidden):  # systemd's is a link into /run
        resolv_conf.parent.mkdir(parents=True, exist_ok=True)
        resolv_conf.write_text(_UNROUTABLE_RESOLV_CONF)
    elif hidden and resolv_conf.exists():
        replacement = Path(min(hidden)) / "resolv.conf"
        replacement.write_text(_UNROUTABLE_RESOLV_CONF)
        linux.bind_mount_file(str(replacement), str(resolv_conf))


def _resolve_own_name() -> None:
    """Add the machine's name to `/etc/hosts`, so that a program that asks for it makes no network attempt.

    The address is Debian's 127.0.1.1, because 127.0.0.1 leads back to `localhost`.
    """
    name, hosts = os.uname().nodename, Path(_HOSTS)
    if not hosts.is_file() or name in re.sub(r"#.*", "", hosts.read_text(errors="replace")).split():
        return
    replacement = Path(_SOCKET_FOLDERS[0]) / "hosts"
    replacement.write_bytes(hosts.read_bytes() + f"\n127.0.1.1 {name}\n".encode())
    linux.bind_mount_file(str(replacement), str(hosts.resolve()))


def _protect_bundle(bundle: str) -> None:
    """Make the bundle read-only by every path, and fix its own: no folder above it can be renamed and replaced."""
    if not Path(bundle).is_dir():
        raise SetupError("finding the bundle", f"{bundle} is below /run, which a seal hides: put it elsewhere")
    other_paths = find_other_paths(bundle, _read(_MOUNT_TABLE))
    for folder in reversed(Path(bundle).parents[:-1]):
        if not folder.is_mount():
            linux.bind_mount_self(str(folder))
    for path in (bundle, *other_paths):
        if Path(path).exists():  # a mount can also be of one file
            linux.make_read_only(path)


def find_other_paths(bundle: str, mount_table: str) -> list[str]:
    """Return the other paths to a bundle or a part of it. There are some if its file system is mounted twice.

    `mount_table` is /proc/self/mountinfo (proc_pid_mountinfo(5)): for each mount the device, the folder of the device
    that is its root, and the mount point.
    """
    mounts = []
    for line in mount_table.splitlines():
        fields = [_OCTAL.sub(lambda code: chr(int(code[1], 8)), field) for field in line.split()]
        mounts.append((fields[2], PurePosixPath(fields[3]), PurePosixPath(fields[4])))
    path = PurePosixPath(bundle)
    above = [mount for mount in mounts if path.is_relative_to(mount[2])]
    device, root, point = max(reversed(above), key=lambda mount: len(mount[2].parts))  # the newest covers the others
    place = root / path.relative_to(point)
    other_paths = set()
    for other_device, other_root, other_point in mounts:
        if other_device == device and place.is_relative_to(other_root):
            other_paths.add(other_point / place.relative_to(other_root))
        elif other_device == device and other_root.is_relative_to(place):
            other_paths.add(other_point)
    return sorted(str(other) for other in other_paths - {path})


def _read(path: str) -> str:
    try:
        return os.fsdecode(Path(path).read_bytes())
    except FileNotFoundError:  # a kernel without IPv6
        return ""
