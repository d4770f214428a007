"""The sandbox supervisor: sets up the namespaces, runs the command, kills what is left, reports the result.

It is a process of its own, root if sudo starts it, and trusts only the kernel about who sent the request:

    launcher --socket-- supervisor (first process of its namespace) -- child (the caller again) -- the command

The child stands between, so that a command that kills its parent is recorded as killed. When the launcher goes away,
however it ends, the socket closes and the supervisor kills everything.
"""

import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence

from freeze_gate.capture.oracle.sandbox import linux
from freeze_gate.capture.oracle.sandbox.child import fork_child
from freeze_gate.capture.oracle.sandbox.linux import SetupError
from freeze_gate.capture.oracle.sandbox.namespaces import count_unroutable, isolate, mount_own_proc
from freeze_gate.capture.oracle.sandbox.protocol import (
    Channel,
    ConnectionLost,
    SandboxRequest,
    SandboxResult,
    decode_request,
)
from freeze_gate.capture.oracle.sandbox.reaper import kill_descendants, kill_namespace, wait_for_child


def main(address: str, environ: Mapping[str, str]) -> None:
    """Serve the launcher that listens at the abstract socket `address` (in hexadecimal)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(bytes.fromhex(address))
    channel = Channel(connection)
    try:
        _serve(channel, environ)
    except SetupError as error:
        channel.send(step=error.step, cause=error.cause)
    except ConnectionLost:
        sys.exit(1)


def _serve(channel: Channel, environ: Mapping[str, str]) -> None:
    launcher = str(channel.peer().uid)
    if environ.get("SUDO_UID", launcher) != launcher:
        raise SetupError("checking who sends the request", "it is not the user who called sudo")
    streams, request = channel.receive_streams(), decode_request(channel.receive())
    if request.isolation is None:
        linux.set_child_subreaper()
        _supervise(channel, request, streams, kill_descendants)
        return
    isolate(request.isolation)
    if (init := os.fork()) > 0:
        channel.close()
        os.waitpid(init, 0)  # when it ends, the kernel kills the rest of its namespace
        return
    mount_own_proc()
    _supervise(channel, request, streams, kill_namespace)


def _supervise(channel: Channel, request: SandboxRequest, streams: Sequence[int], kill_rest: Callable[[], int]) -> None:
    """Prepare the command, report that it is ready, wait for the start message, and report the result."""
    linux.set_dumpable(dumpable=False)  # a command of the same user must not be able to forge the report
    try:
        child, start = fork_child(request, channel.peer(), streams, channel.close)
        unroutable_before = count_unroutable()
        channel.send(ready=True)
        channel.receive()
        os.write(start, b"g")
        exit_status, seconds = wait_for_child(child, channel.connection, request.timeout)
    finally:
        survivors = kill_rest()
    egress_attempts = None if request.isolation is None else count_unroutable() - unroutable_before
    channel.send(**SandboxResult(exit_status, seconds, egress_attempts, survivors)._asdict())
