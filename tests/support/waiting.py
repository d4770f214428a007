"""Waiting for a fact, not for a time."""

import time
from collections.abc import Callable


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; fail if it does not within ten seconds."""
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
