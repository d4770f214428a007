"""One HTTP exchange, observed from outside: judged by its bytes and its exceptions, never by a log."""

import hashlib
import re
import threading
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from freeze_gate.capture.transport.content_encoding import ContentDecoder
from freeze_gate.capture.transport.length_checks import NO_CHECKS, BodyChecks
from freeze_gate.capture.transport.sse import SseErrorDetector
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import TRANSIENT_STATUS

_SUCCESS_CLASS: Final = 2  # hundred
PARTIAL_CONTENT: Final = 206
_CONTENT_RANGE: Final = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})", re.IGNORECASE)
_BODILESS_STATUS: Final = frozenset({204, 205, 304})
_MAX_LENGTH_DIGITS: Final = 15


class Headers(Protocol):
    """A case-insensitive mapping, as every HTTP library has one."""

    def get(self, name: str, /) -> str | None:
        """Return a header's value; several are one, with commas."""


class TransportOutcome(NamedTuple):
    """How an exchange ended.

    `ok`: the transport did its work, or it did not, or that cannot be said. `complete`: the body arrived complete, or
    did not, or that cannot be told. `bytes_received` counts after chunk framing and before content decoding.
    """

    ok: bool | None = None
    complete: bool | None = None
    fault: str | None = None
    status_code: int | None = None
    timed_out: bool = False
    bytes_received: int | None = None
    bytes_declared: int | None = None


def is_success_status(status: int | None) -> bool:
    """Whether the body of an answer with this status is sampler output: a 2xx."""
    return status is not None and status // 100 == _SUCCESS_CLASS


def outcome_of_status(status: int) -> TransportOutcome:
    """Return what an answer that is no success means, whatever its body: an error body is not sampler output."""
    if status in TRANSIENT_STATUS:
        return TransportOutcome(ok=False, fault="http_status", status_code=status)
    return TransportOutcome(status_code=status)


