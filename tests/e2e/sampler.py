"""A sampler on the loopback that gives the answers it was told to give, the last one again and again."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class Sampler:
    """Answers every POST with the next text. `url` is its address, `asked` how often it was asked."""

    def __init__(self, *answers: str) -> None:
        self._answers = answers
        self._lock = threading.Lock()
        self.asked = 0
        sampler = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                body = sampler._next().encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1/sample"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> Self:
        """Use as a context manager to stop it."""
        return self

    def __exit__(self, *_exc: object) -> None:
        """Stop it."""
        self._server.shutdown()
        self._server.server_close()

    def _next(self) -> str:
        with self._lock:
            self.asked += 1
            return self._answers[min(self.asked, len(self._answers)) - 1]
