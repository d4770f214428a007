"""Freeze Gate says what a red pair of CI runs means: a property miss, a fixture drift, harness noise, or undecided.

The names below need only the standard library.
"""

from freeze_gate.evidence.digest import pin_fixture
from freeze_gate.verdict.table import FailureClass, RunRecord, classify, freeze_allowed
from freeze_gate.version import VERSION as __version__  # noqa: N811 - the name that every package has

__all__ = ["FailureClass", "RunRecord", "__version__", "classify", "freeze_allowed", "pin_fixture"]
