"""requests, recorded at the adapter: the body is read below urllib3's decoding, so that nothing of it is lost.

Read in pieces as they come (`read1`), urllib3 hands out the last bytes of a short body and of a cut chunk, which its
other ways of reading lose.
"""

import contextlib
import threading
import time
from collections.abc import Generator, Iterator
from http.client import BadStatusLine, HTTPException, IncompleteRead, RemoteDisconnected
from ssl import SSLCertVerificationError
from typing import Any, Final, cast

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.exceptions import ReadTimeoutError
from urllib3.util.retry import Retry

from freeze_gate.capture.calls import Asked
from freeze_gate.capture.decoding import narrowed
from freeze_gate.capture.exchange import Exchange, status_outcome
from freeze_gate.capture.recorder import Recorder

_PIECE: Final = 1 << 16  # bytes


def recorded_session(recorder: Recorder, deadline: float | None, max_retries: int | Retry) -> requests.Session:
    """Return a session whose every attempt is recorded. `deadline`: the most seconds of one attempt."""
    session = requests.Session()
    for scheme in ("https://", "http://"):
        session.mount(scheme, RecordingAdapter(recorder, deadline, max_retries))
    return session


class RecordingAdapter(HTTPAdapter):
    """Follows each attempt, and hands out a response whose body passes by the recorder on its way."""

    def __init__(self, recorder: Recorder, deadline: float | None, max_retries: int | Retry = 0) -> None:
        self._recorder, self._deadline = recorder, deadline
        self._sending = threading.local()
        super().__init__(max_retries=max_retries)

    @property
    def max_retries(self) -> Retry:
        """What urllib3 may retry below this adapter; while a request is sent, a copy that counts."""
        attempts = getattr(self._sending, "attempts", None)
        return self._max_retries if attempts is None else _counting(self._max_retries, attempts)

    @max_retries.setter
    def max_retries(self, retries: Retry) -> None:
        self._max_retries = retries

    def send(self, request: requests.PreparedRequest, *args: Any, **options: Any) -> requests.Response:
        """Send one request. Raises what `requests` raises."""
        request.headers["Accept-Encoding"] = narrowed(request.headers.get("Accept-Encoding"))
        exchange = self._recorder.begin(Asked(request.method or "", request.url or "", _body(request.body)))
        deadline = _Deadline(self._deadline)
        options["timeout"] = deadline.shortened(options.get("timeout"))
        response = self._sent(exchange, request, *args, **options)
        exchange.answered(response.status_code, response.headers, bodiless=request.method == "HEAD")
        response.raw = _Passing(response.raw, exchange, deadline)
        return response

    def _sent(
        self, exchange: Exchange, request: requests.PreparedRequest, *args: Any, **options: Any
    ) -> requests.Response:
        self._sending.attempts = attempts = _Attempts()
        try:
            response = super().send(request, *args, **options)
        except BaseException as error:
            self._recorder.add_retries(exchange, attempts.retries)
            _end_without_answer(exchange, error, attempts)
            raise
        finally:
            del self._sending.attempts
        self._recorder.add_retries(exchange, attempts.retries)
        return response


class _Attempts:
    """What urllib3 did below the adapter: how often it tried again, and the last status that made it."""

    def __init__(self) -> None:
        self.retries = 0
        self.status: int | None = None


class _CountingRetry(Retry):
    """Mixed into the user's own kind of `Retry`."""

    attempts: _Attempts

    def new(self, **changed: Any) -> "_CountingRetry":
        """Copy with changes, the counter included."""
        fresh = super().new(**changed)
        fresh.attempts = self.attempts
        return fresh

    def increment(self, *args: Any, **options: Any) -> "_CountingRetry":
        """Count a retry that is allowed; raises where it is not."""
        self.attempts.status = getattr(options.get("response"), "status", None)
        fresh = super().increment(*args, **options)
        self.attempts.retries += 1
        return fresh


def _counting(retry: Retry, attempts: _Attempts) -> Retry:
    kind = type("CountingRetry", (_CountingRetry, type(retry)), {})
    counting = cast("Retry", object.__new__(kind))
    counting.__dict__.update(retry.__dict__, attempts=attempts)
    return counting


