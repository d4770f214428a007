"""requests, recorded at the adapter: below redirects and decoding, above connections and chunk framing."""

import copy
import threading
from collections.abc import Generator
from http.client import BadStatusLine, HTTPException, IncompleteRead, RemoteDisconnected
from ssl import SSLCertVerificationError
from typing import Any, Final

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.exceptions import ReadTimeoutError
from urllib3.util.retry import Retry

from freeze_gate.capture.transport.content_encoding import restrict_accept_encoding
from freeze_gate.capture.transport.merge import RequestKey
from freeze_gate.capture.transport.observer import FILE_ERRORS, Exchange, exception_chain, outcome_of_status
from freeze_gate.capture.transport.recorder import Recorder

_PIECE_BYTES: Final = 1 << 16


def recording_session(recorder: Recorder, max_retries: int | Retry = 0) -> requests.Session:
    """Return a session whose every attempt is recorded."""
    session = requests.Session()
    for scheme in ("https://", "http://"):
        session.mount(scheme, RecordingAdapter(recorder, max_retries))
    return session


class RecordingAdapter(HTTPAdapter):
    """Observes each attempt, and returns a response whose body the recorder reads along."""

    def __init__(self, recorder: Recorder, max_retries: int | Retry = 0) -> None:
        self._recorder = recorder
        self._sending = threading.local()
        super().__init__(max_retries=max_retries)

    @property
    def max_retries(self) -> Retry:
        """What urllib3 may retry below this adapter; while a request is sent, a copy that counts."""
        counter = getattr(self._sending, "counter", None)
        return self._max_retries if counter is None else counter.attach_to(self._max_retries)

    @max_retries.setter
    def max_retries(self, retries: Retry) -> None:
        self._max_retries = retries

    def send(self, request: requests.PreparedRequest, *args: Any, **options: Any) -> requests.Response:
        """Send one request. Raises what `requests` raises."""
        request.headers["Accept-Encoding"] = restrict_accept_encoding(request.headers.get("Accept-Encoding"))
        exchange = self._recorder.begin(RequestKey(request.method or "", request.url or "", _bytes(request.body)))
        self._sending.counter = counter = RetryCounter()
        try:
            response = super().send(request, *args, **options)
        except BaseException as error:
            self._recorder.add_retries(exchange, counter.retries)
            _end_without_response(exchange, error, counter)
            raise
        finally:
            del self._sending.counter
        self._recorder.add_retries(exchange, counter.retries)
        exchange.on_response(response.status_code, response.headers, is_bodiless=request.method == "HEAD")
        response.raw = ObservedResponse(response.raw, exchange)
        return response


class RetryCounter:
    """Counts what urllib3 retries by itself below the adapter, and keeps the last status that made it.

    `response.raw.retries.history` has the count only where there is a response, so the retries are counted where
    urllib3 decides on them.
    """

    def __init__(self) -> None:
        self.retries = 0
        self.status: int | None = None

    def attach_to(self, retry: Retry) -> Retry:
        """Copy a `Retry`, of whatever kind, so that each retry that it allows is counted here."""

        def increment(*args: Any, **options: Any) -> Retry:
            self.status = getattr(options.get("response"), "status", None)
            remaining = retry.increment(*args, **options)
            self.retries += 1
            return self.attach_to(remaining)

        counted = copy.copy(retry)
        counted.increment = increment  # type: ignore[method-assign]  # the user's own class stays
        return counted


class ObservedResponse(urllib3.HTTPResponse):
    """The response that the user of the session reads: urllib3's own decoding, of an observed body."""

    def __init__(self, inner: urllib3.HTTPResponse, exchange: Exchange) -> None:
        self._inner = inner
        super().__init__(
            body=_ObservedBody(inner, exchange),  # type: ignore[arg-type]
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

    def stream(
        self,
        amt: int | None = _PIECE_BYTES,
        decode_content: bool | None = None,  # noqa: FBT001 - urllib3's
    ) -> Generator[bytes, None, None]:
        """Return pieces as they come, so that a stream of events is not held back."""
        while piece := self.read1(amt, decode_content=decode_content):
            yield piece

    def release_conn(self) -> None:
        """Give the connection back."""
        self._inner.release_conn()

    def shutdown(self) -> None:
        """End a read that blocks."""
        self._inner.shutdown()


class _ObservedBody:
    """The body after chunk framing and before content decoding, as a file that tells the exchange what is read.

    Read in pieces as they come (`read1`), urllib3 returns the last bytes of a short body and of a cut chunk, which its
    other ways of reading lose.
    """

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
        size = _PIECE_BYTES if amount is None or amount < 0 else amount
        try:
            piece = self._response.read1(size, decode_content=False)
            self._exchange.on_data(piece)
        except Exception as error:
            self._exchange.on_error(_fault_in_body(error))
            self.close()
            raise
        if not piece or self._response.closed:
            self._exchange.on_end()
            self.closed = True
        return piece

    def close(self) -> None:
        """Stop reading; before the end, that is the user's own choice."""
        self.closed = True
        self._response.close()
        self._exchange.on_close()


def _bytes(body: Any) -> bytes | None:
    """Return the bytes that are sent; None where they come from a file or a generator."""
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode("utf-8", "surrogateescape")
    return bytes(body) if isinstance(body, bytes | bytearray) else None


def _end_without_response(exchange: Exchange, error: BaseException, counter: RetryCounter) -> None:
    if not isinstance(error, Exception):  # an interrupt
        exchange.on_close()
    elif isinstance(error, requests.exceptions.RetryError) and counter.status:
        exchange.finish(outcome_of_status(counter.status))
    else:
        exchange.on_error(_fault_before_response(error))


def _fault_before_response(error: Exception) -> str | None:
    """Name the fault of an attempt without a response, by the class of the exception; None where it is none."""
    if isinstance(error, requests.Timeout):
        return "timeout"
    for cause in exception_chain(error):
        is_not_http = isinstance(cause, BadStatusLine) and not isinstance(cause, RemoteDisconnected)
        if is_not_http or isinstance(cause, (SSLCertVerificationError, *FILE_ERRORS)):
            return None
    return "connection" if isinstance(error, requests.ConnectionError) else None


def _fault_in_body(error: Exception) -> str | None:
    if isinstance(error, ReadTimeoutError):
        return "timeout"
    causes = list(exception_chain(error))
    if any(isinstance(cause, IncompleteRead) for cause in causes):
        return "truncated"
    if any(isinstance(cause, OSError | urllib3.exceptions.SSLError) for cause in causes):
        return "connection"
    return "truncated" if any(isinstance(cause, HTTPException) for cause in causes) else None
