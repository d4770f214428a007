"""One call to the sampler, with a deadline for all of it and a record at every end.

The call runs in a thread of its own: `requests` limits each wait and no more, so that a server that drips a byte now
and then never ends. At the deadline, or when this process is asked to end, the thread is left behind. The retries are
made here and not by urllib3, which would sleep through an interrupt and as long as `Retry-After` says.
"""

import contextlib
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from freeze_gate.capture.transport.observer import Exchange, is_success_status
from freeze_gate.capture.transport.recorder import Recorder
from freeze_gate.errors import UNREADABLE_CA_BUNDLE, UsageError
from freeze_gate.evidence.record import Record

if TYPE_CHECKING:
    import requests

    from freeze_gate.capture.transport.failure import Failure

_FIRST_PAUSE: Final = 0.5  # seconds; doubles with every retry
_MAX_RETRY_AFTER: Final = 60.0  # seconds
_ERROR_BYTES: Final = 4096
"""How much of an error's body is read, for the message."""

_POLL_INTERVAL: Final = 0.2  # seconds; a wait on Windows hears no Ctrl-C before it ends

_Event = Literal["done", "interrupted", "deadline"]


class SamplerRequest(NamedTuple):
    """What to ask. Times in seconds; `retries` come on top of the first attempt; `user` is a name and a password."""

    url: str
    method: str
    headers: Mapping[str, str]
    body: bytes | None
    connect_timeout: float
    read_timeout: float
    deadline: float
    retries: int
    user: tuple[str, str] | None = None


def sample(recorder: Recorder, request: SamplerRequest) -> "tuple[Record, Failure | None]":
    """Call the sampler, pin what came, and return the record as it is on disk then, and why the call failed, if it did.

    Raises what `Recorder` raises; what the network does is in the record.
    """
    events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
    with _on_termination(lambda: events.put("interrupted")):
        end = time.monotonic() + request.deadline
        attempts = _Attempts(recorder, request, lambda: events.put("done"))
        attempts.start()
        event = _wait_for_event(events, end)
        attempts.stop(event)
        return _pin_answer(recorder, event), attempts.failure


def _wait_for_event(events: "queue.SimpleQueue[_Event]", end: float) -> _Event:
    while (left := end - time.monotonic()) > 0:
        with contextlib.suppress(queue.Empty):
            return events.get(timeout=min(left, _POLL_INTERVAL))
    return "deadline"


def _pin_answer(recorder: Recorder, event: _Event) -> Record:
    """Pin a complete answer, or what had come of one when this process was asked to end."""
    exchange = recorder.latest
    if exchange is not None and exchange.has_sample_body and exchange.outcome:
        is_interrupted = event == "interrupted" and exchange.outcome.ok is None and bool(exchange.body)
        sample = recorder.select(exchange.body)
        if (exchange.outcome.ok is True or is_interrupted) and sample is not None:
            recorder.pin(bytes(sample))
    return recorder.save()


class _Attempts:
    """The thread that calls, and calls again where that is asked for and nothing of a body has come."""

    def __init__(self, recorder: Recorder, request: SamplerRequest, on_done: Callable[[], None]) -> None:
        self._recorder, self._request, self._on_done = recorder, request, on_done
        self._stopped = threading.Event()
        self._error: BaseException | None = None
        self.failure: Failure | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, event: _Event) -> None:
        """Make no further attempt; end the one that is going on. Raises what went wrong in the thread."""
        self._stopped.set()
        exchange = self._recorder.latest
        if event == "done":
            self._thread.join()
        elif exchange is not None:
            exchange.on_error("timeout" if event == "deadline" else None)
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        from freeze_gate.capture.transport.requests_adapter import header_limit_of_curl, recording_session

        try:
            with header_limit_of_curl(), recording_session(self._recorder) as session:
                for attempt in range(self._request.retries + 1):
                    retry_after = self._attempt(session)
                    exchange = self._recorder.latest
                    if exchange is None or not _is_retryable(exchange) or attempt == self._request.retries:
                        break
                    if self._stopped.wait(max(retry_after, _FIRST_PAUSE * 2**attempt)):
                        break
        except BaseException as error:  # noqa: BLE001 - it is raised where the call was asked for
            self._error = error
        finally:
            self._on_done()

    def _attempt(self, session: "requests.Session") -> float:
        """Make one attempt. Return the seconds that the server asks to wait before another."""
        import requests
        import urllib3

        from freeze_gate.capture.transport.failure import Failure, name_cause

        retry_after, self.failure = 0.0, None
        try:
            with self._send(session) as response:
                retry_after = _parse_retry_after(response.headers.get("Retry-After"))
                if is_success_status(response.status_code):
                    for _ in response.raw.stream(decode_content=False):
                        pass
                else:
                    self.failure = Failure(location=response.headers.get("Location"))
                    self.failure = self.failure._replace(body=response.raw.read1(_ERROR_BYTES, decode_content=True))
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            self.failure = self.failure or Failure(name_cause(error))  # the recorder has seen it
        except OSError:  # the one thing that `requests` leaves unwrapped
            raise UsageError(UNREADABLE_CA_BUNDLE) from None
        return retry_after

    def _send(self, session: "requests.Session") -> "requests.Response":
        request = self._request
        return session.request(
            request.method,
            request.url,
            headers=request.headers,
            data=request.body,
            auth=request.user or _no_auth,
            timeout=(request.connect_timeout, request.read_timeout),
            allow_redirects=False,
            stream=True,
        )


def _no_auth(prepared: "requests.PreparedRequest") -> "requests.PreparedRequest":
    """Keep the headers that were given: without this, a .netrc would take the place of `Authorization`."""
    return prepared


def _is_retryable(exchange: Exchange) -> bool:
    """Whether the attempt failed before anything of a body: no connection, no headers, a transient status."""
    outcome = exchange.outcome
    if outcome is None or outcome.ok is not False:
        return False
    if outcome.fault == "http_status":
        return True
    return outcome.status_code is None and outcome.fault in ("connection", "timeout")


def _parse_retry_after(text: str | None) -> float:
    """Read `Retry-After` in seconds, a minute at most; a date, or nothing, is 0."""
    value = (text or "").strip()
    return min(float(value), _MAX_RETRY_AFTER) if value.isascii() and value.isdigit() else 0.0


@contextlib.contextmanager
def _on_termination(notify: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM call `notify` instead of ending the process; what the caller ignores stays ignored."""
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: handler for number in signals if (handler := signal.getsignal(number)) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, lambda _number, _frame: notify())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
