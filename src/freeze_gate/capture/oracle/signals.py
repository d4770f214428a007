"""Ctrl-C and the signals that cancel a job, as an exception: the command is ended before this process ends."""

import contextlib
import signal
from collections.abc import Iterator
from typing import Final, NoReturn

from freeze_gate.errors import FreezeGateError

_TERMINATION_SIGNALS: Final = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class Interrupted(FreezeGateError):
    """A signal asked this process to end; `exit_code` is 128 plus its number, as in a shell."""

    def __init__(self, number: int) -> None:
        super().__init__(
            f"ended by {signal.Signals(number).name}; if the oracle had started, the record says false and crashed"
        )
        self.exit_code = 128 + number


def ignore_termination() -> None:
    """Ignore the signals from now on, to the end of the block of `raise_on_termination`."""
    for number in _TERMINATION_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def raise_on_termination() -> Iterator[None]:
    """Raise `Interrupted` for each of these signals inside the block; restore the handlers after it."""

    def interrupt(number: int, _frame: object) -> NoReturn:
        ignore_termination()  # a second signal must not interrupt the clean-up
        raise Interrupted(number)

    handlers = {number: signal.getsignal(number) for number in _TERMINATION_SIGNALS}
    # what the caller ignores, as nohup(1) does, stays ignored
    handlers = {number: handler for number, handler in handlers.items() if handler != signal.SIG_IGN}
    for number in handlers:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
