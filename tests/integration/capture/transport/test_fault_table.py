"""What is a fault of the transport: the table of docs/capture.md, held against real clients, servers and proxies."""

import contextlib
import json
import os
import re
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import httpx
import pytest
import requests

from freeze_gate.capture import Capture
from tests.support.blunt_server import BluntServer
from tests.support.exact_server import HOLD, RESET, Answer, ExactServer, answer, sized
from tests.support.recording_clients import ID, bundle, record_in

DOCUMENT: Final = Path(__file__).parents[4] / "docs" / "capture.md"
PATIENCE: Final = 2  # seconds of silence
HTTPS: Final = "https://sampler.invalid/v1/sample"


class Scene(NamedTuple):
    """Where a client is sent, and by which proxies."""

    url: str
    proxies: dict[str, str] = {}  # noqa: RUF012 - never changed


@contextmanager
def _serve(served: Answer) -> Iterator[Scene]:
    with ExactServer(served) as server:
        yield Scene(server.url)


@contextmanager
def _proxy(served: Answer) -> Iterator[Scene]:
    with ExactServer(served) as proxy:
        yield Scene(HTTPS, {"https_proxy": proxy.url.removesuffix("/v1/sample")})


@contextmanager
def _blunt(reply: bytes, url: str, **proxies: str) -> Iterator[Scene]:
    with BluntServer(reply) as server:
        port = str(server.port)
        yield Scene(url.replace("PORT", port), {name: text.replace("PORT", port) for name, text in proxies.items()})


@contextmanager
def _untrusted() -> Iterator[Scene]:
    with tempfile.TemporaryDirectory() as folder, TlsServer(_make_certificate(Path(folder))) as server:
        yield Scene(f"https://127.0.0.1:{server.port}/")


@contextmanager
def _nobody() -> Iterator[Scene]:
    with ExactServer() as server:
        url = server.url
    yield Scene(url)


class TlsServer(BluntServer):
    """A server whose certificate nobody trusts."""

    def __init__(self, certificate: Path) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate)
        super().__init__(b"")

    def _serve(self) -> None:
        while not self._is_stopped:
            connection, _ = self._listener.accept()
            with connection, contextlib.suppress(OSError):
                connection.settimeout(PATIENCE)
                self._context.wrap_socket(connection, server_side=True).close()


def _make_certificate(folder: Path) -> Path:
    """Make a certificate and its key, in one file."""
    file, key = folder / "server.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1"]
    subprocess.run([*command, "-keyout", key, "-out", file], capture_output=True, check=True, timeout=30)
    file.write_text(file.read_text() + key.read_text())
    return file


EVENTS: Final = "Content-Type: text/event-stream"
FAILED: Final = b"event: delta\ndata: 1\n\nevent: response.failed\ndata: {}\n\n"
EARLY_HINTS: Final = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsample"

SITUATIONS: Final[dict[str, Callable[[], AbstractContextManager[Scene]]]] = {
    "a whole answer": lambda: _serve(sized(b"sample")),
    "103 Early Hints, then a whole answer": lambda: _serve(Answer([EARLY_HINTS])),
    "an answer with 120 headers": lambda: _serve(sized(b"sample", *(f"x-trace-{n}: 1" for n in range(120)))),
    "a header of 200,000 bytes": lambda: _serve(sized(b"sample", "x-trace: " + "1" * 200_000)),
    "403": lambda: _serve(sized(b"no", status="403 Forbidden")),
    "429": lambda: _serve(sized(b"slow", status="429 Too Many Requests")),
    "503": lambda: _serve(sized(b"busy", status="503 Service Unavailable")),
    "the proxy answers CONNECT with 403": lambda: _proxy(sized(b"", status="403 Forbidden")),
    "the proxy answers CONNECT with 407": lambda: _proxy(sized(b"", status="407 Proxy Authentication Required")),
    "the proxy answers CONNECT with 502": lambda: _proxy(sized(b"", status="502 Bad Gateway")),
    "the proxy closes at CONNECT": lambda: _proxy(Answer()),
    "the proxy has no host": lambda: contextlib.nullcontext(
        Scene("http://sampler.invalid/", {"http_proxy": "http://:3128"})
    ),
    "the SOCKS proxy speaks no SOCKS": lambda: _blunt(
        b"HTTP/1.1 400 No\r\n\r\n", "http://sampler.invalid/", http_proxy="socks5h://127.0.0.1:PORT"
    ),
    "the certificate is not trusted": _untrusted,
    "the server speaks no TLS": lambda: _blunt(b"HTTP/1.1 400 No\r\n\r\n", "https://127.0.0.1:PORT/"),
    "the server speaks no HTTP": lambda: _blunt(b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "http://127.0.0.1:PORT/"),
    "nobody listens": _nobody,
    "a reset before the answer": lambda: _serve(Answer((), RESET)),
    "the end before the answer": lambda: _serve(Answer()),
    "silence": lambda: _serve(Answer((), HOLD)),
    "the end within the body": lambda: _serve(answer(b"sam", "Content-Length: 6")),
    "206 with a part that nobody asked for": lambda: _serve(
        sized(b"sam", "Content-Range: bytes 0-2/6", status="206 Partial Content")
    ),
    "`event: error` in a stream": lambda: _serve(sized(FAILED.replace(b"response.failed", b"error"), EVENTS)),
    "`event: response.failed` in a stream": lambda: _serve(sized(FAILED, EVENTS)),
}


