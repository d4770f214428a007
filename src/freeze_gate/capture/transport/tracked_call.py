"""Calls in the making, and the sample that came out of one of them."""

from typing import Final, NamedTuple

from freeze_gate.capture.bundle.store import Pin
from freeze_gate.capture.transport.merge import Asked, Call
from freeze_gate.capture.transport.observer import Exchange, Outcome

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class Followed:
    """One call: its latest attempt, and how many came before (None: not known).

    `written` says that its end is in the record on disk.
    """

    def __init__(self, asked: Asked, exchange: Exchange) -> None:
        self.asked, self.exchange = asked, exchange
        self.retries: int | None = 0
        self.written = False

    @property
    def call(self) -> Call:
        """What is known of it now; an attempt that is still going on has said nothing yet."""
        return Call(self.exchange.outcome or Outcome(status_code=self.exchange.status), self.retries)

    @property
    def whole(self) -> bool | None:
        """Whether its body arrived whole."""
        return self.call.outcome.whole

    @property
    def stump(self) -> bool:
        """Whether it failed and left something of a sample behind; a fault before the first byte leaves nothing."""
        failed = self.call.outcome.ok is False and self.exchange.succeeded
        return failed and self.exchange.readable and bool(self.exchange.body or self.whole)

    def brought(self, payload: bytes) -> bool:
        """Whether exactly these bytes came out of it."""
        exchange = self.exchange
        return exchange.succeeded and exchange.readable and exchange.body == payload

    def take(self, asked: Asked, exchange: Exchange) -> bool:
        """Make a new attempt part of this call, if it is.

        The same request after an attempt that brought no sample is a retry, whoever makes it: an SDK does so without
        telling. The request after a redirect belongs to the call and is no retry.
        """
        ended = self.exchange.outcome
        redirected = self.exchange.status in _REDIRECTS
        fruitless = ended is not None and (ended.ok is False or not self.exchange.succeeded)
        if not redirected and not (fruitless and self.asked.same(asked)):
            return False
        self.asked, self.exchange, self.written = asked, exchange, False
        self.add_retries(0 if redirected else 1)
        return True

    def add_retries(self, count: int | None) -> None:
        """Count more attempts; None where nobody knows how many."""
        self.retries = None if self.retries is None or count is None else self.retries + count


class Pinned(NamedTuple):
    """What the user pinned: the pin, the calls that there had been by then, the one that brought it, if that shows."""

    pin: Pin
    calls: tuple[Followed, ...]
    source: Followed | None

    @property
    def whole(self) -> bool | None:
        """Whether the bytes come from a body that arrived whole: that of the source, else of every call alike."""
        if self.source is not None:
            return self.source.whole
        told = {followed.whole for followed in self.calls if followed.exchange.succeeded}
        return told.pop() if len(told) == 1 else None


def pinned_from(pin: Pin, payload: bytes, calls: list[Followed]) -> Pinned:
    """Find out which call brought the bytes: the latest, where several did."""
    source = next((followed for followed in reversed(calls) if followed.brought(payload)), None)
    return Pinned(pin, tuple(calls), source)
