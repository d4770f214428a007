"""What the supervisor and the keeper say to each other: one line of JSON a message, over a socket of theirs alone.

The command, its environment and its three streams go through the socket, so that sudo neither cleans the one nor shows
the other in the process list, and puts no terminal of its own in between.
"""

import json
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

STREAMS: Final = 3
_PEER: Final = struct.Struct("3i")


class Seal(NamedTuple):
    """How to seal: through a user namespace or with root's rights."""

    users: bool
    bundle: str


class Order(NamedTuple):
    """What to run, in the caller's folder, environment, umask and groups.

    `limit` is in seconds, None for none; without a `seal` the network stays on.
    """

    words: list[str]
    folder: str
    environ: Mapping[str, str]
    umask: int
    groups: Sequence[int]
    limit: float | None
    seal: Seal | None


class Ending(NamedTuple):
    """How the command ended.

    `status` is its exit status, negative for a signal; None at the time limit. `attempts` counts what tried to leave
    the network namespace; None where there was none. `left` counts processes that could not be ended.
    """

    status: int | None
    seconds: float
    attempts: int | None
    left: int


class Lost(Exception):
    """The other end is gone, or said nothing that is understood."""


class Peer(NamedTuple):
    """Who is at the other end, as the kernel says."""

    pid: int
    uid: int
    gid: int


class Channel:
    """One end of the socket."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._rest = b""

    def peer(self) -> Peer:
        """Ask the kernel who is at the other end; it is no claim of theirs."""
        return Peer(*_PEER.unpack(self.connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)))

    def send(self, **message: Any) -> None:
        """Send one message. Raises `Lost`."""
        try:
            self.connection.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            raise Lost from None

    def receive(self) -> dict[str, Any]:
        """Wait for one message. Raises `Lost`, also where the socket's own time limit passes."""
        while b"\n" not in self._rest:
            try:
                chunk = self.connection.recv(1 << 16)
            except OSError:
                raise Lost from None
            if not chunk:
                raise Lost
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        try:
            message = json.loads(line)
        except ValueError:
            raise Lost from None
        if type(message) is not dict:
            raise Lost
        return message

    def send_streams(self, streams: Sequence[int]) -> None:
        """Hand over the three standard streams. Raises `Lost`."""
        try:
            socket.send_fds(self.connection, [b"s"], list(streams))
        except OSError:
            raise Lost from None

    def receive_streams(self) -> list[int]:
        """Take over the three standard streams, closed on `exec`. Raises `Lost`."""
        try:
            _, streams, _, _ = socket.recv_fds(self.connection, 1, STREAMS)
        except OSError:
            raise Lost from None
        if len(streams) != STREAMS:
            raise Lost
        for stream in streams:
            os.set_inheritable(stream, False)  # noqa: FBT003 - the function's own form
        return streams

    def close(self) -> None:
        """Let the other end know that this one has nothing more to do with it."""
        self.connection.close()


def order_of(message: Mapping[str, Any]) -> Order:
    """Build the order that the supervisor sent as `Order._asdict()`."""
    seal = message["seal"]
    return Order(**{**message, "seal": None if seal is None else Seal(*seal)})
