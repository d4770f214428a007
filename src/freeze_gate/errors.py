"""Errors that end a command, each with its exit code and a message for the user."""

import errno
from collections.abc import Iterator
from typing import Final

UNREADABLE_CA_BUNDLE: Final = "REQUESTS_CA_BUNDLE: must be a file of certificates that can be read"


CA_BUNDLES: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""The variables that name certificate authorities, as `requests` reads them: the first one that is set counts."""


class FreezeGateError(Exception):
    """A failure that the user can fix. The message says what is wrong and what to do next."""

    exit_code = 3


class UsageError(FreezeGateError):
    """An invalid input or argument. The message names it, its value and what is allowed."""

    exit_code = 2


class NoVerdictError(FreezeGateError):
    """No verdict was reached or delivered: the API is down, a permission is missing, a file cannot be written."""

    exit_code = 3


_SHORTAGES: Final = {
    errno.ENOMEM: "the memory is used up: give the job a larger machine or container",
    errno.EMFILE: "this process may open no more files: raise `ulimit -n`, or `--ulimit nofile` of the container",
    errno.ENFILE: "this machine may open no more files: end other processes, or use another machine",
    errno.ENOSPC: "the disk is full: free some disk space",
    errno.EDQUOT: "the disk quota is used up: free some disk space",
}


def describe_shortage(error: BaseException) -> str | None:
    """Return the resource that was short and what to do, if an exception or one of its causes says so."""
    for cause in exception_chain(error):
        number = errno.ENOMEM if isinstance(cause, MemoryError) else getattr(cause, "errno", None)
        if number in _SHORTAGES:
            return _SHORTAGES[number]
    return None


def exception_chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and its causes, the last first: they are told apart by their classes, never by their text."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
