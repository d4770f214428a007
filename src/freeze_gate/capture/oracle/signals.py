"""Ctrl-C and the signals by which a runner cancels a job, as an exception: what was started is ended before we go."""

import contextlib
import signal
from collections.abc import Iterator
from typing import Final, NoReturn

from freeze_gate.errors import FreezeGateError

_ASKED_TO_END: Final = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Interrupted(FreezeGateError):
    """Somebody asked this process to end; `exit_code` is 128 and the signal's number, as a shell has it."""

    def __init__(self, number: int) -> None:
        super().__init__(
            f"ended by {signal.Signals(number).name}; where the oracle had started, the record says false and crashed"
        )
        self.exit_code = 128 + number


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Raise `Interrupted` for each of the signals while the block runs; afterwards all is as it was."""

    def interrupt(number: int, _frame: object) -> NoReturn:
        for each in _ASKED_TO_END:  # one is enough: nothing may break off the ending
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(number)

    before = {number: handler for number in _ASKED_TO_END if (handler := signal.getsignal(number)) != signal.SIG_IGN}
    for number in before:  # what the caller ignores, as nohup(1) does, stays ignored
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
