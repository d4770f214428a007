"""Waiting for the command, and killing every process that it leaves behind, daemons included."""

import contextlib
import os
import select
import signal
import socket
import time
from pathlib import Path
from typing import Final

from freeze_gate.capture.oracle.sandbox.protocol import ConnectionLost

_KILL_TIMEOUT: Final = 5.0
"""Seconds to try: without a sandbox, a process may have gained another user's rights and cannot be killed."""
_KILL_INTERVAL: Final = 0.01


def wait_for_child(child: int, launcher: socket.socket, timeout: float | None) -> tuple[int | None, float]:
    """Wait for the child; return its exit status (negative for a signal, None at the time limit) and its seconds.

    Every other child that ends is reaped too. Raises `ConnectionLost` when the launcher is gone.
    """
    started = time.monotonic()
    wakeup_read, wakeup_write = os.pipe()
    os.set_blocking(wakeup_write, False)
    signal.set_wakeup_fd(wakeup_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    poll = select.poll()
    poll.register(wakeup_read, select.POLLIN)
    poll.register(launcher, select.POLLIN | select.POLLRDHUP)
    statuses: dict[int, int] = {}
    while True:
        _reap(statuses)
        seconds = time.monotonic() - started
        if child in statuses or (timeout is not None and seconds >= timeout):
            return statuses.get(child), seconds
        for descriptor, _ in poll.poll(None if timeout is None else (timeout - seconds) * 1000 + 1):
            if descriptor != wakeup_read:
                raise ConnectionLost
            os.read(wakeup_read, 4096)


def kill_namespace() -> int:
    """Kill all processes but this one, the first of its process namespace, and wait for their end. Returns 0."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    return 0


def kill_descendants() -> int:
    """Kill all descendants of this process, a child subreaper, and return how many could not be killed."""
    deadline = time.monotonic() + _KILL_TIMEOUT
    while True:
        for pid in _descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not _reap({}) or time.monotonic() > deadline:
            return len(_descendants(os.getpid()))
        time.sleep(_KILL_INTERVAL)


def _reap(statuses: dict[int, int]) -> bool:
    """Put the exit statuses of ended children into `statuses`; return whether other children are still running."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return True
            statuses[pid] = os.waitstatus_to_exitcode(status)
    except ChildProcessError:
        return False


def _descendants(ancestor: int) -> set[int]:
    parents = {int(entry.name): _parent(entry) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    descendants: set[int] = set()
    generation = {ancestor}
    while generation:
        generation = {pid for pid, parent in parents.items() if parent in generation} - descendants
        descendants |= generation
    return descendants


def _parent(entry: Path) -> int | None:
    """Read a process's parent from its folder in `/proc`; None if it has ended meanwhile."""
    try:
        # proc(5): the name in brackets may hold anything, so the fields begin after the last bracket
        fields = (entry / "stat").read_bytes().rpartition(b") ")[2].split()
    except OSError:
        return None
    return int(fields[1])
