"""A server on the loopback that sends exactly the bytes it is given, and ends the connection exactly as it is told."""

import socket
import struct
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple, Self

CLOSE, RESET, HOLD = "close", "reset", "hold"
BETWEEN_PIECES = 0.02
"""Seconds, so that each piece arrives by itself."""


class Answer(NamedTuple):
    """What one connection gets: pieces, one by one, and then an end. `HOLD` keeps it open until the server stops."""

    pieces: Sequence[bytes] = ()
    end: str = CLOSE


def answer(body: bytes | Sequence[bytes] = b"", *headers: str, status: str = "200 OK", end: str = CLOSE) -> Answer:
    """Build an answer with the given header lines and nothing else: no length unless a header says so."""
    head = "".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", *headers, "")).encode()
    pieces = [body] if isinstance(body, bytes) else list(body)
    return Answer([head, *pieces] if len(pieces) > 1 else [head + pieces[0]], end)


def sized(body: bytes, *headers: str, status: str = "200 OK") -> Answer:
    """Build an answer with its right length. It says that the connection ends, lest the client uses it once more."""
    kept = any(header.startswith("Connection:") for header in headers)
    return answer(
        body, f"Content-Length: {len(body)}", *headers, *(() if kept else ("Connection: close",)), status=status
    )


def chunked(*chunks: bytes) -> bytes:
    """Frame a whole chunked body."""
    return b"".join(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n" for chunk in (*chunks, b""))


class ExactServer:
    """Gives the first connection the first answer, and so on; the last answer also to all that come after it.

    `requests` holds what was asked: head and body of each.
    """

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[tuple[bytes, bytes]] = []
        self._answers = answers
        self._stop = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=16)
        self._threads = [threading.Thread(target=self._accept)]
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1/sample"

    def __enter__(self) -> Self:
        """Begin to serve."""
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop; what is held open is let go."""
        self._stop.set()
        with socket.create_connection(self._listener.getsockname()):  # wakes the one who waits in accept
            pass
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            if self._stop.is_set():
                connection.close()
                return
            thread = threading.Thread(target=self._serve, args=[connection])
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(10)
            try:
                index = self._read(connection)
                if index is not None:
                    self._send(connection, self._answers[min(index, len(self._answers) - 1)])
            except OSError:
                return  # the client had enough

    def _read(self, connection: socket.socket) -> int | None:
        head, body = b"", b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(65536)
            if not piece:
                return None
            head += piece
        head, _, body = head.partition(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")), 0)
        while len(body) < length:
            body += connection.recv(65536)
        self.requests.append((head, body))
        return len(self.requests) - 1

    def _send(self, connection: socket.socket, planned: Answer) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for position, piece in enumerate(planned.pieces):
            if position and self._stop.wait(BETWEEN_PIECES):
                return
            connection.sendall(piece)
        if planned.end == HOLD:
            self._stop.wait()
        elif planned.end == RESET:
            time.sleep(BETWEEN_PIECES)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
