"""The interface of the Actions runner: the output file, the summary file, and the log with its annotations.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

import os
import signal
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final, TextIO

from freeze_gate.errors import NoVerdictError
from freeze_gate.report.escape import escape_log, format_annotation

OUTPUTS: Final = {
    "failure-class": "unclassified",
    "freeze-allowed": "false",
    "fixture-sha256": "missing",
    "fixture-path": "missing",
    "reason": "",
    "freeze-active": "false",
    "pull-request": "",
    "label-posted": "false",
    "issue-number": "",
    "issue-url": "",
    "verdict-file": "",
}
"""Every output with its fail-closed value: what a later step reads if this one is killed before the verdict."""

MAX_WARNINGS: Final = 9
"""The runner shows ten annotations of a kind and silently drops the rest; one place is kept for the verdict."""

TERMINATION_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
"""What ends a step from outside: a cancelled run sends SIGINT first, and the container engine passes it on."""

_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY  # a FIFO would wait for a reader
_NEW_FILE: Final = 0o666  # less the umask


@contextmanager
def termination_deferred() -> Iterator[None]:
    """Block the termination signals inside the `with` block; they arrive at its end."""
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, TERMINATION_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


class Runner:
    """The files and the log of one step.

    `final_exit_code` is None until the four lines are written.
    """

    def __init__(self, environ: Mapping[str, str], stdout: TextIO) -> None:
        self._environ = environ
        self._stdout = stdout
        self._warnings = 0
        self.final_exit_code: int | None = None

    def log(self, text: str) -> None:
        """Write one line to the log. Untrusted text in it cannot become a workflow command."""
        self._print(escape_log(text))

    def annotate(self, level: str, text: str, title: str = "Freeze Gate") -> None:
        """Show a `notice`, `warning` or `error` on the run's page. Warnings over `MAX_WARNINGS` are log lines."""
        if level == "warning":
            self._warnings += 1
            if self._warnings > MAX_WARNINGS:
                self.log(f"warning: {text}")
                return
        self._print(format_annotation(level, text, title))

    def set_outputs(self, outputs: Mapping[str, str]) -> None:
        """Set outputs of the step; the last value of a name counts.

        Raises `NoVerdictError` if the file cannot be written, `ValueError` for a name or value that is no output.
        """
        lines = []
        for name, value in outputs.items():
            if name not in OUTPUTS or "\n" in value or "\r" in value:
                msg = f"not an output of one line: {name}"
                raise ValueError(msg)
            lines.append(f"{name}={value}\n")
        self._append("GITHUB_OUTPUT", "".join(lines))

    def append_summary(self, text: str) -> None:
        """Append to the step's summary. Raises `NoVerdictError`."""
        self._append("GITHUB_STEP_SUMMARY", text)

    def write_verdict_summary(self, text: str, exit_code: int) -> None:
        """Append the summary that holds the four lines, and set the exit code that goes with them.

        Raises `NoVerdictError`.
        """
        with termination_deferred():
            self.append_summary(text)
            self.final_exit_code = exit_code

    def _append(self, variable: str, text: str) -> None:
        path = self._environ.get(variable)
        if not path:
            raise NoVerdictError(
                f"{variable} is not set, so there is no file to write to; run this as a step of a workflow"
            )
        try:
            _append(path, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise NoVerdictError(f"the file that {variable} names cannot be written: {error.strerror}") from None

    def _print(self, line: str) -> None:
        """Print. A log that nobody reads any more is no failure."""
        with suppress(OSError, ValueError):
            print(line, file=self._stdout, flush=True)


def _append(path: str, payload: bytes) -> None:
    """Append to an ordinary file, all or nothing: half a summary would leave its `true` without its verdict."""
    descriptor = os.open(path, _APPEND, _NEW_FILE)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is no ordinary file")
        rest = memoryview(payload)
        try:
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            os.ftruncate(descriptor, status.st_size)
            raise
    finally:
        os.close(descriptor)
