"""The room that a sealed oracle runs in: no network but an own loopback, no `/run`, the bundle read-only."""

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from freeze_gate.capture.oracle.sandbox import linux as kernel
from freeze_gate.capture.oracle.sandbox.protocol import Seal

_HIDDEN: Final = ("/run", "/var/run")
_RESOLVER: Final = "/etc/resolv.conf"
_NOWHERE: Final = """\
# written by the seal: an address that no network has (RFC 5737)
nameserver 192.0.2.1
options timeout:1 attempts:1
"""


def enter(seal: Seal) -> None:
    """Put this process, and every later child, into the room. Raises `Refused` at the first step that is not allowed.

    The next child is the first process of its own process namespace, and must call `show_own_processes`.
    """
    if seal.users:
        _become_own_root()
    kernel.unshare(kernel.NEW_MOUNTS, "making a mount namespace")
    kernel.step("keeping mounts apart", kernel.keep_mounts_apart)
    kernel.unshare(kernel.NEW_NETWORK, "making a network namespace")
    kernel.step("bringing up the loopback", kernel.raise_loopback)
    kernel.step("hiding /run", _hide_sockets)
    kernel.step("making the bundle read-only", functools.partial(_guard, seal.bundle))
    kernel.unshare(kernel.NEW_PROCESSES, "making a process namespace")


def show_own_processes() -> None:
    """Let `/proc` show the own process namespace alone, and keep user 0 from changing the machine through it."""
    kernel.step("mounting /proc", kernel.mount_own_processes)
    for path in ("/proc/sys", "/sys"):
        if Path(path).is_dir():
            kernel.step(f"making {path} read-only", functools.partial(kernel.make_read_only, path))


def leave_privileges(uid: int, gid: int, groups: Sequence[int], *, users: bool) -> None:
    """Become the caller again, without a capability and without a way to one.

    In a user namespace the caller never was anybody else. Raises `Refused`.
    """

    def act() -> None:
        kernel.drop_bounding_set()
        if not users:
            os.setgroups(groups)
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
        kernel.drop_capabilities()
        kernel.forbid_new_privileges()

    kernel.step("giving up privileges", act)


def refused_routes() -> int:
    """Count what found no way out of this network namespace so far: IPv4 and IPv6, connections and datagrams."""
    return count_ipv4(_text("/proc/self/net/snmp")) + count_ipv6(_text("/proc/self/net/snmp6"))


def _become_own_root() -> None:
    """Get root's rights over new namespaces, as the same user (user_namespaces(7))."""
    uid, gid = os.geteuid(), os.getegid()
    kernel.unshare(kernel.NEW_USERS, "making a user namespace")
    for name, text in (("setgroups", "deny"), ("gid_map", f"{gid} {gid} 1"), ("uid_map", f"{uid} {uid} 1")):
        path = Path("/proc/self") / name
        kernel.step(f"writing {path}", functools.partial(_write, path, text))


def _write(path: Path, text: str) -> None:
    with path.open("w") as stream:
        stream.write(text)


def _hide_sockets() -> None:
    """Cover the folders where engines and resolvers keep their sockets, and send look-ups where they are counted."""
    hidden: set[str] = set()
    for name in _HIDDEN:
        path = os.path.realpath(name)
        if path not in hidden and Path(path).is_dir():
            kernel.mount("tmpfs", path, "tmpfs", options="mode=755,size=1m")
            hidden.add(path)
    _redirect_look_ups(hidden)


def _redirect_look_ups(hidden: set[str]) -> None:
    """Name a resolver without a route: one on the loopback would refuse a look-up, and nothing would count it."""
    resolver = Path(os.path.realpath(_RESOLVER))
    if any(resolver.is_relative_to(path) for path in hidden):  # systemd's is a link into /run
        resolver.parent.mkdir(parents=True, exist_ok=True)
        resolver.write_text(_NOWHERE)
    elif hidden and resolver.exists():
        replacement = Path(min(hidden)) / "resolv.conf"
        replacement.write_text(_NOWHERE)
        kernel.mount_file(str(replacement), str(resolver))


def _guard(bundle: str) -> None:
    """Make the bundle read-only, and its place fast: no folder above it can be swapped for another and back."""
    if not Path(bundle).is_dir():
        raise kernel.Refused("finding the bundle", f"{bundle} is below /run, which a seal hides: put it elsewhere")
    for above in reversed(Path(bundle).parents[:-1]):
        if not above.is_mount():
            kernel.mount_over_itself(str(above))
    kernel.make_read_only(bundle)


def _text(path: str) -> str:
    try:
        return Path(path).read_text("ascii")
    except FileNotFoundError:  # a kernel without IPv6
        return ""


def count_ipv4(table: str) -> int:
    """Read `OutNoRoutes` of the two `Ip:` lines of /proc/net/snmp: names above, numbers below."""
    rows = [line.split() for line in table.splitlines() if line.startswith("Ip:")]
    return int(dict(zip(*rows, strict=True)).get("OutNoRoutes", 0)) if rows else 0


def count_ipv6(table: str) -> int:
    """Read `Ip6OutNoRoutes` of /proc/net/snmp6: a name and a number a line."""
    rows = (line.split() for line in table.splitlines())
    return sum(int(row[1]) for row in rows if row and row[0] == "Ip6OutNoRoutes")
