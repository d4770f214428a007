"""What a server sends, byte by byte, and what the record says then, whichever client was recorded."""

import gzip
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from freeze_gate.evidence.digest import Sha256
from tests.support.exact_server import HOLD, RESET, Answer, answer, chunked, sized
from tests.support.recording_clients import IMPATIENT, PATIENT, pinned_in, record_in

TEXT = bytes(range(256)) * 40
GZIP = gzip.compress(TEXT + Sha256.of(TEXT).encode() * 50, mtime=0)
CUT = zlib.decompressobj(31).decompress(GZIP[:-40])
EVENTS = [b"event: start\ndata: 1\n\n", b"data: event: error\n\n", b"event: delta\ndata: two\n\n"]
ERROR = [b"event: er", b'ror\r\ndata: {"type": "overloaded_error"}\r', b"\n\r\n"]
STREAM = "Content-Type: text/event-stream"
PAGE = b"<html><h1>It works!</h1></html>"


class Case(NamedTuple):
    """What the server does to one connection after the other, and what the record says then."""

    answers: tuple[Answer, ...]
    ok: bool | None
    pinned: bytes | None = None
    complete: bool | None = None
    fault: str | None = None
    status: int | None = 200
    received: int | None = None
    declared: int | None = None
    retries: int = 0
    checks: dict[str, Any] = {}  # noqa: RUF012 - never changed

    @property
    def wait(self) -> float:
        """How long a client waits in silence."""
        return IMPATIENT if any(planned.end == HOLD for planned in self.answers) else PATIENT


