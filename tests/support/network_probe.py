"""An oracle whose grandchild tries to reach each address of a user environment, over each protocol.

With `--listen` it is the other side: it runs the command that follows, and prints which listeners were reached.
"""

import contextlib
import os
import select
import socket
import subprocess
import sys

IPV4, IPV6 = "192.0.2.10", "2001:db8::10"
TARGETS = {
    "tcp": (socket.AF_INET, socket.SOCK_STREAM, (IPV4, 7001)),
    "udp": (socket.AF_INET, socket.SOCK_DGRAM, (IPV4, 7002)),
    "name": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.53", 53)),
    "tcp6": (socket.AF_INET6, socket.SOCK_STREAM, (IPV6, 7003)),
    "udp6": (socket.AF_INET6, socket.SOCK_DGRAM, (IPV6, 7004)),
    "engine": (socket.AF_UNIX, socket.SOCK_STREAM, "/run/engine.sock"),
    "linked": (socket.AF_UNIX, socket.SOCK_STREAM, "/var/run/linked.sock"),
    "abstract": (socket.AF_UNIX, socket.SOCK_STREAM, "\0freeze-gate-test"),
}


def probe() -> None:
    """Try every target, as a grandchild whose parent waits."""
    if os.fork():
        os.wait()
        return
    if os.fork():
        os.wait()
        os._exit(0)
    for name, (family, kind, address) in TARGETS.items():
        with contextlib.suppress(OSError), socket.socket(family, kind) as outward:
            outward.settimeout(2)
            if name == "name":
                socket.getaddrinfo("nobody.example", 80)
            elif kind == socket.SOCK_STREAM:
                outward.connect(address)
            else:
                outward.sendto(b"hello", address)
    os._exit(0)


def listen(command: list[str]) -> None:
    """Open every listener, run the command, print which listeners were reached."""
    sockets = {}
    for name, (family, kind, address) in TARGETS.items():
        listener = socket.socket(family, kind)
        listener.bind(address)
        if kind == socket.SOCK_STREAM:
            listener.listen()
        sockets[listener] = name
    status = subprocess.run(command, check=False).returncode
    reached, _, _ = select.select(list(sockets), [], [], 0.2)
    sys.stdout.write(f"{status} {sorted(sockets[listener] for listener in reached)}\n")


if sys.argv[1:2] == ["--listen"]:
    listen(sys.argv[2:])
else:
    probe()
