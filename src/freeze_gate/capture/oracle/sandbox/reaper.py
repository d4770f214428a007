"""Ending every process that a command left behind, whether it calls itself a daemon or not."""

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Final

_PATIENCE: Final = 5.0
"""Seconds for what cannot be ended: processes that gained another user's rights, outside a seal."""
_PAUSE: Final = 0.01


def end_namespace() -> int:
    """End all processes but this one, the first of its process namespace, and wait until they are gone: 0 are left."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    return 0


def end_descendants() -> int:
    """End all descendants of this process, which adopts orphans, and return how many could not be ended."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        found = _descendants(os.getpid())
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not _reap() or time.monotonic() > deadline:
            return len(_descendants(os.getpid()))
        time.sleep(_PAUSE)


def _reap() -> bool:
    """Collect the children that have ended; say whether there are others."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _descendants(ancestor: int) -> set[int]:
    parents = {int(entry.name): parent for entry in Path("/proc").iterdir() if (parent := _parent(entry))}
    found: set[int] = set()
    while more := {pid for pid, parent in parents.items() if parent in found | {ancestor}} - found:
        found |= more
    return found


def _parent(entry: Path) -> int | None:
    """Read the parent of a process that may end at any moment (proc(5): the name in brackets may hold anything)."""
    if not entry.name.isdigit():
        return None
    try:
        fields = (entry / "stat").read_bytes().rpartition(b") ")[2].split()
    except OSError:
        return None
    return int(fields[1])
