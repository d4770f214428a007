"""Exceptions are told apart by their classes and those of their causes, never by their text."""

from collections.abc import Iterator


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """List an exception and what it came from, the last first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
