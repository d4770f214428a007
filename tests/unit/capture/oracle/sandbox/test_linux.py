"""How a refusal of the machine reads."""

import errno
import os

import pytest

from freeze_gate.capture.oracle.sandbox import linux as kernel


def _fail(number: int) -> None:
    raise OSError(number, os.strerror(number))


def test_a_refusal_names_the_step_and_the_cause() -> None:
    """A person reads which step was not allowed, in the words of the C library."""
    with pytest.raises(kernel.Refused, match=r"^hiding /run: Operation not permitted$"):
        kernel.step("hiding /run", lambda: _fail(errno.EPERM))


def test_a_used_up_limit_does_not_look_like_a_full_disk() -> None:
    """`No space left on device` says where the limits are."""
    with pytest.raises(kernel.Refused, match="/proc/sys/user"):
        kernel.step("making a network namespace", lambda: _fail(errno.ENOSPC))


def test_a_call_that_the_machine_refuses_is_an_error() -> None:
    """The error of the C library arrives: nothing goes on as if a step had been done."""
    with pytest.raises(OSError, match="No such file or directory"):
        kernel.mount_over_itself("/no/such/folder")
