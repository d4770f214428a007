"""The blocks that a page is built of, from cells and lines that are Markdown already, and how a page stays small."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from freeze_gate.evidence.abbreviation import abbreviate

T = TypeVar("T")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table: a head, and rows of as many cells."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def bullets(items: Sequence[T], limit: int = 20, show: Callable[[T], str] = str) -> str:
    """Return a list of at most `limit` items, and how many more there are."""
    return "".join(f"- {line}\n" for line in abbreviate(items, limit, show))


def fit(blocks: Iterable[str], budget: int) -> str:
    """Join blocks with blank lines while they fit into `budget` bytes, and count the others: none is cut in two."""
    kept, left_out = [], 0
    budget -= 100  # for the sentence about what is left out
    for block in blocks:
        size = len(block.encode("utf-8", "replace")) + 1
        fits = size <= budget
        kept += [block] if fits else []
        left_out += not fits
        budget -= size if fits else 0
    return "\n".join([*kept, f"{left_out} parts are left out: they are too long to show.\n"] if left_out else kept)
