"""What the supervisor and the keeper say to each other."""

import os
import socket
from collections.abc import Iterator

import pytest

from freeze_gate.capture.oracle.sandbox.protocol import Channel, Lost, Order, Seal, order_of

ORDER = Order(["sh", "-c", "exit 3", "\udcff"], "/tmp", {"LANE": "é\n"}, 0o22, [1, 2], 1.5, Seal(True, "/b"))


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel]]:
    """Return the two ends of one channel."""
    first, second = map(Channel, socket.socketpair())
    yield first, second
    first.close()
    second.close()


@pytest.mark.parametrize("order", [ORDER, ORDER._replace(seal=None, limit=None)], ids=["sealed", "open"])
def test_an_order_arrives_as_it_was_sent(ends: tuple[Channel, Channel], order: Order) -> None:
    """Words and environment keep every byte that a system call takes."""
    ends[0].send(**order._asdict())
    assert order_of(ends[1].receive()) == order


def test_messages_keep_their_borders(ends: tuple[Channel, Channel]) -> None:
    """Two messages that arrive at once are two messages."""
    ends[0].send(ready=True)
    ends[0].send(go=True)
    assert [ends[1].receive(), ends[1].receive()] == [{"ready": True}, {"go": True}]


def test_streams_are_handed_over_closed_on_exec(ends: tuple[Channel, Channel]) -> None:
    """Three descriptors arrive; no program that is started by chance inherits them."""
    reads, writes = os.pipe()
    ends[0].send_streams([reads, writes, writes])
    streams = ends[1].receive_streams()
    os.write(streams[1], b"x")
    assert os.read(reads, 1) == b"x"
    assert not any(os.get_inheritable(stream) for stream in streams)
    for descriptor in (reads, writes, *streams):
        os.close(descriptor)


@pytest.mark.parametrize("said", [b"", b'{"ready": tr', b"[]\n", b"ready\n"])
def test_an_end_that_goes_away_or_talks_nonsense_is_lost(said: bytes) -> None:
    """Nothing, half a message and no message are one thing: the other end is lost."""
    first, second = socket.socketpair()
    first.sendall(said)
    first.close()
    channel = Channel(second)
    with pytest.raises(Lost):
        channel.receive()
    with pytest.raises(Lost):
        channel.receive_streams()
    channel.close()


def test_the_kernel_says_who_is_there(ends: tuple[Channel, Channel]) -> None:
    """The peer is what the kernel knows, and no claim of the other end."""
    assert ends[0].peer() == (os.getpid(), os.getuid(), os.getgid())
