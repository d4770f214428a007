"""What a command may touch of the process it runs in; built once, in `cli`, and handed down."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import BinaryIO, NamedTuple, TextIO

from freeze_gate.github.budget import Clock


class World(NamedTuple):
    """The environment, the clock and the three standard streams."""

    environ: Mapping[str, str]
    clock: Clock
    stdin: BinaryIO
    out: TextIO
    err: TextIO

    def now(self) -> datetime:
        """Return the time, in UTC."""
        return datetime.fromtimestamp(self.clock.epoch(), UTC)
