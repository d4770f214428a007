"""httpx and httpx2, recorded at the transport: below retries, redirects and decoding, above connections and framing.

The two libraries are alike down to their names, so one code serves both; the module of the library is an argument.
"""

import functools
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from freeze_gate.capture.transport.content_encoding import restrict_accept_encoding
from freeze_gate.capture.transport.faults import Cause, cause_in_body, fault_of, permanent_cause
from freeze_gate.capture.transport.merge import RequestKey
from freeze_gate.capture.transport.observer import Exchange, outcome_of_status
from freeze_gate.capture.transport.recorder import Recorder
from freeze_gate.errors import exception_chain

_LIBRARIES: Final = ("httpx", "httpx2")
_PARSERS: Final = ("h11", "h2")  # whose exceptions mean that what arrived is not HTTP


def recording_transport(library: Any, recorder: Recorder, inner: Any) -> Any:
    """Return a `BaseTransport` of `library` (the module httpx or httpx2) that records what `inner` does.

    None goes the way that a client without a transport goes: by the proxies and certificates of the environment.
    """
    return _classes(library).sync(library, recorder, inner or _ClientRoutes(library.Client()))


def async_recording_transport(library: Any, recorder: Recorder, inner: Any) -> Any:
    """Return an `AsyncBaseTransport` of `library` that records; as `recording_transport`."""
    return _classes(library).asynchronous(library, recorder, inner or _AsyncClientRoutes(library.AsyncClient()))


def record_client(recorder: Recorder, client: Any) -> None:
    """Record what a client of httpx or httpx2 sends from now on, by the transports that it has already.

    Its proxies, redirects, limits and socket options stay. Raises `TypeError` for anything else than such a client.
    """
    for base in type(client).__mro__:
        library = sys.modules[base.__module__.partition(".")[0]]
        if library.__name__ in _LIBRARIES and base in (library.Client, library.AsyncClient):
            break
    else:
        raise TypeError("record takes a client of httpx or httpx2, such as openai.DefaultHttpxClient()")
    classes = _classes(library)
    record = classes.sync if base is library.Client else classes.asynchronous
    client._transport = record(library, recorder, client._transport)  # noqa: SLF001 - no public name for either
    client._mounts = {  # noqa: SLF001
        pattern: None if transport is None else record(library, recorder, transport)
        for pattern, transport in client._mounts.items()  # noqa: SLF001
    }


class _ClientRoutes:
    """A transport that goes where a client goes; httpx has no public name for the choice."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def handle_request(self, request: Any) -> Any:
        return self._client._transport_for_url(request.url).handle_request(request)  # noqa: SLF001

    def close(self) -> None:
        self._client.close()


class _AsyncClientRoutes:
    def __init__(self, client: Any) -> None:
        self._client = client

    async def handle_async_request(self, request: Any) -> Any:
        return await self._client._transport_for_url(request.url).handle_async_request(request)  # noqa: SLF001

    async def aclose(self) -> None:
        await self._client.aclose()


class _Route:
    """What httpcore traces of one attempt: whom it connected to, and the last status that it read."""

    def __init__(self, request: Any) -> None:
        self.status: int | None = None
        self._host: str | None = None
        self._request = request
        self._extensions = request.extensions

    @property
    def is_to_proxy(self) -> bool:
        """Whether the connection went to another host than the request."""
        return self._host is not None and self._host != self._request.url.raw_host.decode("ascii")

    def attach(self, *, is_async: bool) -> None:
        """Add this to the request, beside the trace of its sender."""
        trace = self._extensions.get("trace")

        def note(name: str, info: dict[str, Any]) -> None:
            self._note(name, info)
            if trace is not None:
                trace(name, info)

        async def note_async(name: str, info: dict[str, Any]) -> None:
            self._note(name, info)
            if trace is not None:
                await trace(name, info)

        self._request.extensions = {**self._extensions, "trace": note_async if is_async else note}

    def detach(self) -> None:
        """Leave the request as it was: a redirect copies it."""
        self._request.extensions = self._extensions

    def _note(self, name: str, info: dict[str, Any]) -> None:
        if name.endswith("connect_tcp.started"):
            self._host = info["host"]
        elif name == "http11.receive_response_headers.complete":
            self.status = info["return_value"][1]


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
            response.status_code,
            response.headers,
            is_bodiless=request.method == "HEAD",
            is_framed=is_framed,
            has_range="range" in request.headers,
        )
        response.stream = _classes(self._library).stream(self._library, response.stream, exchange)

    def _end_without_response(self, exchange: Exchange, error: BaseException, route: _Route) -> None:
        if not isinstance(error, Exception):  # an interrupt, or a task that was cancelled
            exchange.on_close()
        elif isinstance(error, self._library.ProxyError) and route.status is not None:
            exchange.finish(outcome_of_status(route.status))
        else:
            exchange.on_error(fault_of(_cause_before_response(self._library, error, is_to_proxy=route.is_to_proxy)))


class _SyncTransport(_Recording):
    def handle_request(self, request: Any) -> Any:
        exchange, route = self._begin(request), _Route(request)
        route.attach(is_async=False)
        try:
            response = self._inner.handle_request(request)
        except BaseException as error:
            self._end_without_response(exchange, error, route)
            raise
        finally:
            route.detach()
        self._observe(exchange, request, response)
        return response

    def close(self) -> None:
        self._inner.close()


class _AsyncTransport(_Recording):
    async def handle_async_request(self, request: Any) -> Any:
        exchange, route = self._begin(request), _Route(request)
        route.attach(is_async=True)
        try:
            response = await self._inner.handle_async_request(request)
        except BaseException as error:
            self._end_without_response(exchange, error, route)
            raise
        finally:
            route.detach()
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
            self._exchange.on_error(fault_of(_cause_in_body(self._library, error)))
            raise
        self._exchange.on_end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._stream:
                self._exchange.on_data(piece)
                yield piece
        except Exception as error:
            self._exchange.on_error(fault_of(_cause_in_body(self._library, error)))
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


def _cause_before_response(library: Any, error: Exception, *, is_to_proxy: bool) -> Cause:
    """Name the cause that an exception stands for, by its class."""
    if isinstance(error, library.TimeoutException):
        return Cause.TIMEOUT
    if cause := permanent_cause(error, is_to_proxy=is_to_proxy):
        return cause
    if isinstance(error, library.RemoteProtocolError):
        is_not_http = any(type(cause).__module__.partition(".")[0] in _PARSERS for cause in exception_chain(error))
        return Cause.NOT_HTTP if is_not_http else Cause.CONNECTION
    if isinstance(error, library.NetworkError):
        return Cause.CONNECTION
    is_bare = isinstance(error, OSError)  # a transport of the user's own
    return Cause.CONNECTION if is_bare else Cause.UNKNOWN


def _cause_in_body(library: Any, error: Exception) -> Cause:
    if isinstance(error, library.TimeoutException):
        return Cause.TIMEOUT
    if isinstance(error, library.RemoteProtocolError):
        return Cause.TRUNCATED
    return Cause.CONNECTION if isinstance(error, library.NetworkError) else cause_in_body(error)
