"""Exceptions are told apart by their classes and those of their causes, never by their text."""

from collections.abc import Iterator
from typing import Final

OF_A_FILE: Final = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError)
"""What opening a file raises and no network does: a body that its sender could not read is no fault of the transport,
although HTTP clients take every `OSError` of a body for a broken connection."""


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """List an exception and what it came from, the last first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
