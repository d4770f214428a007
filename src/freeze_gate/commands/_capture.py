"""What the capture commands share: the arguments that name a record, the input that they read, the lines they print."""

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from freeze_gate.capture.bundle.store import Pin
from freeze_gate.commands import CommandContext
from freeze_gate.errors import UsageError
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Record

_WORDS = {True: "true", False: "false", None: "null"}


def add_record_arguments(parser: ArgumentParser) -> None:
    """Declare `--id` and `--bundle`."""
    parser.add_argument("--id", required=True, metavar="ID", help="the fixture id")
    parser.add_argument("--bundle", metavar="DIR", help="the bundle's folder (FREEZE_GATE_BUNDLE, else freeze-gate)")


@contextmanager
def open_input(name: str, context: CommandContext) -> Iterator[BinaryIO]:
    """Open a file for reading; `-` is standard input. Raises `UsageError` where it cannot be read."""
    try:
        if name == "-":
            yield context.open_stdin()
        else:
            with Path(name).open("rb") as stream:
                yield stream
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}") from None


def format_pin(pin: Pin | None) -> str:
    """Return the digest and the path, each on a line, or `missing` twice."""
    sha256, path = pin or ("missing", "missing")
    return f"fixture_sha256={sha256}\nfixture_path={path}\n"


def empty_pin_warning(fixture_id: str, pin: Pin | None) -> str | None:
    """Return the warning for a pin of zero bytes: it is a real pin, and seldom what was meant."""
    if pin is None or pin.sha256 != Sha256.of(b""):
        return None
    return f"warning: the sample of {fixture_id} is empty: zero bytes are pinned. Look whether the sampler meant that"


def format_transport(record: Record) -> str:
    """Return `ID: transport_ok=… fault=… status=… bytes=… of … retries=…`: no text of an answer or a request."""
    transport = record.transport
    facts = {
        "transport_ok": _WORDS[record.transport_ok],
        "fault": transport.fault or "none",
        "status": _number(transport.status_code),
        "bytes": f"{_number(transport.bytes_received)} of {_number(transport.bytes_declared)}",
        "retries": _number(transport.retry_count),
        "pin_complete": _WORDS[transport.pin_complete],
    }
    return f"{record.fixture_id}: " + " ".join(f"{name}={value}" for name, value in facts.items())


def _number(value: int | None) -> str:
    return "unknown" if value is None else str(value)
