"""What can end a command early: one root, each kind with its exit code and a sentence for a person."""

from typing import Final

UNREADABLE_CA_BUNDLE: Final = "REQUESTS_CA_BUNDLE: must be a file of certificates that can be read"


class FreezeGateError(Exception):
    """A failure with a sentence for a person: what is wrong, what to do next. `exit_code` is of the README's table."""

    exit_code = 3


class UsageError(FreezeGateError):
    """A bad input or argument: the message names it, its value and what is allowed."""

    exit_code = 2


class NoVerdictError(FreezeGateError):
    """No verdict could be reached or delivered: the API is down, no right to read, a file that cannot be written."""

    exit_code = 3
