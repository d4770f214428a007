"""The time that one attempt may take of its server: the patched code may read its answer as slowly as it likes."""

import math
import time
from collections.abc import Callable


class Deadline:
    """The most seconds that one attempt waits, as far as a client with a time limit for each wait can keep it.

    Only what lies between `resume` and `pause` counts. `over` makes the client's own time-out of a message.
    """

    def __init__(self, seconds: float | None, over: Callable[[str], Exception]) -> None:
        self._left = math.inf if seconds is None else seconds
        self._seconds, self._over = seconds, over
        self._resumed = 0.0

    def limited(self, wait: float | None) -> float | None:
        """Let one wait be no longer than the whole time; None is for ever."""
        if self._seconds is None or wait is None:
            return self._seconds if wait is None else wait
        return min(wait, self._seconds)

    def resume(self) -> None:
        """Begin a wait for the server."""
        self._resumed = time.monotonic()

    def pause(self) -> None:
        """End the wait: an answer, or a piece of it, is there."""
        self._left -= time.monotonic() - self._resumed

    def check(self) -> None:
        """Raise the client's own time-out once the time is over."""
        if self._left <= 0:
            raise self._over("the total deadline is over")
