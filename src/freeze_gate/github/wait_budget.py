"""A limit on waiting: one budget for the whole run, shared by all threads."""

import threading
import time
from collections.abc import Callable
from typing import Final, NamedTuple


class Clock(NamedTuple):
    """`epoch` is in seconds since 1970 (GitHub's rate limits use it), `monotonic` and `sleep` are in seconds too."""

    epoch: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


SYSTEM_CLOCK: Final = Clock()


class WaitBudget:
    """The seconds that a run may still spend on waiting. Two threads that wait at the same time are charged once."""

    def __init__(self, seconds: float, clock: Clock = SYSTEM_CLOCK) -> None:
        self._left = seconds
        self._clock = clock
        self._charged_until = float("-inf")
        self._lock = threading.Lock()

    @property
    def left(self) -> float:
        """Seconds that may still be spent."""
        return self._left

    def wait(self, seconds: float, since: float | None = None) -> bool:
        """Sleep if the budget allows it, and return whether it did.

        `since` is the monotonic time at which a failed attempt began: the time that it took is charged too.
        """
        with self._lock:
            now = self._clock.monotonic()
            self._charge(now if since is None else since, now)
            if self._cost(now, now + seconds) > self._left:
                return False
            self._charge(now, now + seconds)
        self._clock.sleep(seconds)
        return True

    def _cost(self, start: float, end: float) -> float:
        """Return the seconds of a period that no thread has been charged for yet."""
        return max(0.0, end - max(start, self._charged_until))

    def _charge(self, start: float, end: float) -> None:
        self._left = max(0.0, self._left - self._cost(start, end))
        self._charged_until = max(self._charged_until, end)