def _run(command: list[str], proxies: dict[str, str]) -> "subprocess.CompletedProcess[bytes]":
    environ = {"PATH": os.environ["PATH"], **proxies}
    return subprocess.run(command, env=environ, capture_output=True, check=False, timeout=60)


def _sample(scene: Scene, folder: Path) -> None:
    options = ["--id", ID, "--bundle", str(folder), "--read-timeout", str(PATIENCE), "--url", scene.url]
    _run([sys.executable, "-m", "freeze_gate", "sample", *options], scene.proxies)


def _requests(scene: Scene, folder: Path) -> None:
    with Capture(ID, folder, environ={}).requests_session() as session, contextlib.suppress(requests.RequestException):
        session.post(scene.url, timeout=PATIENCE)


def _httpx(scene: Scene, folder: Path) -> None:
    # a proxy that httpx cannot use is refused before there is a client
    with (
        contextlib.suppress(httpx.HTTPError, httpx.InvalidURL, ImportError, ValueError),
        httpx.Client(transport=Capture(ID, folder, environ={}).transport(httpx), timeout=PATIENCE) as client,
    ):
        client.post(scene.url)


def _curl(*options: str) -> Callable[[Scene, Path], None]:
    def client(scene: Scene, folder: Path) -> None:
        command = ["curl", "--silent", *options, "--max-time", str(PATIENCE), "--data", "", "--write-out", "%{json}"]
        report = folder.parent / "curl.json"
        report.write_bytes(_run([*command, "--output", os.devnull, scene.url], scene.proxies).stdout)
        assert json.loads(report.read_bytes())
        transport = ["transport", "--id", ID, "--bundle", str(folder), "--from-curl", str(report)]
        assert _run([sys.executable, "-m", "freeze_gate", *transport], {}).returncode == 0

    return client


CLIENTS: Final[dict[str, Callable[[Scene, Path], None]]] = {
    "`sample`": _sample,
    "requests": _requests,
    "httpx": _httpx,
    "curl": _curl(),
    "curl `--fail`": _curl("--fail"),
}


def _table() -> dict[str, dict[str, str]]:
    """Read the table of the document: by situation and by client."""
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("| situation |"))
    header, _, *rest = (re.split(r" *\| *", line.strip("| ")) for line in _paragraph(lines[start:]))
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rest}


def _paragraph(lines: list[str]) -> list[str]:
    return lines[: lines.index("")] if "" in lines else lines


TABLE: Final = _table()


def _cell(folder: Path) -> str:
    """Say what a bundle says, in the words of the table."""
    if not (folder / "records" / f"{ID}.json").exists():
        return "null"
    record = record_in(folder)
    if record.transport_ok is None:
        assert record.transport.fault is None
        return "null"
    return record.transport.fault or "ok"


def test_the_table_has_every_situation_and_every_client() -> None:
    """No row and no column of the document is left out of the test, and none of the test is left out of it."""
    assert list(TABLE) == list(SITUATIONS)
    assert all(list(row) == list(CLIENTS) for row in TABLE.values())


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_situation_is_recorded_as_the_table_says(
    situation: str, client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for every client, and null wherever a client cannot tell or a rerun would not help."""
    with SITUATIONS[situation]() as scene:
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.upper(), raising=False)
        for name, value in scene.proxies.items():
            monkeypatch.setenv(name, value)
        CLIENTS[client](scene, bundle(tmp_path))
    assert _cell(bundle(tmp_path)) == TABLE[situation][client]


def test_a_declared_type_of_event_is_a_fault_for_the_command_as_well(tmp_path: Path) -> None:
    """`sample --error-event` and the library's `error_events` declare the same."""
    stream = FAILED.replace(b"response.failed", b"run.failed")
    with ExactServer(sized(stream, EVENTS)) as server:
        options = ["--id", ID, "--bundle", str(bundle(tmp_path)), "--url", server.url, "--error-event", "run.failed"]
        assert _run([sys.executable, "-m", "freeze_gate", "sample", *options], {}).returncode == 1
        library = Capture(ID, tmp_path / "library", environ={}, error_events=["run.failed"])
        with library.requests_session() as session:
            session.post(server.url, timeout=PATIENCE)
    assert [_cell(folder) for folder in (bundle(tmp_path), tmp_path / "library")] == ["stream_error", "stream_error"]
