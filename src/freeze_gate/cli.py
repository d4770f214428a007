"""The composition root: the one place that reads the environment, asks the clock and owns the standard streams."""

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
    "gate": "judge the two runs of a pull request; the action runs this",
    "classify": "judge two bundles, offline",
    "check": "say all that is wrong with records, bundles, policies and verdicts",
    "verify": "compute a stored verdict again and compare",
    "prune": "list or remove pins that nothing refers to any more",
    "pin": "store sampled bytes under their digest",
    "sample": "call the sampler once, pin the answer and record the transport",
    "transport": "record what another HTTP client saw",
    "oracle": "run the property check on the pinned file, without a network",
    "replay": "start a rerun from the first run's pin",
    "status": "say what one record says",
}


def main(argv: Sequence[str], environ: Mapping[str, str], clock: Clock = SYSTEM_CLOCK) -> int:
    """Run one command and return its exit code. The one `except` for errors that a person can do something about."""
    context = CommandContext(environ, clock, sys.stdin.buffer, sys.stdout, sys.stderr)
    if list(argv) == ["gate"]:  # takes its inputs from the environment: no parser to import
        return _run("gate", None, context)
    return _parse_and_run(argv, context)


def _parse_and_run(argv: Sequence[str], context: CommandContext) -> int:
    import argparse

    name = next((word for word in argv if word in COMMANDS), None)
    parser = argparse.ArgumentParser(prog="freeze-gate", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"freeze-gate {VERSION}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command, words in COMMANDS.items():
        described = commands.add_parser(command, help=words, description=words, allow_abbrev=False)
        if command == name:
            _module(command).configure(described)
    args = parser.parse_args(argv)
    try:
        code = _run(args.command, args, context)
        context.stdout.flush()
    except BrokenPipeError:  # whoever reads the output has read enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would try once more at its exit
        return NoVerdictError.exit_code
    return code


def _run(command: str, args: object, context: CommandContext) -> int:
    try:
        return int(_module(command).run(args, context))
    except FreezeGateError as error:
        print(f"freeze-gate {command}: {error}", file=context.stderr)
        return error.exit_code


def _module(command: str) -> ModuleType:
    return importlib.import_module(f"freeze_gate.commands.{command}")


def entry() -> None:
    """Run as `freeze-gate`.

    The collector of reference cycles stays off: a run is short and its data hold none, while the search for them took
    4 % of the whole gate, most of it during imports, and 11 % of a `classify` of thousands of pairs.
    """
    gc.disable()
    sys.exit(main(sys.argv[1:], os.environ))
