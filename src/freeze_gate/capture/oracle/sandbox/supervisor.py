"""The process that keeps an oracle: builds its room, ends all that it leaves behind, says how it ended.

It runs on its own, as root where sudo starts it, and believes only the kernel about who sent the order:

    supervisor --socket-- keeper (first process of the room) -- guard (the caller again) -- the command

The guard stands between so that a command that kills its parent is seen to have done it. When the supervisor goes away,
however it dies, the socket closes and the keeper ends everything.
"""

import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence

from freeze_gate.capture.oracle.sandbox import linux as kernel
from freeze_gate.capture.oracle.sandbox import namespaces as room
from freeze_gate.capture.oracle.sandbox.child import fork_guard
from freeze_gate.capture.oracle.sandbox.protocol import Channel, Ending, Lost, Order, order_of
from freeze_gate.capture.oracle.sandbox.reaper import end_descendants, end_namespace
from freeze_gate.capture.oracle.sandbox.waiting import watch


def main(name: str, environ: Mapping[str, str]) -> None:
    """Serve the one supervisor that listens at the abstract socket `name` (in hexadecimal)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(bytes.fromhex(name))
    channel = Channel(connection)
    try:
        _serve(channel, environ)
    except kernel.Refused as refusal:
        channel.send(step=refusal.step, refused=refusal.cause)
    except Lost:
        sys.exit(1)


def _serve(channel: Channel, environ: Mapping[str, str]) -> None:
    caller = str(channel.peer().uid)
    if environ.get("SUDO_UID", caller) != caller:
        raise kernel.Refused("checking who sends the order", "it is not who called sudo")
    streams, order = channel.receive_streams(), order_of(channel.receive())
    if order.seal is None:
        kernel.adopt_orphans()
        _keep(channel, order, streams, end_descendants)
        return
    room.enter(order.seal)
    if (first := os.fork()) > 0:
        channel.close()
        os.waitpid(first, 0)  # when it ends, the kernel ends whatever is still in its namespace
        return
    room.show_own_processes()
    _keep(channel, order, streams, end_namespace)


def _keep(channel: Channel, order: Order, streams: Sequence[int], end: Callable[[], int]) -> None:
    """Prepare the command, tell the supervisor, wait for its word, and see it through."""
    kernel.set_readable(readable=False)  # where the command runs as the same user, it must not write the report
    try:
        guard, starts = fork_guard(order, channel.peer(), streams, channel.close)
        before = room.refused_routes()
        channel.send(ready=True)
        channel.receive()
        os.write(starts, b"g")
        status, seconds = watch(guard, channel.connection, order.limit)
    finally:
        left = end()
    attempts = None if order.seal is None else room.refused_routes() - before
    channel.send(**Ending(status, seconds, attempts, left)._asdict())
