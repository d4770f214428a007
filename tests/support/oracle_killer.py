"""A program that kills runs of an oracle, each at another moment, and checks what they left. Prints how many it killed.

`steps MARK`: at every step that a run takes in the file system and with other processes, one step after the other, to
the last write of the record. `moments MARK`: at moments spread over a run, while its command sleeps MARK seconds.
"""

import contextlib
import io
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from freeze_gate.cli import main
from freeze_gate.commands import oracle as _oracle  # noqa: F401 - loaded once, before the runs
from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.record import Record, read_record
from tests.support.oracle_job import make_oracle_job

NOT_A_STEP = frozenset({"builtins.id", "import", "object.__getattr__", "sys._getframe"})
MOMENTS = 24


def run_oracle(*command: str) -> int:
    """Run `freeze-gate oracle` in this process, in the working folder."""
    with contextlib.redirect_stderr(io.StringIO()):
        return main(["oracle", "--id", "sorted", "--", *command], dict(os.environ))


def fork(folder: Path, run: Callable[[], int]) -> int:
    """Call a function in a process of its own, in a folder; return its pid."""
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        os.setsid()
        os._exit(run())
    return child


def exit_status(pid: int) -> int:
    """Wait for a process; return its exit status, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def record_in(folder: Path) -> Record:
    """Read the record that a run left; whatever the moment, it is readable and does not say that the oracle passed."""
    record = read_record((folder / "freeze-gate/records/sorted.json").read_bytes(), "sorted")
    assert not contradictions(record)
    assert record.oracle_passed is not True
    return record


def kill_at_steps(folder: Path) -> int:
    """Let each run kill itself at a later step, until one ends by itself; return the number of steps."""
    previous: bool | None = None
    for step in range(1, 1000):
        job = folder / str(step)
        make_oracle_job(job)
        if exit_status(fork(job, lambda step=step: _run_to_step(step))) != -signal.SIGKILL:
            assert record_in(job).oracle.outcome == "failed"
            return step - 1
        record = record_in(job)
        assert record.oracle.outcome in {None, "crashed", "failed"}
        assert (previous, record.oracle_passed) != (False, None), "a later step took back what an earlier one recorded"
        previous = record.oracle_passed
    raise AssertionError("no run came to its end")


def _run_to_step(step: int) -> int:
    remaining = step

    def kill_at_step(event: str, _args: tuple[object, ...]) -> None:
        nonlocal remaining
        if event not in NOT_A_STEP:
            remaining -= 1
            if remaining == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(kill_at_step)
    return run_oracle("false")


def kill_at_moments(folder: Path, mark: str) -> int:
    """Kill runs from outside, spread over the time that a whole run takes; return their number."""
    whole_job = folder / "whole"
    make_oracle_job(whole_job)
    started = time.monotonic()
    assert exit_status(fork(whole_job, lambda: run_oracle("false"))) == 1
    duration = time.monotonic() - started
    for moment in range(MOMENTS):
        job = folder / str(moment)
        make_oracle_job(job)
        child = fork(job, lambda: run_oracle("sleep", mark))
        time.sleep(duration * 1.25 * moment / MOMENTS)
        os.kill(child, signal.SIGKILL)
        assert exit_status(child) == -signal.SIGKILL
        assert record_in(job).oracle.outcome in {None, "crashed"}
    return MOMENTS


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        killed = kill_at_steps(Path(name)) if sys.argv[1] == "steps" else kill_at_moments(Path(name), sys.argv[2])
    sys.stdout.write(f"{killed}\n")
