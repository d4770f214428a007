"""`freeze-gate pin`: store sampled bytes under their digest, before anything is asserted about them."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO

from freeze_gate.capture.bundle.pin import pin_sample
from freeze_gate.capture.bundle.store import Store, bundle_folder
from freeze_gate.capture.environment import current_run
from freeze_gate.commands import CommandContext
from freeze_gate.commands._output import format_pin
from freeze_gate.errors import UsageError
from freeze_gate.evidence.digest import CHUNK
from freeze_gate.evidence.record import Record


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--id", required=True, metavar="ID", help="the fixture id")
    parser.add_argument("--bundle", metavar="DIR", help="the bundle's folder (FREEZE_GATE_BUNDLE, else freeze-gate)")
    parser.add_argument("--suffix", default="", metavar="SUFFIX", help="how the pinned file's name ends, such as .json")
    parser.add_argument("--replace", action="store_true", help="let other bytes go that are pinned under this id")
    parser.add_argument("file", metavar="FILE", help="the file that holds the bytes; - is standard input")


def run(args: Namespace, context: CommandContext) -> int:
    """Pin the bytes, and print their digest and path."""
    store = Store(bundle_folder(args.bundle, context.environ))
    begun = Record(args.id, None, None, None, None, run=current_run(context.environ, context.now()))
    pin = pin_sample(store, begun, _chunks(args.file, context.stdin), args.suffix, replace=args.replace)
    context.stdout.write(format_pin(pin))
    return 0


def _chunks(name: str, stdin: BinaryIO) -> Iterator[bytes]:
    try:
        with nullcontext(stdin) if name == "-" else Path(name).open("rb") as stream:
            while chunk := stream.read(CHUNK):
                yield chunk
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}") from None
