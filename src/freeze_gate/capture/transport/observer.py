"""One HTTP exchange, followed from outside: told by its bytes and its exceptions, never by a log."""

import threading
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from freeze_gate.capture.transport.content_encoding import ContentDecoder
from freeze_gate.capture.transport.length_checks import Declared
from freeze_gate.capture.transport.sse import ErrorEvents
from freeze_gate.evidence.record import TRANSIENT_STATUS

_SUCCESS: Final = 2  # hundred
_NO_BODY: Final = frozenset({204, 205, 304})
_LONGEST_LENGTH: Final = 15  # digits


class Headers(Protocol):
    """A case-insensitive mapping, as every HTTP library has one."""

    def get(self, name: str, /) -> str | None:
        """Return a header's value; several are one, with commas."""


class Outcome(NamedTuple):
    """How an exchange ended.

    `ok`: the transport did its work, or it did not, or that cannot be said. `whole`: the body arrived whole, or did
    not, or that cannot be told. `bytes_received` counts after chunk framing and before content decoding.
    """

    ok: bool | None = None
    whole: bool | None = None
    fault: str | None = None
    status_code: int | None = None
    timed_out: bool = False
    bytes_received: int | None = None
    bytes_declared: int | None = None


def is_success(status: int | None) -> bool:
    """Whether the body of an answer with this status is sampler output: a 2xx."""
    return status is not None and status // 100 == _SUCCESS


def status_outcome(status: int) -> Outcome:
    """Say what an answer that is no success means, whatever its body: an error body is not sampler output."""
    if status in TRANSIENT_STATUS:
        return Outcome(ok=False, fault="http_status", status_code=status)
    return Outcome(status_code=status)


class Exchange:
    """Follows one attempt. The client side calls `answered`, `received` for each piece, and one of the three ends.

    The first end counts; `ended` is called once, when it comes. `body` is what arrived of a 2xx answer, decoded, where
    `keep` asks for it. Safe to be ended from another thread.
    """

    def __init__(self, declared: Declared, ended: Callable[[], None], *, keep: bool = True) -> None:
        self.outcome: Outcome | None = None
        self.status: int | None = None
        self.body = bytearray()
        self._declared = declared
        self._ended = ended
        self._keeps = keep
        self._lock = threading.RLock()
        self._received = 0
        self._length: int | None = None
        self._framed = False
        self._decoder = ContentDecoder(None)
        self._events: ErrorEvents | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the answer's body is sampler output."""
        return is_success(self.status)

    @property
    def readable(self) -> bool:
        """Whether `body` is the body: its coding is known, and its bytes keep to it."""
        return self._decoder.is_known and not self._decoder.is_broken

    def answered(self, status: int, headers: Headers, *, bodiless: bool = False, framed: bool = False) -> None:
        """Take the status and the headers.

        `bodiless`: no body belongs to it (an answer to HEAD). `framed`: the protocol marks the end of a body by
        itself, as HTTP/2 does.
        """
        with self._lock:
            self.status = status
            chunked = "chunked" in (headers.get("transfer-encoding") or "").lower()
            empty = bodiless or status in _NO_BODY
            self._length = None if chunked or empty else _length(headers.get("content-length"))
            self._framed = framed or chunked or empty or self._length is not None
            self._decoder = ContentDecoder(None if empty else headers.get("content-encoding"))
            if (headers.get("content-type") or "").split(";")[0].strip().lower() == "text/event-stream":
                self._events = ErrorEvents()
        if not self.succeeded:
            self.settled(status_outcome(status))

    def received(self, piece: bytes) -> None:
        """Take the next bytes of the body, after chunk framing and before content decoding."""
        with self._lock:
            if self.outcome is None:
                self._received += len(piece)
                self._keep(self._decoder.feed(piece))

    def finished(self) -> None:
        """Take the end of the body, to which the client came without an error."""
        with self._lock:
            if self.outcome is None:
                self._keep(self._decoder.flush())
                if self._events:
                    self._events.end()
                self.settled(self._judged())

    def failed(self, fault: str | None) -> None:
        """Take an error of the client; None is one that says nothing about the transport."""
        with self._lock:
            if self.outcome is None:
                self._keep(self._decoder.flush())
                if fault and self._events and self._events.seen:
                    fault = "stream_error"
                whole = False if self.succeeded else None
                self.settled(self._outcome(ok=False if fault else None, fault=fault, whole=whole))

    def abandoned(self) -> None:
        """Take it that the client's user stopped reading: no fault, but the end was not seen.

        Where all that was declared has arrived, it is a whole body all the same.
        """
        with self._lock:
            if self.outcome is not None:
                return
            if self.succeeded and self._at_its_end():
                self.finished()
            elif self._events and self._events.seen:
                self.failed("stream_error")
            else:
                short = self._length is not None and self._received < self._length
                self.settled(self._outcome(ok=None, whole=False if short else None))

    def _at_its_end(self) -> bool:
        if self._length is not None:
            return self._received == self._length
        if self._decoder.is_coded:
            return self._received > 0 and self._decoder.is_complete
        return self._declared.ends_with is not None and not self._declared.short(self.body)

    def _keep(self, decoded: bytes) -> None:
        if self.succeeded:
            if self._keeps:
                self.body += decoded
            if self._events:
                self._events.feed(decoded)

    def _judged(self) -> Outcome:
        """Judge a body that came to its end, as far as the client noticed."""
        if self._length not in (None, self._received) or (
            not self._decoder.is_broken and not self._decoder.is_complete
        ):
            return self._outcome(ok=False, fault="truncated", whole=False)
        if self._events and self._events.seen:
            return self._outcome(ok=False, fault="stream_error", whole=False)
        if self._decoder.is_broken:
            return self._outcome(ok=None, whole=None)
        if not self._decoder.is_known:  # nothing that was declared can be looked at
            unchecked = self._declared == Declared()
            return self._outcome(ok=True if unchecked else None, whole=True if self._framed else None)
        return self._checked()

    def _checked(self) -> Outcome:
        if self._declared.short(self.body):
            return self._outcome(ok=False, fault="length_check", whole=False)
        if self._declared.long(self.body):
            return self._outcome(ok=False, fault="length_check", whole=True)
        told = self._framed or self._decoder.is_coded or self._declared.ends_with is not None
        return self._outcome(ok=True, whole=True if told else None)

    def _outcome(self, *, ok: bool | None, whole: bool | None, fault: str | None = None) -> Outcome:
        return Outcome(
            ok=ok,
            whole=whole,
            fault=fault,
            status_code=self.status,
            timed_out=fault == "timeout",
            bytes_received=self._received if self.succeeded else None,
            bytes_declared=self._length if self.succeeded else None,
        )

    def settled(self, outcome: Outcome) -> None:
        """Take an end that is known from elsewhere."""
        with self._lock:
            if self.outcome is not None:
                return
            self.outcome = outcome
        self._ended()


def _length(text: str | None) -> int | None:
    """Read a `Content-Length`; repeated equal values are one (RFC 9110, section 8.6), anything odd is not declared."""
    values = {value.strip() for value in (text or "").split(",")}
    value = values.pop()
    plain = not values and value.isascii() and value.isdigit() and len(value) <= _LONGEST_LENGTH
    return int(value) if plain else None
