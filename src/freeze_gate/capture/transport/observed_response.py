"""The body of an answer to requests, on its way from urllib3 to its reader, with the recorder looking on.

Read in pieces as they come (`read1`), urllib3 hands out the last bytes of a short body and of a cut chunk, which its
other ways of reading lose.
"""

from collections.abc import Generator
from http.client import HTTPException, IncompleteRead
from typing import Final

import urllib3
from urllib3.exceptions import ReadTimeoutError

from freeze_gate.capture.transport.causes import causes
from freeze_gate.capture.transport.observer import Exchange

_PIECE: Final = 1 << 16  # bytes


class _Tap:
    """The body after chunk framing and before content decoding, as a file; what is read is followed."""

    def __init__(self, response: urllib3.HTTPResponse, exchange: Exchange) -> None:
        self._response, self._exchange = response, exchange
        self.closed = False

    def isclosed(self) -> bool:
        """Whether there is nothing more to read."""
        return self.closed

    def read(self, amount: int | None = None) -> bytes:
        """Read to the end, or `amount` bytes, or as many as there are."""
        pieces, left = [], amount
        while left is None or left > 0:
            piece = self.read1(left)
            if not piece:
                break
            pieces.append(piece)
            left = None if left is None else left - len(piece)
        return b"".join(pieces)

    def read1(self, amount: int | None = None) -> bytes:
        """Read what is there, once; no bytes are the end."""
        if self.closed or amount == 0:
            return b""
        try:
            piece = self._response.read1(_PIECE if amount is None or amount < 0 else amount, decode_content=False)
            self._exchange.received(piece)
        except Exception as error:
            self._exchange.failed(_fault_in_body(error))
            self.close()
            raise
        if not piece or self._response.closed:
            self._exchange.finished()
            self.closed = True
        return piece

    def close(self) -> None:
        """Stop reading; before the end, that is the user's own choice."""
        self.closed = True
        self._response.close()
        self._exchange.abandoned()


class Passing(urllib3.HTTPResponse):
    """The response that the user of the session reads: urllib3's own decoding, over the tap."""

    def __init__(self, inner: urllib3.HTTPResponse, exchange: Exchange) -> None:
        self._inner = inner
        super().__init__(
            body=_Tap(inner, exchange),  # type: ignore[arg-type]
            headers=inner.headers,
            status=inner.status,
            version=inner.version,
            reason=inner.reason,
            preload_content=False,
            decode_content=inner.decode_content,
            original_response=inner._original_response,  # noqa: SLF001 - requests reads the cookies there
            enforce_content_length=False,  # the response below does
            request_url=inner.url,
        )

    def stream(self, amt: int | None = _PIECE, decode_content: bool | None = None) -> Generator[bytes, None, None]:  # noqa: FBT001 - urllib3's
        """Hand out pieces as they come, so that a stream of events is not held back."""
        while piece := self.read1(amt, decode_content=decode_content):
            yield piece

    def release_conn(self) -> None:
        """Give the connection back."""
        self._inner.release_conn()

    def shutdown(self) -> None:
        """End a read that blocks."""
        self._inner.shutdown()


def _fault_in_body(error: Exception) -> str | None:
    if isinstance(error, ReadTimeoutError):
        return "timeout"
    chain = list(causes(error))
    if any(isinstance(cause, IncompleteRead) for cause in chain):
        return "truncated"
    broken = any(isinstance(cause, OSError | urllib3.exceptions.SSLError) for cause in chain)
    return "connection" if broken else "truncated" if any(isinstance(cause, HTTPException) for cause in chain) else None
