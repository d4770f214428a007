"""Building blocks of a Markdown page. Cells and lines are Markdown already: the caller has escaped them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from freeze_gate.evidence.abbreviation import abbreviate, count

T = TypeVar("T")

_NOTICE_BYTES: Final = 100  # kept free for the sentence about what is left out


def format_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table: a head, and rows of as many cells."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def format_alert(kind: str, paragraphs: Iterable[str]) -> str:
    """Return one of GitHub's alerts: `CAUTION`, `WARNING`, `NOTE` or `TIP`. A paragraph is one line."""
    body = "\n>\n".join(f"> {paragraph}" for paragraph in paragraphs)
    return f"> [!{kind}]\n{body}\n"


def format_details(summary: str, body: str) -> str:
    """Return a section that is closed until the reader opens it."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n</details>\n"


def format_list(items: Sequence[T], limit: int = 20, show: Callable[[T], str] = str) -> str:
    """Return a bullet list of at most `limit` items, and how many more there are."""
    return "".join(f"- {line}\n" for line in abbreviate(items, limit, show))


def join_within_budget(blocks: Iterable[str], max_bytes: int) -> str:
    """Join blocks with blank lines, at most `max_bytes` in UTF-8.

    A block that does not fit is left out as a whole, and the page says how many there are.
    """
    included: list[str] = []
    omitted = 0
    remaining = max_bytes - _NOTICE_BYTES
    for block in blocks:
        size = len(block.encode("utf-8", "replace")) + 1
        if size > remaining:
            omitted += 1
            continue
        included.append(block)
        remaining -= size
    if omitted:
        included.append(f"{count(omitted, 'part')} left out, too long to show here.\n")
    return "\n".join(included)
