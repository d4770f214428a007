"""Signals as an exception, so that what was started is ended first."""

import os
import signal

import pytest

from freeze_gate.capture.oracle.signals import Interrupted, raise_on_termination


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_raises_inside_the_block(number: signal.Signals) -> None:
    """Each of the three ends the block with the exit code that a shell would show."""
    with pytest.raises(Interrupted, match=number.name) as caught, raise_on_termination():
        os.kill(os.getpid(), number)
    assert caught.value.exit_code == 128 + number


def test_a_second_signal_does_not_interrupt_the_clean_up() -> None:
    """While what was started is being ended, more signals are ignored."""

    def clean_up() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted), raise_on_termination():
        clean_up()


def test_the_handlers_are_restored() -> None:
    """The block leaves no handler behind, and touches none that ignores its signal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    try:
        with raise_on_termination():
            os.kill(os.getpid(), signal.SIGHUP)
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == handlers
    finally:
        signal.signal(signal.SIGHUP, before)
