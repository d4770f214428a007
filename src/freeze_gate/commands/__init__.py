"""The commands, one module each: `configure(parser)` declares the arguments, `run(args, context)` does the work.

`EXAMPLE` and `EXIT_CODES` end the command's `--help`.

`cli` imports only the module of the command that was asked for, so that `classify` never pays for an HTTP client.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import BinaryIO, Final, NamedTuple, TextIO

from freeze_gate.errors import UsageError
from freeze_gate.github.wait_budget import Clock
from freeze_gate.report.escape import escape_log

_MAX_LINE: Final = 4_000


class CommandContext(NamedTuple):
    """Environment, clock and standard streams, injected into every command. Built only in `cli.main`."""

    environ: Mapping[str, str]
    clock: Clock
    stdin: BinaryIO | None
    stdout: TextIO
    stderr: TextIO

    def open_stdin(self) -> BinaryIO:
        """Return standard input. Raises `UsageError` where it is closed: no bytes are not zero bytes."""
        if self.stdin is None:
            raise UsageError("standard input is closed, and `-` reads from it: name a file")
        return self.stdin

    def now(self) -> datetime:
        """Return the current time, in UTC."""
        return datetime.fromtimestamp(self.clock.epoch(), UTC)

    def print_message(self, message: str) -> None:
        """Print lines to stderr. Untrusted text in them cannot become a workflow command."""
        for line in message.split("\n"):
            print(escape_log(line, _MAX_LINE), file=self.stderr)
