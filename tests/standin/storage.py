"""The blob host: it knows signed links and nothing else, and refuses a request that carries a token."""

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from tests.standin.http_server import Reply, Request
from tests.standin.state import utc

_XML: Final = {"Content-Type": "application/xml"}


@dataclass
class Link:
    """A signed link: to content that can be fetched, or to a place where `put` takes what is uploaded."""

    content: bytes | Path | None
    expires: float
    uses: int | None
    put: Callable[[bytes], None] | None = None


class Storage:
    """Signs links and serves them. `lifetime` is in seconds; `uses` is how often a link works, None for always."""

    def __init__(self, epoch: Callable[[], float]) -> None:
        self._epoch = epoch
        self._links: dict[str, Link] = {}
        self._blocks: dict[str, dict[str, bytes]] = {}
        self._lock = threading.Lock()
        self.address = ""
        self.lifetime = 60.0
        self.uses: int | None = None

    def sign(self, content: bytes | Path | None, put: Callable[[bytes], None] | None = None) -> str:
        """Make a link."""
        signature = secrets.token_urlsafe(24)
        expires = self._epoch() + self.lifetime
        self._links[signature] = Link(content, expires, None if put else self.uses, put)
        query = urlencode({"se": utc(expires), "sp": "rw" if put else "r", "sv": "2026-01-01", "sig": signature})
        return f"{self.address}/actions-results/{secrets.token_hex(8)}/artifact.zip?{query}"

    def signatures(self) -> list[str]:
        """Name the secret part of every link that was made: no log may hold one."""
        return list(self._links)

    def answer(self, request: Request) -> Reply:
        """Serve a link."""
        if "authorization" in request.headers:
            return _refused(
                400, "InvalidAuthenticationInfo", "Authentication information is not given in the correct format"
            )
        with self._lock:
            link = self._links.get(request.query.get("sig", ""))
            if link is None or self._epoch() >= link.expires or link.uses == 0:
                return _refused(403, "AuthenticationFailed", "Signature not valid in the specified time frame")
            if link.uses is not None:
                link.uses -= 1
        if request.method == "PUT" and link.put:
            return self._put(request, link.put)
        if request.method not in ("GET", "HEAD") or link.content is None:
            return _refused(405, "UnsupportedHttpVerb", "The resource does not support the verb")
        return Reply(200, link.content, {"Content-Type": "application/zip", **_stamp()})

    def _put(self, request: Request, put: Callable[[bytes], None]) -> Reply:
        """Take a block, the list of blocks that makes the blob whole, or a small blob in one piece."""
        blocks = self._blocks.setdefault(request.query["sig"], {})
        what = request.query.get("comp")
        if what == "block":
            blocks[request.query["blockid"]] = request.body
        elif what == "blocklist":
            put(b"".join(blocks[name] for name in _block_names(request.body)))
        else:
            put(request.body)
        return Reply(201, None, {**_stamp(), "x-ms-request-server-encrypted": "true"})


def _block_names(xml: bytes) -> list[str]:
    return [part.split("<")[0] for part in xml.decode().split("<Latest>")[1:]]


def _stamp() -> dict[str, Any]:
    return {
        "ETag": '"0x8DD0000000000"',
        "Last-Modified": "Sun, 29 Nov 2026 12:00:00 GMT",
        "x-ms-request-id": secrets.token_hex(16),
        "x-ms-version": "2026-01-01",
    }


def _refused(status: int, code: str, message: str) -> Reply:
    xml = f'<?xml version="1.0" encoding="utf-8"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return Reply(status, xml.encode(), {**_XML, "x-ms-error-code": code})
