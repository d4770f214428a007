"""What a reader sees, one page for each kind of verdict, kept as Markdown so that a change of wording is looked at.

`python -m tests.golden.regenerate` writes the pages; look at the difference.
"""

from pathlib import Path
from typing import Final

import pytest

from tests.builders.pages import make_pages

PAGES: Final = Path(__file__).parent / "summary"


@pytest.mark.parametrize("name", sorted(make_pages()))
def test_the_page_reads_as_it_was_last_looked_at(name: str) -> None:
    """The page is byte for byte the one that is kept."""
    assert make_pages()[name].encode() == (PAGES / f"{name}.md").read_bytes()


def test_no_page_is_kept_that_nothing_writes() -> None:
    """A page whose case went away goes with it."""
    assert {path.stem for path in PAGES.iterdir()} == set(make_pages())
