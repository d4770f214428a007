"""What goes wrong on the caller's own side of a call is on no record as a fault of the transport."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import httpx2
import pytest
import requests

from freeze_gate.capture import Capture
from tests.support.exact_server import ExactServer, sized
from tests.support.recording_clients import bundle, capture, record_in

Post = Callable[[str, Iterator[bytes]], object]

CLIENTS: dict[str, Callable[[Capture], Post]] = {
    "requests": lambda made: lambda url, body: made.requests_session().post(url, data=body, timeout=5),
    "httpx": lambda made: lambda url, body: httpx.Client(transport=made.transport(httpx)).post(url, content=body),
    "httpx2": lambda made: lambda url, body: httpx2.Client(transport=made.transport(httpx2)).post(url, content=body),
}


def _parts(file: Path) -> Iterator[bytes]:
    yield b"first part"
    yield file.read_bytes()


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("file", ["missing", ""], ids=["missing", "a folder"])
def test_a_body_that_its_sender_cannot_read_is_no_fault(client: str, file: str, tmp_path: Path) -> None:
    """A patch that moved a file breaks the call as a dropped line would, and HTTP clients call both a connection."""
    made = capture(tmp_path)
    post = CLIENTS[client](made)
    with ExactServer(sized(b"sample"), sized(b"never")) as server:
        with made.requests_session() as session:
            made.pin(session.get(server.url, timeout=5).content)
        with pytest.raises((requests.ConnectionError, OSError)):
            post(server.url, _parts(tmp_path / file))
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.fault, record.transport.pin_complete) == (None, None, True)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_port_where_nobody_listens_is_a_fault(client: str, tmp_path: Path) -> None:
    """Whatever is sent there."""
    with ExactServer() as server:
        url = server.url
    with pytest.raises((requests.ConnectionError, httpx.ConnectError, httpx2.ConnectError)):
        CLIENTS[client](capture(tmp_path))(url, iter([b"body"]))
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.fault) == (False, "connection")
