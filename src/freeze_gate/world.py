"""What a command may touch of the process it runs in; built once, in `cli`, and handed down."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import BinaryIO, NamedTuple, TextIO


class World(NamedTuple):
    """The environment, the clock (UTC) and the three standard streams."""

    environ: Mapping[str, str]
    now: Callable[[], datetime]
    stdin: BinaryIO
    out: TextIO
    err: TextIO
