"""A server on the loopback that answers the first bytes of a connection, whatever they are, TLS or SOCKS as well."""

import contextlib
import socket
import threading
from typing import Self


class BluntServer:
    """Sends `reply` after the first bytes of each connection, and ends the connection."""

    def __init__(self, reply: bytes) -> None:
        self._reply = reply
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=16)
        self._thread = threading.Thread(target=self._serve)
        self._is_stopped = False
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        """Begin to serve."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self._is_stopped = True
        with socket.create_connection(("127.0.0.1", self.port)):  # wakes the thread that waits in accept
            pass
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while not self._is_stopped:
            connection, _ = self._listener.accept()
            with connection, contextlib.suppress(OSError):
                connection.settimeout(1)
                if connection.recv(65536):
                    connection.sendall(self._reply)
                    connection.shutdown(socket.SHUT_WR)
                    connection.recv(65536)
