"""What the runner gives a step and takes from it: the output file, the summary file, the log with its annotations.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
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
"""Every output with its closed value: what a later step reads if this one is killed before it knows better."""

MAX_WARNINGS: Final = 9
"""The runner shows ten annotations of a kind and drops the rest without a word; one place is the verdict's."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let SIGTERM wait for a moment."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Runner:
    """The files and the log of one step."""

    def __init__(self, environ: Mapping[str, str], out: TextIO) -> None:
        self._environ = environ
        self._out = out
        self._warnings = 0
        self.delivered: int | None = None  # the exit code, once the four lines are written

    def say(self, text: str) -> None:
        """Write one line to the log. What a stranger wrote cannot become a workflow command in it."""
        self._print(escape_log(text))

    def annotate(self, level: str, text: str, title: str = "Freeze Gate") -> None:
        """Show a `notice`, `warning` or `error` on the run's page; warnings beyond the runner's count are log lines."""
        self._warnings += level == "warning"
        if self._warnings > MAX_WARNINGS and level == "warning":
            self.say(f"warning: {text}")
        else:
            self._print(format_annotation(level, text, title))

    def set_outputs(self, outputs: Mapping[str, str]) -> None:
        """Set outputs of the step; the last value of a name counts. Raises `NoVerdictError`, `ValueError`."""
        lines = []
        for name, value in outputs.items():
            if name not in OUTPUTS or "\n" in value or "\r" in value:
                msg = f"not an output of one line: {name}"
                raise ValueError(msg)
            lines.append(f"{name}={value}\n")
        self._append("GITHUB_OUTPUT", "".join(lines))

    def summarise(self, text: str) -> None:
        """Append to the step's summary. Raises `NoVerdictError`."""
        self._append("GITHUB_STEP_SUMMARY", text)

    def deliver(self, text: str, exit_code: int) -> None:
        """Append the summary that holds the four lines. No signal can part the lines from the exit code."""
        with undisturbed():
            self.summarise(text)
            self.delivered = exit_code

    def _append(self, variable: str, text: str) -> None:
        path = self._environ.get(variable)
        if not path:
            raise NoVerdictError(
                f"{variable} is not set: there is nowhere to write to; run this as a step of a workflow"
            )
        try:
            with Path(path).open("a", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.write(text)
        except OSError as error:
            raise NoVerdictError(f"the file that {variable} names cannot be written: {error.strerror}") from None

    def _print(self, line: str) -> None:
        """Print, if there is still somebody who reads the log: no verdict depends on it."""
        with suppress(OSError, ValueError):
            print(line, file=self._out, flush=True)
