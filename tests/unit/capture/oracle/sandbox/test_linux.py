"""How a step of the set-up that fails reads."""

import errno
import os

import pytest

from freeze_gate.capture.oracle.sandbox import linux


def test_a_setup_error_names_the_step_and_the_cause() -> None:
    """The message says which step failed, in the words of the C library."""
    expected = r"^hiding /run: Operation not permitted$"
    with pytest.raises(linux.SetupError, match=expected), linux.setup_step("hiding /run"):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))


def test_a_limit_of_zero_does_not_read_as_a_full_disk() -> None:
    """`No space left on device` is followed by where the limits are."""
    step = linux.setup_step("making a network namespace")
    with pytest.raises(linux.SetupError, match="/proc/sys/user"), step:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_call_that_fails_raises() -> None:
    """The error of the C library is raised: nothing goes on as if the step had been done."""
    with pytest.raises(OSError, match="No such file or directory"):
        linux.bind_mount_self("/no/such/folder")
