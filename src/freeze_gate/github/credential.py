"""The secret that opens GitHub."""

import re

from freeze_gate.errors import UsageError


class Token:
    """A secret that no text shows. Raises `UsageError` for what cannot be a token."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        if not re.fullmatch(r"[!-~]{1,1000}", secret):
            raise UsageError("github-token: must be one word of plain characters; leave it unset to use the job's own")
        self._secret = secret

    def __repr__(self) -> str:
        """Show nothing."""
        return "***"

    __str__ = __repr__

    def bearer(self) -> str:
        """Return the value of the `Authorization` header."""
        return f"Bearer {self._secret}"
