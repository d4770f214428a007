"""Calls that are going on or have ended, and the sample that one of them produced."""

from collections.abc import Callable
from typing import Final, NamedTuple

from freeze_gate.capture.bundle.store import Pin
from freeze_gate.capture.transport.merge import Call, RequestKey
from freeze_gate.capture.transport.observer import Exchange, TransportOutcome

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


Select = Callable[[bytes | bytearray], bytes | bytearray | None]
"""Returns the sample in a body: the body itself, or the string in it that was named in advance."""


class TrackedCall:
    """One call: its latest attempt, and how many came before (None: not known).

    `is_written` says that its end is in the record on disk.
    """

    def __init__(self, key: RequestKey, exchange: Exchange) -> None:
        self.key, self.exchange = key, exchange
        self.retries: int | None = 0
        self.is_written = False

    @property
    def call(self) -> Call:
        """What is known of it now; an attempt that is still going on has said nothing yet."""
        return Call(self.exchange.outcome or TransportOutcome(status_code=self.exchange.status), self.retries)

    @property
    def complete(self) -> bool | None:
        """Whether its body arrived complete; None where that cannot be told."""
        return self.call.outcome.complete

    @property
    def has_partial_body(self) -> bool:
        """Whether it failed and left part of a sample behind; a fault before the first byte leaves nothing."""
        exchange = self.exchange
        if self.call.outcome.ok is not False or not exchange.has_sample_body:
            return False
        return bool(exchange.body or self.complete)

    def has_produced(self, payload: bytes, select: Select) -> bool:
        """Whether exactly these bytes are its sample: the body, or what is selected from it."""
        return self.exchange.has_sample_body and select(self.exchange.body) == payload

    def absorb(self, key: RequestKey, exchange: Exchange) -> bool:
        """Make a new attempt part of this call, if it is. Return whether it is.

        The same request after an attempt that brought no sample is a retry, whoever makes it: an SDK does so without
        telling. The request after a redirect belongs to the call and is no retry.
        """
        outcome = self.exchange.outcome
        brought_no_sample = outcome is not None and (outcome.ok is False or not self.exchange.is_success)
        if self.exchange.status in _REDIRECTS:
            retries = 0
        elif brought_no_sample and key.is_repeat_of(self.key):
            retries = 1
        else:
            return False
        self.key, self.exchange, self.is_written = key, exchange, False
        self.add_retries(retries)
        return True

    def add_retries(self, count: int | None) -> None:
        """Count more attempts; None where nobody knows how many."""
        self.retries = None if self.retries is None or count is None else self.retries + count


class PinnedSample(NamedTuple):
    """What the user pinned: the pin, the calls that there had been by then, the one that produced it, if that shows."""

    pin: Pin
    calls: tuple[TrackedCall, ...]
    source: TrackedCall | None

    @property
    def complete(self) -> bool | None:
        """Whether the bytes come from a complete body: that of the source, else of every call alike."""
        if self.source is not None:
            return self.source.complete
        answers = {call.complete for call in self.calls if call.exchange.is_success}
        return answers.pop() if len(answers) == 1 else None


def trace_pin(pin: Pin, payload: bytes, calls: list[TrackedCall], select: Select) -> PinnedSample:
    """Find out which call produced the bytes: the latest, where several did."""
    source = next((call for call in reversed(calls) if call.has_produced(payload, select)), None)
    return PinnedSample(pin, tuple(calls), source)
