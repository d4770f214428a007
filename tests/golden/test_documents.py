"""Verdict documents, kept so that a change of their format is looked at, and so that old ones verify for ever.

`python -m tests.golden.regenerate` writes `document/`; look at the difference. At each release these files are copied
to `released/<version>/`, and nothing writes those again.
"""

from pathlib import Path
from typing import Final

import pytest

from freeze_gate.verdict.document_reader import recompute
from tests.builders.documents import make_documents

HERE: Final = Path(__file__).parent


@pytest.mark.parametrize("name", sorted(make_documents()))
def test_the_document_is_the_stored_one(name: str) -> None:
    """Byte for byte, and it is computed again from itself alone."""
    stored = (HERE / "document" / f"{name}.json").read_bytes()
    assert make_documents()[name] == stored == recompute(stored)


def test_no_document_is_left_over() -> None:
    """A document whose case went away goes with it."""
    assert {path.stem for path in (HERE / "document").iterdir()} == make_documents().keys()


def test_every_released_document_verifies() -> None:
    """What an older version wrote is computed again by the rules of its time."""
    for path in HERE.glob("released/*/*.json"):
        assert recompute(path.read_bytes()) == path.read_bytes(), path
