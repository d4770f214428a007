"""`freeze-gate replay`: start a rerun from the first run's pin, so that only the oracle runs again."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from freeze_gate.capture.bundle.replay import replay
from freeze_gate.capture.bundle.store import Store, bundle_folder
from freeze_gate.capture.environment import current_run
from freeze_gate.commands import CommandContext
from freeze_gate.commands._output import format_pin


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="BUNDLE", type=Path, help="the first run's bundle: a folder or a zip")
    parser.add_argument("--id", required=True, metavar="ID", help="the fixture id")
    parser.add_argument("--bundle", metavar="DIR", help="the bundle's folder (FREEZE_GATE_BUNDLE, else freeze-gate)")


def run(args: Namespace, context: CommandContext) -> int:
    """Copy the pin, write the record, and print the digest and the path."""
    store = Store(bundle_folder(args.bundle, context.environ))
    pin = replay(args.source, store, args.id, current_run(context.environ, context.now()))
    context.stdout.write(format_pin(pin))
    return 0
