"""requests, recorded at the adapter: below redirects and decoding, above connections and chunk framing."""

import contextlib
import copy
import http.client
import threading
from collections.abc import Generator, Iterator
from http.client import HTTPConnection, HTTPResponse, parse_headers
from typing import Any, Final

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ReadTimeoutError
from urllib3.util.retry import Retry

from freeze_gate.capture.transport.content_encoding import restrict_accept_encoding
from freeze_gate.capture.transport.faults import Cause, cause_in_body, fault_of, permanent_cause
from freeze_gate.capture.transport.merge import RequestKey
from freeze_gate.capture.transport.observer import Exchange, outcome_of_status
from freeze_gate.capture.transport.recorder import Recorder
from freeze_gate.errors import exception_chain

_PIECE_BYTES: Final = 1 << 16
_MAX_HEADERS: Final = 5000  # MAX_HTTP_RESP_HEADER_COUNT of curl


def recording_session(recorder: Recorder, max_retries: int | Retry = 0) -> requests.Session:
    """Return a session whose every attempt is recorded."""
    session = requests.Session()
    for scheme in ("https://", "http://"):
        session.mount(scheme, RecordingAdapter(recorder, max_retries))
    return session


@contextlib.contextmanager
def header_limit_of_curl() -> Iterator[None]:
    """Let this process read as many headers as curl does; http.client ends at 100, and has no public name for it."""
    limit = http.client._MAXHEADERS  # type: ignore[attr-defined]  # noqa: SLF001
    http.client._MAXHEADERS = _MAX_HEADERS  # type: ignore[attr-defined]  # noqa: SLF001
    try:
        yield
    finally:
        http.client._MAXHEADERS = limit  # type: ignore[attr-defined]  # noqa: SLF001


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

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        """Make the pools of direct connections."""
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = _POOL_CLASSES

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        """Return the pools of a proxy. Raises what `requests` raises."""
        manager = super().proxy_manager_for(proxy, **options)
        if type(manager) is urllib3.ProxyManager:  # a SOCKS proxy's pools have connections of their own
            manager.pool_classes_by_scheme = _POOL_CLASSES
        return manager

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
        if not _is_from_network(response.raw):
            exchange.on_unobserved(response.status_code)
            return response
        exchange.on_response(
            response.status_code,
            response.headers,
            is_bodiless=request.method == "HEAD",
            has_range="Range" in request.headers,
        )
        response.raw = ObservedResponse(response.raw, exchange)
        return response


class TunnelRefusal(OSError):
    """A proxy refused to connect; `status` is its answer's."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"Tunnel connection failed: {status} {reason.strip()}")
        self.status = status


class _FinalResponse(HTTPResponse):
    """A response that reads past all interim answers (RFC 9110, section 15.2); http.client knows 100 alone.

    http.client reads a proxy's answer to CONNECT by its status line only, without `begin`.
    """

    _has_begun = False

    def begin(self) -> None:
        self._has_begun = True
        super().begin()

    def _read_status(self) -> tuple[str, int, str]:
        version, status, reason = super()._read_status()  # type: ignore[misc]  # typeshed leaves it out
        while status // 100 == 1 and status != http.HTTPStatus.SWITCHING_PROTOCOLS:
            parse_headers(self.fp)
            version, status, reason = super()._read_status()  # type: ignore[misc]
        if not self._has_begun and status != http.HTTPStatus.OK:
            raise TunnelRefusal(status, reason)
        return version, status, reason


class _FinalResponses:
    """A pool whose connections read past interim answers; the class of the connections stays whatever it is."""

    def _new_conn(self) -> Any:
        connection = super()._new_conn()  # type: ignore[misc]
        if isinstance(connection, HTTPConnection):
            connection.response_class = _FinalResponse
        return connection


class _HTTPPool(_FinalResponses, HTTPConnectionPool):
    pass


class _HTTPSPool(_FinalResponses, HTTPSConnectionPool):
    pass


_POOL_CLASSES: Final = {"http": _HTTPPool, "https": _HTTPSPool}


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
            cause = Cause.TIMEOUT if isinstance(error, ReadTimeoutError) else cause_in_body(error)
            self._exchange.on_error(fault_of(cause))
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
    elif refusals := [cause for cause in exception_chain(error) if isinstance(cause, TunnelRefusal)]:
        exchange.finish(outcome_of_status(refusals[0].status))
    else:
        exchange.on_error(fault_of(_cause_before_response(error)))


def _is_from_network(response: Any) -> bool:
    """Whether urllib3 read it from a connection; a cassette's response has neither urllib3's parts nor a transport."""
    original = getattr(response, "_original_response", None)
    return isinstance(response, urllib3.HTTPResponse) and isinstance(original, HTTPResponse)


def _cause_before_response(error: Exception) -> Cause:
    if isinstance(error, requests.Timeout):
        return Cause.TIMEOUT
    is_to_proxy = isinstance(error, requests.exceptions.ProxyError)
    if cause := permanent_cause(error, is_to_proxy=is_to_proxy):
        return cause
    return Cause.CONNECTION if isinstance(error, requests.ConnectionError) else Cause.UNKNOWN
