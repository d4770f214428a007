"""How a list of any length is shown to a person: its first items, then how many more there are."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def abbreviate(items: Sequence[T], limit: int = 20, show: Callable[[T], str] = str) -> list[str]:
    """Return the text of the first `limit` items and, if there are others, `and N more` as the last item.

    `show` is called only for the items that are shown.
    """
    shown = [show(item) for item in items[:limit]]
    omitted = len(items) - limit
    return [*shown, f"and {omitted} more"] if omitted > 0 else shown
