"""The side that makes the evidence, inside the user's two jobs.

`Capture` is the library, imported on its first use: the sandbox supervisor, which may run as root, does not need it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freeze_gate.capture.capture import Capture

__all__ = ["Capture"]


def __getattr__(name: str) -> Any:
    """Import the library at its first use."""
    if name != "Capture":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from freeze_gate.capture import capture

    return capture.Capture
