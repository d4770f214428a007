"""`freeze-gate lane`: run an oracle for another machine, which reaches this one through standard input and output."""

import os
import sys
from argparse import ArgumentParser, Namespace
from typing import Final

from freeze_gate.commands import CommandContext
from freeze_gate.errors import UsageError

EXAMPLE: Final = "freeze-gate oracle --id sorted-patch --lane 'ssh -T lane.example freeze-gate lane' -- pytest"
EXIT_CODES: Final = {
    "0": "the near side has the oracle's result, whatever it is",
    "2": "a wrong argument",
    "3": "refused, or the near side was lost; everything that was started is ended",
}


def configure(parser: ArgumentParser) -> None:
    parser.description = (
        "run the oracle of another machine here, sealed. `freeze-gate oracle --lane` starts this\n"
        "through ssh, docker exec -i or kubectl exec -i. It listens nowhere, and ends everything\n"
        "that it started when its standard input is closed"
    )


def run(_args: Namespace, context: CommandContext) -> int:
    """Serve one near side. Standard output carries the protocol alone: what the oracle prints goes to stderr."""
    if sys.platform == "win32" or context.stdin is None:
        raise UsageError("it needs Linux, and a standard input that `freeze-gate oracle --lane` writes to")
    from freeze_gate.capture.lane.server import Connection, serve

    incoming, outgoing = os.dup(context.stdin.fileno()), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    with open(incoming, "rb") as stream:  # noqa: PTH123 - a descriptor
        serve(Connection(stream, outgoing), context.environ)
    return 0
