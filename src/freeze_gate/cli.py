"""The composition root: only here the environment, the clock and the standard streams of the process are taken."""

import gc
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Final

from freeze_gate.commands import CommandContext
from freeze_gate.errors import FreezeGateError, NoVerdictError
from freeze_gate.github.wait_budget import SYSTEM_CLOCK, Clock
from freeze_gate.version import VERSION

COMMANDS: Final = {
    "gate": "compare the two runs of a pull request; the action runs this",
    "classify": "compare two bundles offline",
    "check": "validate records, bundles, policies and verdicts",
    "verify": "compute a stored verdict again and compare",
    "prune": "list or remove pins that nothing refers to any more",
    "pin": "store sampled bytes under their digest",
    "sample": "call the sampler once, pin the answer and record the transport",
    "transport": "record what another HTTP client saw",
    "oracle": "run the property check on the pinned file, without a network",
    "replay": "start a rerun from the first run's pin",
    "status": "show what one record says",
}


def main(argv: Sequence[str], environ: Mapping[str, str], clock: Clock = SYSTEM_CLOCK) -> int:
    """Run one command and return its exit code."""
    context = CommandContext(environ, clock, sys.stdin.buffer, sys.stdout, sys.stderr)
    if list(argv) == ["gate"]:  # has no arguments, so it does not pay for the parser
        return _run("gate", None, context)
    return _parse_and_run(argv, context)


def _parse_and_run(argv: Sequence[str], context: CommandContext) -> int:
    import argparse

    name = next((word for word in argv if word in COMMANDS), None)
    parser = argparse.ArgumentParser(prog="freeze-gate", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"freeze-gate {VERSION}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command, summary in COMMANDS.items():
        command_parser = commands.add_parser(command, help=summary, description=summary, allow_abbrev=False)
        if command == name:
            _import_command(command).configure(command_parser)
    args = parser.parse_args(argv)
    try:
        code = _run(args.command, args, context)
        context.stdout.flush()
    except BrokenPipeError:  # the reader of stdout closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python flushes once more when it exits
        return NoVerdictError.exit_code
    return code


def _run(command: str, args: object, context: CommandContext) -> int:
    """Run the command. The only `except` for errors that the user can fix."""
    try:
        return int(_import_command(command).run(args, context))
    except FreezeGateError as error:
        context.print_message(f"freeze-gate {command}: {error}")
        return error.exit_code


def _import_command(command: str) -> ModuleType:
    return importlib.import_module(f"freeze_gate.commands.{command}")


def entry() -> None:
    """Run as `freeze-gate`.

    Python's search for reference cycles is off: a run is short and makes none, and the search took 4 % of a `gate` run
    and 11 % of a `classify` run with thousands of pairs.
    """
    gc.disable()
    sys.exit(main(sys.argv[1:], os.environ))
