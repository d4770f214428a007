"""What the README shows, as text: its blocks below a heading, and its tables."""

import re
from pathlib import Path
from typing import Final

from tests.support.recipes import README

ROOT: Final = Path(__file__).parents[2]


def section(heading: str) -> str:
    """Return what stands below a heading, up to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^##+ |\Z)", README, re.MULTILINE | re.DOTALL)
    assert found, f"the README has no heading {heading!r}"
    return found[1]


def blocks(heading: str, language: str) -> list[str]:
    """Return the fenced blocks of a language below a heading."""
    return re.findall(rf"^```{language}\n(.*?)^```$", section(heading), re.MULTILINE | re.DOTALL)


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the tables below a heading, without their heads."""
    lines = re.findall(
        r"^\|(.*)\|$", re.sub(r"^\|.*\|\n\| ---.*\n", "", section(heading), flags=re.MULTILINE), re.MULTILINE
    )
    return [[cell.strip() for cell in line.split("|")] for line in lines]
