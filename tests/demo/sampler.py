"""A sampler to ask: it answers as the path says, the same each time, a new answer each time, a part, or nothing."""

import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_COUNT = itertools.count(1)
ROWS = [1, 2, 3, 5, 8, 13]


class _Sampler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        if self.path == "/silent":
            return
        seed = next(_COUNT) if self.path == "/moving" else 0
        body = json.dumps({"seed": seed, "rows": ROWS}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:20] if self.path == "/cut" else body)

    def log_message(self, *_words: object) -> None:
        """Stay silent: the demo tells the story."""


@contextmanager
def sampler() -> Iterator[str]:
    """Run the sampler and return its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Sampler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
