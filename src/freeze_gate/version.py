"""The versions of the tool and of its rules."""

from typing import Final

VERSION: Final = "0.1.0"

RULES_VERSION: Final = 4
"""Increased with every change to the decision table, to a check, or to their order. A verdict names its version."""
