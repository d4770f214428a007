"""The messages between launcher and supervisor."""

import os
import socket
from collections.abc import Iterator

import pytest

from freeze_gate.capture.oracle.sandbox.protocol import (
    Channel,
    ConnectionLost,
    Isolation,
    PeerCredentials,
    SandboxRequest,
    decode_request,
    encode_request,
)

REQUEST = SandboxRequest(
    ["sh", "-c", "exit 3", "\udcff"], "/tmp", {"LANE": "é\n"}, 0o22, [1, 2], 1.5, Isolation(True, "/b")
)


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel]]:
    """Return the two ends of one channel."""
    first, second = map(Channel, socket.socketpair())
    yield first, second
    first.close()
    second.close()


@pytest.mark.parametrize("request_", [REQUEST, REQUEST._replace(isolation=None, timeout=None)], ids=["sealed", "open"])
def test_a_request_arrives_as_it_was_sent(ends: tuple[Channel, Channel], request_: SandboxRequest) -> None:
    """Command and environment keep every byte that a system call accepts."""
    ends[0].send(**encode_request(request_))
    assert decode_request(ends[1].receive()) == request_


def test_two_messages_at_once_are_two_messages(ends: tuple[Channel, Channel]) -> None:
    """Messages keep their borders when they arrive in one piece."""
    ends[0].send(ready=True)
    ends[0].send(go=True)
    assert [ends[1].receive(), ends[1].receive()] == [{"ready": True}, {"go": True}]


def test_streams_arrive_and_are_not_inheritable(ends: tuple[Channel, Channel]) -> None:
    """Three descriptors arrive; no program that is started by chance inherits them."""
    pipe_read, pipe_write = os.pipe()
    ends[0].send_streams([pipe_read, pipe_write, pipe_write])
    streams = ends[1].receive_streams()
    os.write(streams[1], b"x")
    assert os.read(pipe_read, 1) == b"x"
    assert not any(os.get_inheritable(stream) for stream in streams)
    for descriptor in (pipe_read, pipe_write, *streams):
        os.close(descriptor)


@pytest.mark.parametrize("data", [b"", b'{"ready": tr', b"[]\n", b"ready\n"])
def test_a_peer_that_is_gone_or_invalid_is_connection_lost(data: bytes) -> None:
    """No message, half a message and an invalid message are the same: the connection is lost."""
    first, second = socket.socketpair()
    first.sendall(data)
    first.close()
    channel = Channel(second)
    with pytest.raises(ConnectionLost):
        channel.receive()
    with pytest.raises(ConnectionLost):
        channel.receive_streams()
    channel.close()


def test_the_peer_is_the_kernels_answer(ends: tuple[Channel, Channel]) -> None:
    """The peer is what the kernel says, not what the other end says."""
    assert ends[0].peer() == PeerCredentials(os.getpid(), os.getuid(), os.getgid())
