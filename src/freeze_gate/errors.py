"""Errors that end a command, each with its exit code and a message for the user."""

from typing import Final

UNREADABLE_CA_BUNDLE: Final = "REQUESTS_CA_BUNDLE: must be a file of certificates that can be read"


class FreezeGateError(Exception):
    """A failure that the user can fix. The message says what is wrong and what to do next."""

    exit_code = 3


class UsageError(FreezeGateError):
    """An invalid input or argument. The message names it, its value and what is allowed."""

    exit_code = 2


class NoVerdictError(FreezeGateError):
    """No verdict was reached or delivered: the API is down, a permission is missing, a file cannot be written."""

    exit_code = 3
