"""`freeze-gate pin`: store sampled bytes under their digest, before anything is asserted about them."""

from argparse import ArgumentParser, Namespace
from functools import partial
from typing import Final

from freeze_gate.capture.bundle.pin import pin_sample
from freeze_gate.capture.bundle.store import Store, bundle_folder
from freeze_gate.capture.environment import current_run
from freeze_gate.commands import CommandContext
from freeze_gate.commands._capture import add_record_arguments, empty_pin_warning, format_pin, open_input
from freeze_gate.evidence.digest import CHUNK
from freeze_gate.evidence.lfs import LFS_POINTER_WARNING, MAX_POINTER_BYTES, is_lfs_pointer
from freeze_gate.evidence.record import Record

EXAMPLE: Final = "freeze-gate pin --id sorted-patch --suffix .json answer.json"
EXIT_CODES: Final = {
    "0": "the bytes are pinned",
    "2": "a wrong argument, a different pin, or an oracle has run on the id",
    "3": "the bundle cannot be written",
}


def configure(parser: ArgumentParser) -> None:
    add_record_arguments(parser)
    parser.add_argument("--suffix", default="", metavar="SUFFIX", help="end of the pinned file's name, such as .json")
    parser.add_argument(
        "--replace", action="store_true", help="replace a different sample that is already pinned under this id"
    )
    parser.add_argument("file", metavar="FILE", help="the file that holds the bytes; - is standard input")


def run(args: Namespace, context: CommandContext) -> int:
    """Pin the bytes, and print their digest and path."""
    store = Store(bundle_folder(args.bundle, context.environ))
    begun = Record(args.id, None, None, None, None, run=current_run(context.environ, context.now()))
    with open_input(args.file, context) as stream:
        pin = pin_sample(store, begun, iter(partial(stream.read, CHUNK), b""), args.suffix, replace=args.replace)
    context.stdout.write(format_pin(pin))
    if warning := empty_pin_warning(args.id, pin):
        print(f"freeze-gate pin: {warning}", file=context.stderr)
    with (store.folder / pin.path).open("rb") as stream:
        if is_lfs_pointer(stream.read(MAX_POINTER_BYTES)):
            context.print_message(f"freeze-gate pin: {args.id}: {LFS_POINTER_WARNING}")
    return 0
