"""No test leaves this machine: a look-up or a connection beyond the loopback fails the test that tried it."""

import ipaddress
import signal
import sys
from typing import Any

from hypothesis import settings

# A busy machine is slow now and then, and that is no failure. The examples are the same in every run, so that a red
# run is about the change it checks; `--hypothesis-profile wandering` looks further.
settings.register_profile("steady", deadline=None, derandomize=True, database=None)
settings.register_profile("wandering", deadline=None)
settings.load_profile("steady")

# Under nohup it comes ignored, and every command that a test starts would inherit that.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _is_local(host: object) -> bool:
    if host in {None, "", b"", "localhost", b"localhost"}:
        return True
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return text.endswith(".localhost")


def _refuse_the_network(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.getaddrinfo":
        host = args[0]
    elif event == "socket.connect" and isinstance(args[1], tuple):
        host = args[1][0]
    else:
        return
    if not _is_local(host):
        raise RuntimeError(f"a test wanted to reach {host!r}; tests use the loopback only")


sys.addaudithook(_refuse_the_network)
