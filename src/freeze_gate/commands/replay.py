"""`freeze-gate replay`: start a rerun from the first run's pin, so that only the oracle runs again."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from freeze_gate.capture.bundle.replay import replay
from freeze_gate.capture.bundle.store import Store, bundle_folder
from freeze_gate.capture.environment import current_run
from freeze_gate.commands import CommandContext
from freeze_gate.commands._capture import add_record_arguments, format_pin

EXAMPLE: Final = "freeze-gate replay first-bundle --id sorted-patch"
EXIT_CODES: Final = {
    "0": "the pin is copied",
    "2": "a wrong argument, no usable record and pin of the id in the bundle, or the id has its own capture",
    "3": "the bundle cannot be written",
}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("source", metavar="BUNDLE", type=Path, help="the first run's bundle: a folder or a zip")
    add_record_arguments(parser)


def run(args: Namespace, context: CommandContext) -> int:
    """Copy the pin, write the record, and print the digest and the path."""
    store = Store(bundle_folder(args.bundle, context.environ))
    pin = replay(args.source, store, args.id, current_run(context.environ, context.now()))
    context.stdout.write(format_pin(pin))
    return 0
