"""The version of the tool and of its rules."""

from typing import Final

VERSION: Final = "0.1.0"

RULES_VERSION: Final = 1
"""Counts up with every change to the decision table, a check or their order; a verdict names its rules."""
