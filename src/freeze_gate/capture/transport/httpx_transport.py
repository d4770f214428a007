"""httpx and httpx2, recorded at the transport: below retries, redirects and decoding, above connections and framing.

The two libraries are alike down to their names, so one text serves both; which one it is, is an argument.
"""

import functools
import ssl
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from freeze_gate.capture.transport.causes import OF_A_FILE, causes
from freeze_gate.capture.transport.content_encoding import restrict_accept_encoding
from freeze_gate.capture.transport.merge import Asked
from freeze_gate.capture.transport.observer import Exchange
from freeze_gate.capture.transport.recorder import Recorder

_GARBLED: Final = ("h11", "h2")  # whose exceptions mean that what arrived is not HTTP


class _Recording:
    """What both kinds of transport share: following one attempt."""

    def __init__(self, library: Any, recorder: Recorder, through: Any) -> None:
        self._library, self._recorder, self._through = library, recorder, through

    def _begin(self, request: Any) -> Exchange:
        request.headers["accept-encoding"] = restrict_accept_encoding(request.headers.get("accept-encoding"))
        return self._recorder.begin(Asked(request.method, str(request.url), self._body(request)))

    def _body(self, request: Any) -> bytes | None:
        try:
            return bytes(request.content)
        except self._library.RequestNotRead:  # it streams, and can be read only once
            return None

    def _answered(self, exchange: Exchange, request: Any, response: Any) -> None:
        framed = response.extensions.get("http_version") == b"HTTP/2"
        exchange.answered(response.status_code, response.headers, bodiless=request.method == "HEAD", framed=framed)
        _, _, stream = _kinds(self._library)
        response.stream = stream(response.stream, exchange, functools.partial(_fault, self._library))

    def _failed(self, exchange: Exchange, error: BaseException) -> None:
        if isinstance(error, Exception):
            exchange.failed(_fault(self._library, error, in_body=False))
        else:  # an interrupt, or a task that was cancelled
            exchange.abandoned()


class _Sync(_Recording):
    def handle_request(self, request: Any) -> Any:
        exchange = self._begin(request)
        try:
            response = self._through.handle_request(request)
        except BaseException as error:
            self._failed(exchange, error)
            raise
        self._answered(exchange, request, response)
        return response

    def close(self) -> None:
        self._through.close()


class _Async(_Recording):
    async def handle_async_request(self, request: Any) -> Any:
        exchange = self._begin(request)
        try:
            response = await self._through.handle_async_request(request)
        except BaseException as error:
            self._failed(exchange, error)
            raise
        self._answered(exchange, request, response)
        return response

    async def aclose(self) -> None:
        await self._through.aclose()


class _Stream:
    """The body on its way to its reader: passed on piece by piece, once, with the errors that belong to it."""

    def __init__(self, stream: Any, exchange: Exchange, fault: Any) -> None:
        self._stream, self._exchange, self._fault = stream, exchange, fault

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._stream:
                self._exchange.received(piece)
                yield piece
        except Exception as error:
            self._exchange.failed(self._fault(error, in_body=True))
            raise
        self._exchange.finished()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._stream:
                self._exchange.received(piece)
                yield piece
        except Exception as error:
            self._exchange.failed(self._fault(error, in_body=True))
            raise
        self._exchange.finished()

    def close(self) -> None:
        try:
            self._stream.close()
        finally:
            self._exchange.abandoned()

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            self._exchange.abandoned()


@functools.cache
def _kinds(library: Any) -> tuple[Any, Any, Any]:
    """Make the classes that the library recognises as its own: a sync and an async transport, and a stream for both."""
    streams = (_Stream, library.SyncByteStream, library.AsyncByteStream)
    return (
        type("RecordingTransport", (_Sync, library.BaseTransport), {}),
        type("AsyncRecordingTransport", (_Async, library.AsyncBaseTransport), {}),
        type("RecordedStream", streams, {}),
    )


def recording_transport(library: Any, kind: str, recorder: Recorder, through: Any) -> Any:
    """Return a transport of `library` (the module httpx or httpx2), `sync` or `async`, that records.

    `through` does the work; None is the library's own.
    """
    sync, asynchronous, _ = _kinds(library)
    if kind == "sync":
        return sync(library, recorder, through or library.HTTPTransport())
    return asynchronous(library, recorder, through or library.AsyncHTTPTransport())


def _fault(library: Any, error: Exception, *, in_body: bool) -> str | None:
    """Name the fault that an exception stands for, by its class; None where it is no fault of the transport."""
    chain = list(causes(error))
    if isinstance(error, library.TimeoutException):
        return "timeout"
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in chain) or isinstance(error, OF_A_FILE):
        return None
    if isinstance(error, library.RemoteProtocolError):
        if in_body:
            return "truncated"
        garbled = any(type(cause).__module__.partition(".")[0] in _GARBLED for cause in chain)
        return None if garbled else "connection"
    broken = isinstance(error, library.NetworkError | library.ProxyError | OSError)
    return "connection" if broken else None
