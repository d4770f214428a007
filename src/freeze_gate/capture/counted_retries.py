"""What urllib3 retries by itself, below everything that can be followed: counted where it decides to."""

from typing import Any, cast

from urllib3.util.retry import Retry


class Attempts:
    """What urllib3 did below the adapter: how often it tried again, and the last status that made it."""

    def __init__(self) -> None:
        self.retries = 0
        self.status: int | None = None


class _CountingRetry(Retry):
    """Mixed into the user's own kind of `Retry`."""

    attempts: Attempts

    def new(self, **changed: Any) -> "_CountingRetry":
        """Copy with changes, the counter included."""
        fresh = super().new(**changed)
        fresh.attempts = self.attempts
        return fresh

    def increment(self, *args: Any, **options: Any) -> "_CountingRetry":
        """Count a retry that is allowed; raises where it is not."""
        self.attempts.status = getattr(options.get("response"), "status", None)
        fresh = super().increment(*args, **options)
        self.attempts.retries += 1
        return fresh


def counting(retry: Retry, attempts: Attempts) -> Retry:
    """Copy a `Retry`, of whatever kind, so that it tells `attempts` what it allows."""
    kind = type("CountingRetry", (_CountingRetry, type(retry)), {})
    copy = cast("Retry", object.__new__(kind))
    copy.__dict__.update(retry.__dict__, attempts=attempts)
    return copy
