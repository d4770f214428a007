"""Waiting, bounded: one budget for the whole run, however many threads wait."""

import threading
import time
from collections.abc import Callable
from typing import Final, NamedTuple


class Clock(NamedTuple):
    """The time as seconds since 1970 (GitHub names its limits in that), a monotonic one, and a way to let it pass."""

    epoch: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


REAL: Final = Clock()


class Budget:
    """The seconds that a run may still lose by waiting. Two threads that wait at the same time pay once."""

    def __init__(self, seconds: float, clock: Clock = REAL) -> None:
        self._left = seconds
        self._clock = clock
        self._paid_until = float("-inf")
        self._lock = threading.Lock()

    @property
    def left(self) -> float:
        """Seconds that may still be lost."""
        return self._left

    def wait(self, seconds: float, since: float | None = None) -> bool:
        """Sleep, if the budget allows it, and say whether it did.

        `since` (a monotonic time) is when the try began that failed: the time it took is lost too.
        """
        with self._lock:
            now = self._clock.monotonic()
            self._pay(now if since is None else since, now)
            if self._price(now, now + seconds) > self._left:
                return False
            self._pay(now, now + seconds)
        self._clock.sleep(seconds)
        return True

    def _price(self, start: float, end: float) -> float:
        """Return the seconds of a stretch of time that nobody has paid for yet."""
        return max(0.0, end - max(start, self._paid_until))

    def _pay(self, start: float, end: float) -> None:
        self._left = max(0.0, self._left - self._price(start, end))
        self._paid_until = max(self._paid_until, end)
