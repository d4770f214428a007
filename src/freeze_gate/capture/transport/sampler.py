"""One call to the sampler, with a deadline for all of it and a record at every end.

The call runs in a thread of its own: `requests` limits each wait and no more, so that a server that drips a byte now
and then never ends. At the deadline, or when this process is asked to end, the thread is left behind.
"""

import contextlib
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from freeze_gate.capture.transport.observer import Exchange
from freeze_gate.capture.transport.recorder import Recorder
from freeze_gate.errors import UsageError
from freeze_gate.evidence.record import Record

if TYPE_CHECKING:
    import requests

_FIRST_PAUSE: Final = 0.5  # seconds; doubles with every retry
_LONGEST_PAUSE: Final = 60.0
_GLANCE: Final = 0.2  # seconds; a wait on Windows hears no Ctrl-C before it ends


class Request(NamedTuple):
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


def sample(recorder: Recorder, request: Request) -> Record:
    """Call the sampler, pin what came, and return the record as it is on disk then.

    Raises what `Recorder` raises; what the network does is in the record.
    """
    news: queue.SimpleQueue[str] = queue.SimpleQueue()
    with _asked_to_end(lambda: news.put("interrupted")):
        end = time.monotonic() + request.deadline
        attempts = _Attempts(recorder, request, lambda: news.put("done"))
        attempts.start()
        ending = _first_news(news, end)
        attempts.stop(ending)
        return _recorded(recorder, ending)


def _first_news(news: "queue.SimpleQueue[str]", end: float) -> str:
    while (left := end - time.monotonic()) > 0:
        with contextlib.suppress(queue.Empty):
            return news.get(timeout=min(left, _GLANCE))
    return "deadline"


def _recorded(recorder: Recorder, ending: str) -> Record:
    exchange = recorder.latest
    if exchange is not None and exchange.succeeded and exchange.readable and exchange.outcome:
        whole_answer = exchange.outcome.ok is True
        begun = ending == "interrupted" and exchange.outcome.ok is None and bool(exchange.body)
        if whole_answer or begun:
            recorder.pin(bytes(exchange.body))
    return recorder.save()


class _Attempts:
    """The thread that calls, and calls again where that is asked for and nothing of a body has come."""

    def __init__(self, recorder: Recorder, request: Request, done: Callable[[], None]) -> None:
        self._recorder, self._request, self._done = recorder, request, done
        self._stopped = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, ending: str) -> None:
        """Make no further attempt; end the one that is going on. Raises what went wrong in the thread."""
        self._stopped.set()
        exchange = self._recorder.latest
        if ending == "done":
            self._thread.join()
        elif exchange is not None:
            exchange.failed("timeout" if ending == "deadline" else None)
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            self._call()
        except BaseException as error:  # noqa: BLE001 - it is raised where the call was asked for
            self._error = error
        finally:
            self._done()

    def _call(self) -> None:
        from freeze_gate.capture.transport.requests_adapter import recorded_session

        with recorded_session(self._recorder) as session:
            for attempt in range(self._request.retries + 1):
                pause = self._attempt(session)
                if pause is None or attempt == self._request.retries:
                    return
                if self._stopped.wait(max(pause, _FIRST_PAUSE * 2**attempt)):
                    return

    def _attempt(self, session: "requests.Session") -> float | None:
        """Make one attempt. Return the seconds that the server asks to wait before another; None: it was the last."""
        import requests
        import urllib3

        pause = 0.0
        try:
            with self._answer(session) as answer:
                pause = _retry_after(answer.headers.get("Retry-After"))
                if answer.ok:
                    for _ in answer.raw.stream(decode_content=False):
                        pass
        except (requests.RequestException, urllib3.exceptions.HTTPError):
            pass  # the recorder has seen it
        except OSError:  # the one thing that `requests` leaves unwrapped
            raise UsageError("REQUESTS_CA_BUNDLE: must be a file of certificates that can be read") from None
        exchange = self._recorder.latest
        return pause if exchange is not None and _may_try_again(exchange) else None

    def _answer(self, session: "requests.Session") -> "requests.Response":
        asked = self._request
        return session.request(
            asked.method,
            asked.url,
            headers=asked.headers,
            data=asked.body,
            auth=asked.user or _as_it_is,
            timeout=(asked.connect_timeout, asked.read_timeout),
            allow_redirects=False,
            stream=True,
        )


def _as_it_is(prepared: "requests.PreparedRequest") -> "requests.PreparedRequest":
    """Authenticate by the headers that were given: without this, a .netrc would take the place of `Authorization`."""
    return prepared


def _may_try_again(exchange: Exchange) -> bool:
    """Whether the attempt failed before anything of an answer's body: no connection, no headers, a passing status."""
    outcome = exchange.outcome
    if outcome is None or outcome.ok is not False:
        return False
    unanswered = outcome.status_code is None and outcome.fault in ("connection", "timeout")
    return outcome.fault == "http_status" or unanswered


def _retry_after(text: str | None) -> float:
    """Read `Retry-After` in seconds; a date, or nothing, is no wish."""
    plain = (text or "").strip()
    return min(float(plain), _LONGEST_PAUSE) if plain.isascii() and plain.isdigit() else 0.0


@contextlib.contextmanager
def _asked_to_end(tell: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM be told instead of ending the process; what the caller ignores stays ignored."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: handler for number in numbers if (handler := signal.getsignal(number)) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, lambda _number, _frame: tell())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