CASES = {
    "short-body": Case(
        (answer(b"fourteen bytes", "Content-Length: 10000"),),
        ok=False,
        fault="truncated",
        pinned=b"fourteen bytes",
        complete=False,
        received=14,
        declared=10000,
    ),
    "whole-gzip": Case(
        (sized(GZIP, "Content-Encoding: gzip"),),
        ok=True,
        pinned=gzip.decompress(GZIP),
        complete=True,
        received=len(GZIP),
        declared=len(GZIP),
    ),
    "cut-gzip-of-matching-length": Case(
        (sized(GZIP[:-40], "Content-Encoding: gzip"),),
        ok=False,
        fault="truncated",
        pinned=CUT,
        complete=False,
        received=len(GZIP) - 40,
        declared=len(GZIP) - 40,
    ),
    "cut-gzip-without-length": Case(
        (answer(GZIP[:-40], "Content-Encoding: gzip"),),
        ok=False,
        fault="truncated",
        pinned=CUT,
        complete=False,
        received=len(GZIP) - 40,
    ),
    "cut-gzip-in-whole-chunks": Case(
        (answer(chunked(GZIP[:60], GZIP[60:-40]), "Content-Encoding: gzip", "Transfer-Encoding: chunked"),),
        ok=False,
        fault="truncated",
        pinned=CUT,
        complete=False,
        received=len(GZIP) - 40,
    ),
    "busy-twice": Case(
        (sized(b"busy", status="503 Busy"), sized(b"busy", status="503 Busy"), sized(b"sample")),
        ok=True,
        pinned=b"sample",
        complete=True,
        received=6,
        declared=6,
        retries=2,
    ),
    "silence": Case((Answer((), HOLD),), ok=False, fault="timeout", status=None),
    "error-event": Case(
        (answer([*EVENTS, *ERROR], STREAM),),
        ok=False,
        fault="stream_error",
        pinned=b"".join([*EVENTS, *ERROR]),
        complete=False,
        received=len(b"".join([*EVENTS, *ERROR])),
    ),
    "no-end-marker": Case((answer(EVENTS, STREAM),), ok=True, pinned=b"".join(EVENTS), received=len(b"".join(EVENTS))),
    "declared-end-marker-is-missing": Case(
        (answer(EVENTS, STREAM),),
        ok=False,
        fault="length_check",
        pinned=b"".join(EVENTS),
        complete=False,
        received=len(b"".join(EVENTS)),
        checks={"ends_with": "data: [DONE]\n\n"},
    ),
    "empty": Case((sized(b""),), ok=True, pinned=b"", complete=True, received=0, declared=0),
    "no-content": Case(
        (answer(b"", status="204 No Content"),), ok=True, status=204, pinned=b"", complete=True, received=0
    ),
    "overloaded": Case((sized(b'{"error": 1}', status="529 Overloaded"),), ok=False, fault="http_status", status=529),
    "html": Case((sized(PAGE, status="503 Service Unavailable"),), ok=False, fault="http_status", status=503),
    "rate-limit": Case((sized(b"{}", status="429 Slow Down"),), ok=False, fault="http_status", status=429),
    "bad-request": Case((sized(b"{}", status="400 Bad Request"),), ok=None, status=400),
    "unauthorized": Case((sized(b"{}", status="401 Unauthorized"),), ok=None, status=401),
    "not-found": Case((sized(b"{}", status="404 Not Found"),), ok=None, status=404),
    "reset-before-headers": Case(
        (Answer((), RESET), sized(b"sample")),
        ok=True,
        pinned=b"sample",
        complete=True,
        received=6,
        declared=6,
        retries=1,
    ),
    "cut-chunk": Case(
        (answer(b"400\r\nfive!", "Transfer-Encoding: chunked"),),
        ok=False,
        fault="truncated",
        pinned=b"five!",
        complete=False,
        received=5,
    ),
    "no-last-chunk": Case(
        (answer(b"5\r\nfive!\r\n", "Transfer-Encoding: chunked"),),
        ok=False,
        fault="truncated",
        pinned=b"five!",
        complete=False,
        received=5,
    ),
    "a-page-by-a-proxy": Case(
        (sized(PAGE, "Content-Type: text/html"),),
        ok=True,
        pinned=PAGE,
        complete=True,
        received=len(PAGE),
        declared=len(PAGE),
    ),
    "one-byte-too-few": Case(
        (sized(b"x" * 99),),
        ok=False,
        fault="length_check",
        pinned=b"x" * 99,
        complete=False,
        received=99,
        declared=99,
        checks={"min_bytes": 100},
    ),
    "one-byte-too-many": Case(
        (sized(b"x" * 101),),
        ok=False,
        fault="length_check",
        pinned=b"x" * 101,
        complete=True,
        received=101,
        declared=101,
        checks={"max_bytes": 100},
    ),
    "reset-in-the-body": Case(
        (answer(b"fourteen bytes", "Content-Length: 10000", end=RESET),),
        ok=False,
        fault="connection",
        pinned=b"fourteen bytes",
        complete=False,
        received=14,
        declared=10000,
    ),
    "silence-in-the-body": Case(
        (answer(b"fourteen bytes", "Content-Length: 10000", end=HOLD),),
        ok=False,
        fault="timeout",
        pinned=b"fourteen bytes",
        complete=False,
        received=14,
        declared=10000,
    ),
    "cut-before-the-body": Case(
        (answer(b"", "Content-Length: 10000"),), ok=False, fault="truncated", received=0, declared=10000
    ),
    "closed-without-an-answer": Case((Answer(),), ok=False, fault="connection", status=None),
    "no-http-at-all": Case((Answer([b"SSH-2.0-OpenSSH_9.6\r\n\r\n"]),), ok=None, status=None),
    "chunks-in-many-pieces": Case(
        (
            answer(
                [b"5\r", b"\nfiv", b"e!\r\n", b"3;ext=1\r\nabc\r", b"\n0\r\nTrailer: 1\r\n\r\n"],
                "Transfer-Encoding: chunked",
            ),
        ),
        ok=True,
        pinned=b"five!abc",
        complete=True,
        received=8,
    ),
}


def check(folder: Path, expected: Case) -> None:
    """Compare the record in a bundle, and the bytes that it points at, with what they should be."""
    record = record_in(folder)
    seen = record.transport
    assert (record.transport_ok, seen.fault, seen.status_code) == (expected.ok, expected.fault, expected.status)
    assert (seen.bytes_received, seen.bytes_declared) == (expected.received, expected.declared)
    assert (seen.retry_count, seen.timed_out) == (expected.retries, expected.fault == "timeout")
    assert pinned_in(folder, record) == expected.pinned
    assert seen.pin_complete is expected.complete
    assert record.fixture_sha256 == (None if expected.pinned is None else Sha256.of(expected.pinned))
