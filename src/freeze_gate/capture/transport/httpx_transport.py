"""httpx and httpx2, recorded at the transport: below retries, redirects and decoding, above connections and framing.

The two libraries are alike down to their names, so one code serves both; the module of the library is an argument.
"""

import functools
import ssl
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from freeze_gate.capture.transport.content_encoding import restrict_accept_encoding
from freeze_gate.capture.transport.merge import RequestKey
from freeze_gate.capture.transport.observer import FILE_ERRORS, Exchange, exception_chain
from freeze_gate.capture.transport.recorder import Recorder

_PARSERS: Final = ("h11", "h2")  # whose exceptions mean that what arrived is not HTTP


def recording_transport(library: Any, recorder: Recorder, inner: Any) -> Any:
    """Return a `BaseTransport` of `library` (the module httpx or httpx2) that records what `inner` does.

    None is the library's own `HTTPTransport`.
    """
    return _classes(library).sync(library, recorder, inner or library.HTTPTransport())


def async_recording_transport(library: Any, recorder: Recorder, inner: Any) -> Any:
    """Return an `AsyncBaseTransport` of `library` that records; as `recording_transport`."""
    return _classes(library).asynchronous(library, recorder, inner or library.AsyncHTTPTransport())


class _Recording:
    """What both kinds of transport share: observing one attempt."""

    def __init__(self, library: Any, recorder: Recorder, inner: Any) -> None:
        self._library, self._recorder, self._inner = library, recorder, inner

    def _begin(self, request: Any) -> Exchange:
        request.headers["accept-encoding"] = restrict_accept_encoding(request.headers.get("accept-encoding"))
        try:
            body = bytes(request.content)
        except self._library.RequestNotRead:  # it streams, and can be read only once
            body = None
        return self._recorder.begin(RequestKey(request.method, str(request.url), body))

    def _observe(self, exchange: Exchange, request: Any, response: Any) -> None:
        is_framed = response.extensions.get("http_version") == b"HTTP/2"
        exchange.on_response(
            response.status_code, response.headers, is_bodiless=request.method == "HEAD", is_framed=is_framed
        )
        response.stream = _classes(self._library).stream(self._library, response.stream, exchange)

    def _end_without_response(self, exchange: Exchange, error: BaseException) -> None:
        if isinstance(error, Exception):
            exchange.on_error(_fault(self._library, error, in_body=False))
        else:  # an interrupt, or a task that was cancelled
            exchange.on_close()


class _SyncTransport(_Recording):
    def handle_request(self, request: Any) -> Any:
        exchange = self._begin(request)
        try:
            response = self._inner.handle_request(request)
        except BaseException as error:
            self._end_without_response(exchange, error)
            raise
        self._observe(exchange, request, response)
        return response

    def close(self) -> None:
        self._inner.close()


class _AsyncTransport(_Recording):
    async def handle_async_request(self, request: Any) -> Any:
        exchange = self._begin(request)
        try:
            response = await self._inner.handle_async_request(request)
        except BaseException as error:
            self._end_without_response(exchange, error)
            raise
        self._observe(exchange, request, response)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Stream:
    """The body on its way to its reader: passed on piece by piece, once, with the errors that belong to it."""

    def __init__(self, library: Any, stream: Any, exchange: Exchange) -> None:
        self._library, self._stream, self._exchange = library, stream, exchange

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._stream:
                self._exchange.on_data(piece)
                yield piece
        except Exception as error:
            self._exchange.on_error(_fault(self._library, error, in_body=True))
            raise
        self._exchange.on_end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._stream:
                self._exchange.on_data(piece)
                yield piece
        except Exception as error:
            self._exchange.on_error(_fault(self._library, error, in_body=True))
            raise
        self._exchange.on_end()

    def close(self) -> None:
        try:
            self._stream.close()
        finally:
            self._exchange.on_close()

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            self._exchange.on_close()


class _Classes:
    """The classes that a library recognises as its own: a sync and an async transport, and a stream for both."""

    def __init__(self, library: Any) -> None:
        self.sync = type("RecordingTransport", (_SyncTransport, library.BaseTransport), {})
        self.asynchronous = type("AsyncRecordingTransport", (_AsyncTransport, library.AsyncBaseTransport), {})
        self.stream = type("ObservedStream", (_Stream, library.SyncByteStream, library.AsyncByteStream), {})


@functools.cache
def _classes(library: Any) -> _Classes:
    return _Classes(library)


def _fault(library: Any, error: Exception, *, in_body: bool) -> str | None:
    """Name the fault that an exception stands for, by its class; None where it is no fault of the transport."""
    causes = list(exception_chain(error))
    if isinstance(error, library.TimeoutException):
        return "timeout"
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes) or isinstance(error, FILE_ERRORS):
        return None
    if isinstance(error, library.RemoteProtocolError):
        if in_body:
            return "truncated"
        is_not_http = any(type(cause).__module__.partition(".")[0] in _PARSERS for cause in causes)
        return None if is_not_http else "connection"
    is_broken = isinstance(error, library.NetworkError | library.ProxyError | OSError)
    return "connection" if is_broken else None
