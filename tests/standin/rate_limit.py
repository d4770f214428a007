"""GitHub's two limits: the primary one counts, the secondary one strikes when it is told to."""

import threading
from collections.abc import Callable
from typing import Any, Final

from tests.standin.http_server import Reply

_DOCS: Final = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"
HOUR: Final = 3600
SECONDARY_LIMIT: Final = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. "
    "If you reach out to GitHub Support for help, please include the request ID 0000:0000."
)
ABUSE_DETECTION: Final = (
    "You have triggered an abuse detection mechanism. Please wait a few minutes before you try again."
)
"""How an older server, or another part of GitHub, words the secondary limit."""


class Limit:
    """The hourly limit of the token, and secondary strikes that were planned. `epoch` says what time it is."""

    def __init__(self, epoch: Callable[[], float]) -> None:
        self._epoch = epoch
        self._lock = threading.Lock()
        self._strikes: list[Reply] = []
        self.total = 1000
        self.remaining = 1000
        self.reset = int(epoch()) + HOUR

    def exhaust(self, seconds: int) -> None:
        """Leave nothing for that many seconds."""
        self.remaining, self.reset = 0, int(self._epoch()) + seconds

    def strike(
        self, *, times: int = 1, retry_after: int | None = 60, status: int = 403, words: str = SECONDARY_LIMIT
    ) -> None:
        """Meet the next requests with the secondary limit."""
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        self._strikes += [Reply(status, {"message": words, "documentation_url": _DOCS}, headers)] * times

    def headers(self) -> dict[str, str]:
        """Say what is left, as every answer does."""
        return {
            "X-RateLimit-Limit": str(self.total),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
            "X-RateLimit-Used": str(self.total - self.remaining),
            "X-RateLimit-Resource": "core",
        }

    def take(self) -> Reply | None:
        """Count one request; the answer is None where it may go on."""
        with self._lock:
            if self._strikes:
                return self._strikes.pop(0)
            now = self._epoch()
            if now >= self.reset:
                self.remaining, self.reset = self.total, int(now) + HOUR
            if self.remaining == 0:
                payload: dict[str, Any] = {"message": "API rate limit exceeded for installation ID 1."}
                return Reply(403, {**payload, "documentation_url": _DOCS})
            self.remaining -= 1
            return None
