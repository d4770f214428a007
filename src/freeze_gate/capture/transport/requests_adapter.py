"""requests, recorded at the adapter: below redirects and decoding, above connections and chunk framing."""

import copy
import threading
from http.client import BadStatusLine, RemoteDisconnected
from ssl import SSLCertVerificationError
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from freeze_gate.capture.transport.causes import OF_A_FILE, causes
from freeze_gate.capture.transport.content_encoding import restrict_accept_encoding
from freeze_gate.capture.transport.merge import Asked
from freeze_gate.capture.transport.observed_response import Passing
from freeze_gate.capture.transport.observer import Exchange, status_outcome
from freeze_gate.capture.transport.recorder import Recorder


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


def recorded_session(recorder: Recorder, max_retries: int | Retry = 0) -> requests.Session:
    """Return a session whose every attempt is recorded."""
    session = requests.Session()
    for scheme in ("https://", "http://"):
        session.mount(scheme, RecordingAdapter(recorder, max_retries))
    return session


class RecordingAdapter(HTTPAdapter):
    """Follows each attempt, and hands out a response whose body passes by the recorder on its way."""

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
        exchange = self._recorder.begin(Asked(request.method or "", request.url or "", _body(request.body)))
        response = self._sent(exchange, request, *args, **options)
        exchange.answered(response.status_code, response.headers, bodiless=request.method == "HEAD")
        response.raw = Passing(response.raw, exchange)
        return response

    def _sent(
        self, exchange: Exchange, request: requests.PreparedRequest, *args: Any, **options: Any
    ) -> requests.Response:
        self._sending.counter = counter = RetryCounter()
        try:
            response = super().send(request, *args, **options)
        except BaseException as error:
            self._recorder.add_retries(exchange, counter.retries)
            _end_without_answer(exchange, error, counter)
            raise
        finally:
            del self._sending.counter
        self._recorder.add_retries(exchange, counter.retries)
        return response


def _body(body: Any) -> bytes | None:
    """Return the bytes that are sent; None where they come from a file or a generator."""
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode("utf-8", "surrogateescape")
    return bytes(body) if isinstance(body, bytes | bytearray) else None


def _end_without_answer(exchange: Exchange, error: BaseException, counter: RetryCounter) -> None:
    if not isinstance(error, Exception):  # an interrupt
        exchange.abandoned()
    elif isinstance(error, requests.exceptions.RetryError) and counter.status:
        exchange.settled(status_outcome(counter.status))
    else:
        exchange.failed(_fault(error))


def _fault(error: Exception) -> str | None:
    """Name the fault of an attempt that brought no answer, by the class of the exception; None where it is none."""
    chain = list(causes(error))
    if isinstance(error, requests.Timeout):
        return "timeout"
    if any(isinstance(cause, (SSLCertVerificationError, *OF_A_FILE)) for cause in chain):
        return None
    garbled = any(isinstance(cause, BadStatusLine) and not isinstance(cause, RemoteDisconnected) for cause in chain)
    return "connection" if isinstance(error, requests.ConnectionError) and not garbled else None
