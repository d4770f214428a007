"""HTTP clients of every kind, used as people use them, each recorded: what they send, how they read, what they pin."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import httpx
import httpx2
import requests

from freeze_gate.capture import Capture
from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.record import Record, read_record

ID: Final = "sorted-patch"
ASKED: Final = {"model": "small-1", "prompt": "sort"}
IMPATIENT, PATIENT = 0.8, 30.0
"""Seconds of silence after which a client gives up: where silence is what is tested, and where it is not."""

Client = Callable[[Capture, str, int, float], None]


def bundle(tmp_path: Path) -> Path:
    """Name the bundle's folder of a test."""
    return tmp_path / "freeze-gate"


def capture(tmp_path: Path, **declared: Any) -> Capture:
    """Begin a capture that reads nothing of this process's environment."""
    return Capture(ID, bundle(tmp_path), environ={}, **declared)


def record_in(folder: Path, fixture_id: str = ID) -> Record:
    """Read a record back as the gate does; it must be well-formed and contradict nothing."""
    record = read_record((folder / "records" / f"{fixture_id}.json").read_bytes(), fixture_id)
    assert not contradictions(record)
    return record


def pinned_in(folder: Path, record: Record) -> bytes | None:
    """Read what a record points at."""
    return None if record.fixture_path is None else (folder / record.fixture_path).read_bytes()


def _through_requests(read: Callable[[requests.Response], bytes]) -> Client:
    def client(capture: Capture, url: str, attempts: int, wait: float) -> None:
        with capture.requests_session() as session:
            for _ in range(attempts):
                _one_by_requests(session, capture, (url, wait), read)

    return client


def _one_by_requests(
    session: requests.Session, capture: Capture, asked: tuple[str, float], read: Callable[[requests.Response], bytes]
) -> None:
    url, wait = asked
    # what raw.read() raises is urllib3's own
    with (
        contextlib.suppress(requests.RequestException, requests.packages.urllib3.exceptions.HTTPError),  # type: ignore[attr-defined]
        session.post(url, json=ASKED, timeout=wait, stream=True) as response,
    ):
        body = read(response)
        if response.ok:
            capture.pin(body)


def _whole_by_requests(capture: Capture, url: str, attempts: int, wait: float) -> None:
    with capture.requests_session() as session:
        for _ in range(attempts):
            with contextlib.suppress(requests.RequestException):
                response = session.post(url, json=ASKED, timeout=wait)
                if response.ok:
                    capture.pin(response.content)


def _sync(library: Any, read: Callable[[Any], bytes]) -> Client:
    def client(capture: Capture, url: str, attempts: int, wait: float) -> None:
        transport = capture.transport(library, transport=library.HTTPTransport(verify=False))
        with library.Client(transport=transport, timeout=wait) as http:
            for _ in range(attempts):
                with contextlib.suppress(library.HTTPError), http.stream("POST", url, json=ASKED) as response:
                    body = read(response)
                    if response.is_success:
                        capture.pin(body)

    return client


def _async(library: Any, *, streaming: bool) -> Client:
    async def call(capture: Capture, url: str, attempts: int, wait: float) -> None:
        transport = capture.async_transport(library, transport=library.AsyncHTTPTransport(verify=False))
        async with library.AsyncClient(transport=transport, timeout=wait) as http:
            for _ in range(attempts):
                with contextlib.suppress(library.HTTPError):
                    async with http.stream("POST", url, json=ASKED) as response:
                        pieces = [piece async for piece in response.aiter_bytes()] if streaming else None
                        body = await response.aread() if pieces is None else b"".join(pieces)
                        if response.is_success:
                            capture.pin(body)

    return lambda *given: asyncio.run(call(*given))


CLIENTS: Final[dict[str, Client]] = {
    "requests-content": _whole_by_requests,
    "requests-iter-content": _through_requests(lambda response: b"".join(response.iter_content(7))),
    "requests-iter-any": _through_requests(lambda response: b"".join(response.iter_content(None))),
    "requests-raw-read": _through_requests(lambda response: response.raw.read(decode_content=True)),
    "requests-raw-stream": _through_requests(lambda response: b"".join(response.raw.stream(16, decode_content=True))),
    "httpx-read": _sync(httpx, lambda response: response.read()),
    "httpx-iter": _sync(httpx, lambda response: b"".join(response.iter_bytes(7))),
    "httpx-async-read": _async(httpx, streaming=False),
    "httpx-async-iter": _async(httpx, streaming=True),
    "httpx2-iter": _sync(httpx2, lambda response: b"".join(response.iter_bytes())),
    "httpx2-async-read": _async(httpx2, streaming=False),
}
