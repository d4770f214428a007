"""The recorder does not change what it records: a server sees the same requests with it and without it."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import anthropic
import httpx
import httpx2
import openai
import pytest
import requests

from freeze_gate.capture import Capture
from tests.support.recording_clients import bundle, capture, record_in

PROXY_VARIABLES: Final = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


class _Request(NamedTuple):
    """What a server saw of one request; `connection` counts its connections. Accept-Encoding is the recorder's own."""

    connection: int
    line: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


class WatchingServer(ThreadingHTTPServer):
    """Serves as a sampler, and as its proxy, keeps connections open, and writes down what it sees."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[_Request] = []
        self.connections: list[socket.socket] = []

    @property
    def address(self) -> str:
        """Its host and port."""
        return f"127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        """Begin to serve."""
        threading.Thread(target=self.serve_forever, args=[0.01]).start()
        return self

    def __exit__(self, *args: object) -> None:
        """Stop."""
        self.shutdown()
        super().__exit__(*args)

    def take_requests(self) -> list[_Request]:
        """Return what was seen since the last time, and forget it."""
        requests, self.requests, self.connections = self.requests, [], []
        return requests


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: WatchingServer

    def do_POST(self) -> None:
        if self.connection not in self.server.connections:
            self.server.connections.append(self.connection)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = sorted((name.lower(), value) for name, value in self.headers.items())
        seen = tuple(item for item in headers if item[0] != "accept-encoding")
        number = self.server.connections.index(self.connection)
        self.server.requests.append(_Request(number, self.requestline, seen, body))
        is_moved = "/moved" in self.path
        self.send_response(307 if is_moved else 200)
        if is_moved:
            self.send_header("Location", self.path.replace("/moved", "/v1/sample"))
        self.send_header("Set-Cookie", "session=1")
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"sample")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


class Kind(NamedTuple):
    """A client without the recorder and with it."""

    plain: Callable[[], Any]
    recorded: Callable[[Capture], Any]


KINDS: Final = {
    "requests": Kind(requests.Session, lambda made: made.requests_session()),
    "httpx by its transport": Kind(httpx.Client, lambda made: httpx.Client(transport=made.transport(httpx))),
    "httpx2 by its transport": Kind(httpx2.Client, lambda made: httpx2.Client(transport=made.transport(httpx2))),
    "httpx by its async transport": Kind(
        httpx.AsyncClient, lambda made: httpx.AsyncClient(transport=made.async_transport(httpx))
    ),
    "httpx": Kind(httpx.Client, lambda made: made.record(httpx.Client())),
    "httpx, async": Kind(httpx.AsyncClient, lambda made: made.record(httpx.AsyncClient())),
    "the OpenAI SDK's": Kind(openai.DefaultHttpxClient, lambda made: made.record(openai.DefaultHttpxClient())),
    "the OpenAI SDK's, async": Kind(
        openai.DefaultAsyncHttpxClient, lambda made: made.record(openai.DefaultAsyncHttpxClient())
    ),
    "the Anthropic SDK's": Kind(anthropic.DefaultHttpxClient, lambda made: made.record(anthropic.DefaultHttpxClient())),
    "the Anthropic SDK's, async": Kind(
        anthropic.DefaultAsyncHttpxClient, lambda made: made.record(anthropic.DefaultAsyncHttpxClient())
    ),
}

SITUATIONS: Final[dict[str, tuple[str, dict[str, str]]]] = {
    "directly": ("http://SERVER/v1/sample", {}),
    "by a proxy, the only one that knows the name": (
        "http://sampler.invalid/v1/sample",
        {"http_proxy": "http://SERVER"},
    ),
    "by a proxy for everything": ("http://sampler.invalid/v1/sample", {"all_proxy": "http://SERVER"}),
    "past a proxy": ("http://SERVER/v1/sample", {"http_proxy": "http://127.0.0.1:9", "no_proxy": "127.0.0.1"}),
    "through a redirect": ("http://SERVER/moved", {}),
    "with a user and a password": ("http://user:secret@SERVER/v1/sample", {}),
}


@contextmanager
def _environment(server: WatchingServer, proxies: dict[str, str]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in PROXY_VARIABLES:
            patch.delenv(name, raising=False)
            patch.delenv(name.upper(), raising=False)
        for name, text in proxies.items():
            patch.setenv(name, text.replace("SERVER", server.address))
        yield


def _ask(make: Callable[[], Any], url: str) -> list[tuple[int, bytes, bool | None]]:
    """Post twice with one client; return the statuses, the bodies, and whether TCP keep-alive is on."""
    client = make()
    if isinstance(client, httpx.AsyncClient | httpx2.AsyncClient):
        return asyncio.run(_ask_async(client, url))
    with client:
        return [_facts(client.post(url, json={"model": "small-1"})) for _ in range(2)]


async def _ask_async(client: Any, url: str) -> list[tuple[int, bytes, bool | None]]:
    async with client:
        return [_facts(await client.post(url, json={"model": "small-1"})) for _ in range(2)]


def _facts(response: Any) -> tuple[int, bytes, bool | None]:
    stream = getattr(response, "extensions", {}).get("network_stream")
    if stream is None:
        return response.status_code, response.content, None
    option = stream.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    return response.status_code, response.content, bool(option)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_server_sees_the_same_requests(situation: str, kind: str, tmp_path: Path) -> None:
    """Proxies, redirects, cookies, headers, connections and TCP keep-alive are those of the plain client."""
    url, proxies = SITUATIONS[situation]
    with WatchingServer() as server, _environment(server, proxies):
        url = url.replace("SERVER", server.address)
        plain = _ask(KINDS[kind].plain, url), server.take_requests()
        recorded = _ask(lambda: KINDS[kind].recorded(capture(tmp_path)), url), server.take_requests()
    assert recorded == plain
    assert plain[1], "the server saw nothing"
    assert record_in(bundle(tmp_path)).transport.status_code == plain[0][0][0]


@pytest.mark.parametrize("client", [object(), requests.Session()], ids=["an object", "a session"])
def test_what_is_no_client_of_httpx_is_not_recorded(client: object, tmp_path: Path) -> None:
    """A session of requests is made by the capture."""
    with pytest.raises(TypeError, match="httpx"):
        capture(tmp_path).record(client)