class _Deadline:
    """The total time of one attempt. Waits are shortened to it, and a blocked read is ended from another thread."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds
        self._timer: threading.Timer | None = None

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self._end is not None and time.monotonic() >= self._end

    def shortened(self, timeout: Any) -> Any:
        """Limit what `requests` takes as `timeout` to the whole time."""
        if self._seconds is None or isinstance(timeout, urllib3.Timeout):
            return timeout
        waits = timeout if isinstance(timeout, tuple) else (timeout, timeout)
        return tuple(self._seconds if wait is None else min(wait, self._seconds) for wait in waits)

    def watch(self, response: urllib3.HTTPResponse) -> None:
        """End a read of this response that blocks when the time is over."""
        if self._end is not None:
            self._timer = threading.Timer(max(self._end - time.monotonic(), 0), _shut, [response])
            self._timer.daemon = True
            self._timer.start()

    def check(self) -> None:
        """Raise urllib3's own time-out once the time is over."""
        if self.over:
            raise ReadTimeoutError(cast("Any", None), "", "the total deadline is over")

    def done(self) -> None:
        """Watch no longer."""
        if self._timer:
            self._timer.cancel()


def _shut(response: urllib3.HTTPResponse) -> None:
    with contextlib.suppress(AttributeError, ValueError, RuntimeError, OSError):  # closed already, or an old urllib3
        response.shutdown()


class _Tap:
    """The body after chunk framing and before content decoding, as a file; what is read is followed."""

    def __init__(self, response: urllib3.HTTPResponse, exchange: Exchange, deadline: _Deadline) -> None:
        self._response, self._exchange, self._deadline = response, exchange, deadline
        self.closed = False
        deadline.watch(response)

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
            self._deadline.check()
        except Exception as error:
            self._exchange.failed("timeout" if self._deadline.over else _fault_in_body(error))
            self.close()
            raise
        if not piece or self._response.closed:
            self._exchange.finished()
            self._deadline.done()
            self.closed = True
        return piece

    def close(self) -> None:
        """Stop reading; before the end, that is the user's own choice."""
        self.closed = True
        self._deadline.done()
        self._response.close()
        self._exchange.abandoned()


class _Passing(urllib3.HTTPResponse):
    """The response that the user of the session reads: urllib3's own decoding, over the tap."""

    def __init__(self, inner: urllib3.HTTPResponse, exchange: Exchange, deadline: _Deadline) -> None:
        self._inner = inner
        super().__init__(
            body=_Tap(inner, exchange, deadline),  # type: ignore[arg-type]
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


def _body(body: Any) -> bytes | None:
    """Return the bytes that are sent; None where they come from a file or a generator."""
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode("utf-8", "surrogateescape")
    return bytes(body) if isinstance(body, bytes | bytearray) else None


def _end_without_answer(exchange: Exchange, error: BaseException, attempts: _Attempts) -> None:
    if not isinstance(error, Exception):  # an interrupt
        exchange.abandoned()
    elif isinstance(error, requests.exceptions.RetryError) and attempts.status:
        exchange.settled(status_outcome(attempts.status))
    else:
        exchange.failed(_fault(error))


def _fault(error: Exception) -> str | None:
    """Name the fault of an attempt that brought no answer, by the class of the exception; None where it is none."""
    chain = list(_chain(error))
    if isinstance(error, requests.Timeout):
        return "timeout"
    if any(isinstance(cause, SSLCertVerificationError) for cause in chain):
        return None
    garbled = any(isinstance(cause, BadStatusLine) and not isinstance(cause, RemoteDisconnected) for cause in chain)
    return "connection" if isinstance(error, requests.ConnectionError) and not garbled else None


def _fault_in_body(error: Exception) -> str | None:
    if isinstance(error, ReadTimeoutError):
        return "timeout"
    chain = list(_chain(error))
    if any(isinstance(cause, IncompleteRead) for cause in chain):
        return "truncated"
    broken = any(isinstance(cause, OSError | urllib3.exceptions.SSLError) for cause in chain)
    return "connection" if broken else "truncated" if any(isinstance(cause, HTTPException) for cause in chain) else None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
