"""Time that passes only when somebody waits."""

import threading

from freeze_gate.github.wait_budget import Clock


class Pretended:
    """A clock that starts at `epoch` seconds since 1970. `slept` holds every wait, in seconds."""

    def __init__(self, epoch: float = 1_796_000_000.0) -> None:
        self._now = epoch
        self._lock = threading.Lock()
        self.slept: list[float] = []

    def read(self) -> float:
        """Return the time."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let time pass, at once."""
        with self._lock:
            self._now += seconds
            self.slept.append(seconds)

    @property
    def clock(self) -> Clock:
        """The clock as the client under test takes it."""
        return Clock(self.read, self.read, self.sleep)
