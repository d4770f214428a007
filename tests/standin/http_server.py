"""HTTP/1.1 on a port of its own: connections that are kept, answers in one piece, and the trouble that was planned."""

import contextlib
import gzip
import itertools
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from tests.standin.faults import Fault, Faults

_WORTH_COMPRESSING: Final = 1400
_LONGEST_MEETING: Final = 10.0


class Request(NamedTuple):
    """One request as it arrived. `host` is the listener's name. Header names are in lower case.

    `peer` is the client's port: requests of one connection share it.
    """

    host: str
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    peer: int

    def json(self) -> Any:
        """Read the body; None where it is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class Reply(NamedTuple):
    """One answer. `payload` is sent as it is where it is bytes or a file, else as JSON; None is an empty body."""

    status: int
    payload: Any = None
    headers: dict[str, str] = {}  # noqa: RUF012 - never written to


class Listener:
    """A port of its own with a handler behind it. `log` holds every request that arrived, `epoch` dates the answers."""

    def __init__(
        self,
        name: str,
        address: tuple[str, int],
        answer: Callable[[Request], Reply],
        faults: Faults,
        *,
        log: list[Request],
        epoch: Callable[[], float] = time.time,
    ) -> None:
        self.name = name
        self.answer = answer
        self.faults = faults
        self.log = log
        self.epoch = epoch
        self.refusing = False
        self.stopping = threading.Event()
        self._connections: set[socket.socket] = set()
        self._server = _Server(address, _Handler)
        self._server.listener = self
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._accept, name=f"standin-{name}")
        self._thread.start()

    def refuse(self) -> None:
        """Close the port and all connections, now and for ever. Called from a request's own thread."""
        self.refusing = True
        self._stop_accepting()
        self._drop()

    def close(self) -> None:
        """Stop, and wait until every thread has ended."""
        self.stopping.set()
        self._stop_accepting()
        self._drop()
        self._server.server_close()

    def _accept(self) -> None:
        while True:
            try:
                connection, address = self._server.get_request()
            except OSError:
                return
            if self.refusing or self.stopping.is_set():
                connection.close()
                return
            self._server.process_request(connection, address)

    def _stop_accepting(self) -> None:
        """Wake the accepting thread by a connection of our own: nothing else does on every system, and at once."""
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        self._thread.join()
        self._server.socket.close()

    def track(self, connection: socket.socket) -> None:
        """Remember a connection, to end it with the listener."""
        self._connections.add(connection)

    def forget(self, connection: socket.socket) -> None:
        """Forget a connection that has ended."""
        self._connections.discard(connection)

    def _drop(self) -> None:
        for connection in list(self._connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # waited for, so that no socket is left behind
    request_queue_size = 512
    listener: Listener

    def server_bind(self) -> None:
        """Bind, without the look-up of the host's name that the base class does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "standin", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that hangs up is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # an answer in two writes would wait 40 ms for a delayed acknowledgement
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.listener.track(self.connection)

    def finish(self) -> None:
        self.server.listener.forget(self.connection)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Say nothing."""

    def _serve(self) -> None:
        listener = self.server.listener
        if listener.refusing or listener.stopping.is_set():
            self.close_connection = True
            return
        request = self._request()
        listener.log.append(request)
        reply: Reply | None = None
        faults = listener.faults.meeting(request.host, request.method, request.path)
        for fault in faults:
            if fault.kind in _BEFORE:
                reply = _BEFORE[fault.kind](self, fault) or reply
                if self.close_connection:
                    return
        reply = reply or listener.answer(request)
        self._send(reply, next((fault for fault in faults if fault.kind in _INSTEAD), None))

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = _serve  # noqa: N815 - the base class names them so

    def _request(self) -> Request:
        parts = urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self._body(headers)
        host, peer = self.server.listener.name, self.client_address[1]
        return Request(host, self.command, unquote(parts.path), query, headers, body, peer)

    def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(headers.get("content-length", "0")))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send(self, reply: Reply, fault: Fault | None) -> None:
        body, headers = self._encoded(reply)
        if isinstance(body, Path):
            self._send_file(reply.status, body, headers)
            return
        head = self._head(reply.status, {**headers, "Content-Length": str(len(body))})
        if self.command == "HEAD":
            body = b""
        if fault:
            _INSTEAD[fault.kind](self, head, body, fault)
        else:
            self.wfile.write(head + body)

    def _encoded(self, reply: Reply) -> tuple[bytes | Path, dict[str, str]]:
        if reply.payload is None:
            return b"", reply.headers
        if isinstance(reply.payload, bytes | Path):
            return reply.payload, {"Content-Type": "application/octet-stream", **reply.headers}
        body = json.dumps(reply.payload).encode()
        headers = {"Content-Type": "application/json; charset=utf-8", **reply.headers}
        if len(body) < _WORTH_COMPRESSING or "gzip" not in self.headers.get("Accept-Encoding", ""):
            return body, headers
        return gzip.compress(body, 1), {**headers, "Content-Encoding": "gzip"}

    def _head(self, status: int, headers: dict[str, str]) -> bytes:
        reason = self.responses.get(status, ("", ""))[0]
        lines = [f"HTTP/1.1 {status} {reason}", f"Date: {self.date_time_string(self.server.listener.epoch())}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def _send_file(self, status: int, path: Path, headers: dict[str, str]) -> None:
        with path.open("rb") as stream:
            self.wfile.write(self._head(status, {**headers, "Content-Length": str(path.stat().st_size)}))
            self.connection.sendfile(stream)

    def reset(self, _fault: Fault) -> None:
        """Close so that the peer is told of a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def refuse(self, fault: Fault) -> None:
        """Drop the connection and stop listening."""
        self.server.listener.refuse()
        self.reset(fault)

    def status(self, fault: Fault) -> Reply:
        """Answer with an error."""
        payload = {"message": "Planned trouble", "documentation_url": "https://docs.github.com/rest"}
        return Reply(fault.status, payload if fault.payload is None else fault.payload, fault.headers)

    def slow(self, fault: Fault) -> None:
        """Let time pass."""
        self.server.listener.stopping.wait(fault.seconds)

    def meet(self, fault: Fault) -> None:
        """Wait for the others; after all have met once, nobody waits again."""
        try:
            fault.barrier.wait(_LONGEST_MEETING)
        except threading.BrokenBarrierError:
            return
        fault.times = 0

    def act(self, fault: Fault) -> None:
        """Let somebody else be faster."""
        fault.act()

    def cut(self, head: bytes, body: bytes, _fault: Fault) -> None:
        """Announce all and send half."""
        self.wfile.write(head + body[: len(body) // 2])
        self.close_connection = True

    def lose(self, _head: bytes, _body: bytes, fault: Fault) -> None:
        """Send nothing of an answer that was ready."""
        self.reset(fault)

    def drip(self, head: bytes, body: bytes, fault: Fault) -> None:
        """Send one byte at a time."""
        self.wfile.write(head)
        self._trickle((body[index : index + 1] for index in range(len(body))), fault)

    def drip_head(self, head: bytes, body: bytes, fault: Fault) -> None:
        """Send one byte at a time, from the first one on."""
        self.drip(b"", head + body, fault)

    def drip_chunk(self, head: bytes, _body: bytes, fault: Fault) -> None:
        """Begin a chunk whose first line does not end."""
        chunked = re.sub(rb"Content-Length: \d+", b"Transfer-Encoding: chunked", head)
        self.wfile.write(chunked + b"1;")
        self._trickle(itertools.repeat(b"x"), fault)

    def go_on(self, _head: bytes, _body: bytes, fault: Fault) -> None:
        """Say that the request may go on, and never more."""
        self._trickle(itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n"), fault)

    def greet(self, _head: bytes, _body: bytes, _fault: Fault) -> None:
        """Speak another protocol."""
        self.wfile.write(b"SSH-2.0-OpenSSH_9.9\r\n")
        self.close_connection = True

    def _trickle(self, pieces: Iterable[bytes], fault: Fault) -> None:
        """Send pieces, some time apart, until the client or the listener has enough."""
        self.close_connection = True
        for piece in pieces:
            if self.server.listener.stopping.wait(fault.seconds):
                return
            self.wfile.write(piece)


_BEFORE: Final[dict[str, Callable[[_Handler, Fault], Reply | None]]] = {
    "refuse": _Handler.refuse,
    "reset": _Handler.reset,
    "status": _Handler.status,
    "slow": _Handler.slow,
    "meet": _Handler.meet,
    "act": _Handler.act,
}
_INSTEAD: Final[dict[str, Callable[[_Handler, bytes, bytes, Fault], None]]] = {
    "cut": _Handler.cut,
    "lost": _Handler.lose,
    "drip": _Handler.drip,
    "drip-head": _Handler.drip_head,
    "drip-chunk": _Handler.drip_chunk,
    "continue": _Handler.go_on,
    "no-http": _Handler.greet,
}
