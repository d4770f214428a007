"""The side that makes the evidence, inside the user's two jobs.

`Capture` is the library; nothing is imported with it that its user did not ask for.
"""

from freeze_gate.capture.library import Capture

__all__ = ["Capture"]
