"""The composition root: only here the environment, the clock and the standard streams of the process are taken."""

import gc
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Final

from freeze_gate.commands import CommandContext
from freeze_gate.errors import FreezeGateError, NoVerdictError, UsageError
from freeze_gate.github.wait_budget import SYSTEM_CLOCK, Clock
from freeze_gate.version import VERSION

if TYPE_CHECKING:
    from argparse import ArgumentParser

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
    "lane": "run the oracle of another machine here; `oracle --lane` starts this",
    "replay": "start a rerun from the first run's pin",
    "status": "show what one record says",
}


def main(argv: Sequence[str], environ: Mapping[str, str], clock: Clock = SYSTEM_CLOCK) -> int:
    """Run one command and return its exit code."""
    _open_closed_streams()
    context = CommandContext(environ, clock, sys.stdin.buffer if sys.stdin else None, sys.stdout, sys.stderr)
    if list(argv) == ["gate"]:  # has no arguments, so it does not pay for the parser
        return _run("gate", None, context)
    return _parse_and_run(argv, context)


def _open_closed_streams() -> None:
    """Let no file that a command opens become its standard stream: a closed one leads nowhere. Input stays closed."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free descriptor is this one
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115 - open as long as the process
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115 - as above


def _parse_and_run(argv: Sequence[str], context: CommandContext) -> int:
    import argparse

    name = next((word for word in argv if word in COMMANDS), None)
    parser = argparse.ArgumentParser(prog="freeze-gate", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"freeze-gate {VERSION}")
    described = parser
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command, summary in COMMANDS.items():
        command_parser = commands.add_parser(command, help=summary, description=summary, allow_abbrev=False)
        if command == name:
            module = _import_command(command)
            module.configure(command_parser)
            command_parser.formatter_class = argparse.RawDescriptionHelpFormatter
            command_parser.epilog = _epilog(module)
            described = command_parser
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        described.error(f"unrecognized arguments: {' '.join(unknown)}{_separator_hint(described, argv)}")
    if args.command is None:
        parser.print_help(context.stderr)
        return UsageError.exit_code
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


def _epilog(module: ModuleType) -> str:
    codes = "\n".join(f"  {code:<6} {meaning}" for code, meaning in module.EXIT_CODES.items())
    return f"example:\n  {module.EXAMPLE}\n\nexit codes:\n{codes}"


def _separator_hint(parser: "ArgumentParser", argv: Sequence[str]) -> str:
    """Explain a missing `--`: without it, the options of the command to run are taken for ours."""
    takes_command = " -- " in (parser.epilog or "")
    return "; put `--` before the command that is to run" if takes_command and "--" not in argv else ""


def _import_command(command: str) -> ModuleType:
    return importlib.import_module(f"freeze_gate.commands.{command}")


def entry() -> None:
    """Run as `freeze-gate`.

    Python's search for reference cycles is off: a run is short and makes none, and the search took 4 % of a `gate` run
    and 11 % of a `classify` run with thousands of pairs.
    """
    gc.disable()
    sys.exit(main(sys.argv[1:], os.environ))
