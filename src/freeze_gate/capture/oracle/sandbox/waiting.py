"""Waiting for one child, while its time limit, the end of the supervisor or those of orphans may come first."""

import os
import select
import signal
import socket
import time

from freeze_gate.capture.oracle.sandbox.protocol import Lost


def watch(child: int, supervisor: socket.socket, limit: float | None) -> tuple[int | None, float]:
    """Wait for the child; return its exit status (negative for a signal, None at the limit) and the seconds it took.

    Every other child that ends is collected too. Raises `Lost` when the supervisor is gone.
    """
    started = time.monotonic()
    wakes, wakeup = os.pipe()
    os.set_blocking(wakeup, False)
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    poll = select.poll()
    poll.register(wakes, select.POLLIN)
    poll.register(supervisor, select.POLLIN | select.POLLRDHUP)
    while True:
        status = _collect(child)
        spent = time.monotonic() - started
        if status is not None or (limit is not None and spent >= limit):
            return status, spent
        for descriptor, _ in poll.poll(None if limit is None else (limit - spent) * 1000 + 1):
            if descriptor != wakes:
                raise Lost
            os.read(wakes, 4096)


def _collect(child: int) -> int | None:
    """Collect all children that have ended; return the status of the one that is waited for."""
    found = None
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == child:
                found = os.waitstatus_to_exitcode(ended[1])
    except ChildProcessError:
        pass
    return found
