"""Verdict documents of some kinds of verdict."""

from typing import Final

from freeze_gate.verdict.document import encode
from freeze_gate.verdict.evaluate import evaluate
from tests.builders.cases import CASES

NAMES: Final = ("miss", "drift", "green", "flake-frozen", "earlier-fail", "set")


def make_documents() -> dict[str, bytes]:
    """Return the documents by their names."""
    return {name: encode(CASES[name], evaluate(CASES[name])) for name in NAMES}
