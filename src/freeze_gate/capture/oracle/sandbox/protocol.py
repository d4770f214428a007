"""The protocol between launcher and supervisor: one line of JSON a message, over a Unix socket.

The command, its environment and its three streams go through the socket. So sudo neither cleans the environment, nor
shows the command in the process list, nor puts a terminal of its own in between.
"""

import json
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

STANDARD_STREAMS: Final = 3
_UCRED: Final = struct.Struct("3i")


class Isolation(NamedTuple):
    """How to isolate: in a user namespace or with root's rights. `bundle` is the folder that becomes read-only."""

    user_namespace: bool
    bundle: str


class SandboxRequest(NamedTuple):
    """What to run, with the caller's folder, environment, umask and groups.

    `timeout` is in seconds, None for none. Without `isolation` the network stays on.
    """

    command: list[str]
    folder: str
    environ: Mapping[str, str]
    umask: int
    groups: Sequence[int]
    timeout: float | None
    isolation: Isolation | None


class SandboxResult(NamedTuple):
    """How the command ended.

    `exit_status` is negative for a signal, and None at the time limit. `egress_attempts` counts what tried to leave the
    network namespace; None without one. `survivors` counts the processes that could not be killed.
    """

    exit_status: int | None
    seconds: float
    egress_attempts: int | None
    survivors: int


class ConnectionLost(Exception):
    """The peer is gone, or its message is invalid."""


class PeerCredentials(NamedTuple):
    """The process at the other end of the socket, according to the kernel."""

    pid: int
    uid: int
    gid: int


class Channel:
    """One end of the socket."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._buffer = b""

    def peer(self) -> PeerCredentials:
        """Ask the kernel who is at the other end; the peer cannot forge the answer."""
        pid, uid, gid = _UCRED.unpack(self.connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
        return PeerCredentials(pid, uid, gid)

    def send(self, **message: Any) -> None:
        """Send one message. Raises `ConnectionLost`."""
        try:
            self.connection.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            raise ConnectionLost from None

    def receive(self) -> dict[str, Any]:
        """Wait for one message. Raises `ConnectionLost`, also when the socket's timeout passes."""
        while b"\n" not in self._buffer:
            try:
                chunk = self.connection.recv(1 << 16)
            except OSError:
                raise ConnectionLost from None
            if not chunk:
                raise ConnectionLost
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            message = json.loads(line)
        except ValueError:
            raise ConnectionLost from None
        if type(message) is not dict:
            raise ConnectionLost
        return message

    def send_streams(self, streams: Sequence[int]) -> None:
        """Pass the descriptors of the three standard streams. Raises `ConnectionLost`."""
        try:
            socket.send_fds(self.connection, [b"s"], list(streams))
        except OSError:
            raise ConnectionLost from None

    def receive_streams(self) -> list[int]:
        """Receive the descriptors of the three standard streams, not inheritable. Raises `ConnectionLost`."""
        try:
            _, streams, _, _ = socket.recv_fds(self.connection, 1, STANDARD_STREAMS)
        except OSError:
            raise ConnectionLost from None
        if len(streams) != STANDARD_STREAMS:
            raise ConnectionLost
        for stream in streams:
            os.set_inheritable(stream, False)  # noqa: FBT003 - the function's own form
        return streams

    def close(self) -> None:
        """Close the socket, which tells the peer that this end is finished."""
        self.connection.close()


def encode_request(request: SandboxRequest) -> dict[str, Any]:
    """Return the request as a message."""
    isolation = request.isolation
    return {**request._asdict(), "isolation": None if isolation is None else isolation._asdict()}


def decode_request(message: Mapping[str, Any]) -> SandboxRequest:
    """Return the request of a message that `encode_request` made."""
    isolation = message["isolation"]
    return SandboxRequest(**{**message, "isolation": None if isolation is None else Isolation(**isolation)})