class Answer:
    """The status of one attempt and the digests of its body, of an error's too. It is small, so each one is kept.

    `status` is None as long as no answer came. `has_ended` says that nothing more is awaited.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        self.has_ended = False
        self._sent, self._decoded = hashlib.sha256(), hashlib.sha256()

    def add(self, sent: bytes, decoded: bytes) -> None:
        """Take the next bytes of the body, as they were sent and as they are after content decoding."""
        self._sent.update(sent)
        self._decoded.update(decoded)

    def has_body(self, sha256: Sha256) -> bool:
        """Whether the bytes of this digest are its body, in either form."""
        return sha256 in (self._sent.hexdigest(), self._decoded.hexdigest())


class Exchange:
    """Observes one attempt. The client side calls `on_response`, `on_data` for each piece, and one of the ends.

    The ends are `on_end`, `on_error`, `on_close` and `finish`. The first one counts; `on_finish` is called once, when
    it comes. `body` is what arrived of a 2xx answer, decoded, where `keep` asks for it. Safe to be ended from another
    thread.
    """

    def __init__(self, checks: BodyChecks, on_finish: Callable[[], None], *, keep: bool = True) -> None:
        self.outcome: TransportOutcome | None = None
        self.answer = Answer()
        self.body = bytearray()
        self._checks = checks
        self._on_finish = on_finish
        self._keep_body = keep
        self._lock = threading.RLock()
        self._received = 0
        self._length: int | None = None
        self._is_framed = False
        self._decoder = ContentDecoder(None)
        self._events: SseErrorDetector | None = None
        self._is_part: bool | None = False

    @property
    def status(self) -> int | None:
        """The status; None as long as no answer came."""
        return self.answer.status

    @property
    def is_success(self) -> bool:
        """Whether the answer's body is sampler output."""
        return is_success_status(self.status)

    @property
    def has_sample_body(self) -> bool:
        """Whether `body` is sampler output as it was sent: a 2xx, its coding known, its bytes in that coding."""
        return self.is_success and self._decoder.is_known and not self._decoder.is_broken

    def on_response(
        self,
        status: int,
        headers: Headers,
        *,
        is_bodiless: bool = False,
        is_framed: bool = False,
        has_range: bool = False,
    ) -> None:
        """Take the status and the headers.

        `is_bodiless`: no body belongs to it (an answer to HEAD). `is_framed`: the protocol marks the end of a body by
        itself, as HTTP/2 does. `has_range`: the request asked for a part.
        """
        with self._lock:
            self.answer.status = status
            is_chunked = "chunked" in (headers.get("transfer-encoding") or "").lower()
            is_empty = is_bodiless or status in _BODILESS_STATUS
            self._length = None if is_chunked or is_empty else _content_length(headers.get("content-length"))
            self._is_framed = is_framed or is_chunked or is_empty or self._length is not None
            self._decoder = ContentDecoder(None if is_empty else headers.get("content-encoding"))
            if (headers.get("content-type") or "").split(";")[0].strip().lower() == "text/event-stream":
                self._events = SseErrorDetector(self._checks.error_events)
            if status == PARTIAL_CONTENT and not has_range:
                self._is_part = _is_part(headers.get("content-range"))
        if not self.is_success:
            self.finish(outcome_of_status(status))

    def on_unobserved(self, status: int) -> None:
        """Take an answer from elsewhere than the network: it has a status, and says nothing of the transport."""
        self.answer.status = status
        self.finish(TransportOutcome(status_code=status))

    def on_data(self, piece: bytes) -> None:
        """Take the next bytes of the body, after chunk framing and before content decoding."""
        with self._lock:
            if self.outcome is None or not self.is_success:  # an error's body comes after its outcome
                self._received += len(piece)
                decoded = self._decoder.feed(piece)
                self.answer.add(piece, decoded)
                self._add(decoded)

    def on_end(self) -> None:
        """Take the end of the body, to which the client came without an error."""
        with self._lock:
            if self.outcome is None:
                self._flush()
                if self._events:
                    self._events.end()
                self.finish(self._judge())

    def on_error(self, fault: str | None) -> None:
        """Take an error of the client; None is one that says nothing about the transport."""
        with self._lock:
            if self.outcome is None:
                self._flush()
                if fault and self._has_error_event:
                    fault = "stream_error"
                complete = False if self.is_success else None
                self.finish(self._outcome(ok=False if fault else None, fault=fault, complete=complete))

    def on_close(self) -> None:
        """Take it that the client's user stopped reading: no fault, but the end was not seen.

        Where all that was declared has arrived, the body is complete all the same.
        """
        with self._lock:
            if self.outcome is not None:
                return
            if self.is_success and self._is_at_its_end():
                self.on_end()
            elif self._has_error_event:
                self.on_error("stream_error")
            else:
                is_cut = self._length is not None and self._received < self._length
                self.finish(self._outcome(ok=None, complete=False if is_cut else None))

    def finish(self, outcome: TransportOutcome) -> None:
        """Take an outcome that is known from elsewhere."""
        with self._lock:
            if self.outcome is not None:
                return
            self.outcome = outcome
            self.answer.status = self.answer.status or outcome.status_code
            self.answer.has_ended = True
        self._on_finish()

    @property
    def _has_error_event(self) -> bool:
        return self._events is not None and self._events.has_error

    def _is_at_its_end(self) -> bool:
        if self._length is not None:
            return self._received == self._length
        if self._decoder.is_coded:
            return self._received > 0 and self._decoder.is_complete
        return self._checks.ends_with is not None and not self._checks.is_too_short(self.body)

    def _flush(self) -> None:
        decoded = self._decoder.flush()
        self.answer.add(b"", decoded)
        self._add(decoded)

    def _add(self, decoded: bytes) -> None:
        if self.is_success:
            if self._keep_body:
                self.body += decoded
            if self._events:
                self._events.feed(decoded)

    def _judge(self) -> TransportOutcome:
        """Judge a body that came to its end, as far as the client noticed."""
        is_coding_cut = not self._decoder.is_broken and not self._decoder.is_complete
        if is_coding_cut or self._length not in (None, self._received):
            return self._outcome(ok=False, fault="truncated", complete=False)
        if self._has_error_event:
            return self._outcome(ok=False, fault="stream_error", complete=False)
        if self._is_part is not False:
            return self._outcome(
                ok=False if self._is_part else None,
                fault="truncated" if self._is_part else None,
                complete=False if self._is_part else None,
            )
        if self._decoder.is_broken:
            return self._outcome(ok=None, complete=None)
        if not self._decoder.is_known:  # nothing that was declared can be checked
            ok = True if self._checks == NO_CHECKS else None
            return self._outcome(ok=ok, complete=True if self._is_framed else None)
        return self._judge_length()

    def _judge_length(self) -> TransportOutcome:
        if self._checks.is_too_short(self.body):
            return self._outcome(ok=False, fault="length_check", complete=False)
        if self._checks.is_too_long(self.body):
            return self._outcome(ok=False, fault="length_check", complete=True)
        has_marked_end = self._is_framed or self._decoder.is_coded or self._checks.ends_with is not None
        return self._outcome(ok=True, complete=True if has_marked_end else None)

    def _outcome(self, *, ok: bool | None, complete: bool | None, fault: str | None = None) -> TransportOutcome:
        return TransportOutcome(
            ok=ok,
            complete=complete,
            fault=fault,
            status_code=self.status,
            timed_out=fault == "timeout",
            bytes_received=self._received if self.is_success else None,
            bytes_declared=self._length if self.is_success else None,
        )


def _is_part(content_range: str | None) -> bool | None:
    """Whether a `Content-Range` (RFC 9110, section 14.4) leaves bytes out; None where it does not say."""
    match = _CONTENT_RANGE.fullmatch((content_range or "").strip())
    if match is None:
        return None
    first, last, size = (int(number) for number in match.groups())
    return first > 0 or last + 1 < size


def _content_length(text: str | None) -> int | None:
    """Read a `Content-Length`; repeated equal values are one (RFC 9110, section 8.6), anything odd is not declared."""
    values = {value.strip() for value in (text or "").split(",")}
    value = values.pop()
    is_number = not values and value.isascii() and value.isdigit() and len(value) <= _MAX_LENGTH_DIGITS
    return int(value) if is_number else None
