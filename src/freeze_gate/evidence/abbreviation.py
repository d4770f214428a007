"""How lists, numbers and names of any length are shown to a person."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from freeze_gate.validation.readers import CONTROL_CHARACTERS

_MAX_NAME: Final = 128

T = TypeVar("T")


def abbreviate(items: Sequence[T], limit: int = 20, show: Callable[[T], str] = str) -> list[str]:
    """Return the text of the first `limit` items and, if there are others, `and N more` as the last item.

    `show` is called only for the items that are shown.
    """
    texts = [show(item) for item in items[:limit]]
    omitted = len(items) - limit
    return [*texts, f"and {omitted} more"] if omitted > 0 else texts


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 note`, `2 notes`, `2 entries`. The plural ends in `s` unless it is given."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def printable_name(name: str) -> str:
    """Make a file name fit to be shown, at most 128 characters long. A changed name is never a valid fixture id."""
    plain = CONTROL_CHARACTERS.sub("?", name) or "?"
    return plain if len(plain) <= _MAX_NAME else f"{plain[: _MAX_NAME - 1]}…"
