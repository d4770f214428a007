"""The commands, one module each: `configure(parser)` declares the arguments, `run(args, context)` does the work.

`cli` imports only the module of the command that was asked for, so that `classify` never pays for an HTTP client.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import BinaryIO, NamedTuple, TextIO

from freeze_gate.github.wait_budget import Clock


class CommandContext(NamedTuple):
    """Environment, clock and standard streams, injected into every command. Built only in `cli.main`."""

    environ: Mapping[str, str]
    clock: Clock
    stdin: BinaryIO
    stdout: TextIO
    stderr: TextIO

    def now(self) -> datetime:
        """Return the time, in UTC."""
        return datetime.fromtimestamp(self.clock.epoch(), UTC)
