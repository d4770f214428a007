"""From an archive to what it shows: every record in it, and the bytes that each record points at, hashed again."""

from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, Final, NamedTuple

from freeze_gate.evidence.abbreviation import abbreviate
from freeze_gate.evidence.digest import Observed, Sha256, observe
from freeze_gate.evidence.record import MAX_RECORD_BYTES, InvalidRecord, Record, read_record
from freeze_gate.evidence.side import Fault, Side, Source
from freeze_gate.evidence.tree import ArchiveError, Tree, reading
from freeze_gate.validation.readers import CONTROL_CHARACTERS

_MAX_ID: Final = 128
_MAX_PROBLEMS: Final = 3


class RecordFile(NamedTuple):
    """Where a record stands in an archive: its member's name, the bundle's root, its file name without `.json`."""

    member: str
    root: str
    stem: str


def record_files(tree: Tree) -> Iterator[RecordFile]:
    """Name the records of all bundles in an archive. A bundle's root is the parent of a `records/` folder, or ""."""
    for member in sorted(tree.records):
        folder, _, name = member.rpartition("/")
        root = folder.removesuffix("records")
        yield RecordFile(member, root, name.removesuffix(".json"))


def printable_id(stem: str) -> str:
    """Make a file name fit to stand for a fixture id. What it changes, it changes to what is no fixture id."""
    plain = CONTROL_CHARACTERS.sub("?", stem) or "?"
    return plain if len(plain) <= _MAX_ID else f"{plain[: _MAX_ID - 1]}…"


_SMALL: Final = 16 << 10
"""Bytes of a pin that is sooner hashed again than remembered: every record of 50,000 may name the same one."""


class BundleReader:
    """Reads the records of one archive. A pin that several records share is read once, unless it is small."""

    def __init__(self, tree: Tree, source: Source) -> None:
        self._tree = tree
        self._source = source
        self._pins: dict[str, Observed | Fault] = {}

    def sides(self) -> Iterator[tuple[str, Side]]:
        """Read every record with its pin; what is wrong with one is that one's fault."""
        for file in record_files(self._tree):
            yield printable_id(file.stem), self._side(file)

    def _side(self, file: RecordFile) -> Side:
        record = record_sha256 = pin = fault = None
        try:
            payload = self._payload(file.member)
            record_sha256 = Sha256.of(payload)
            record = read_record(payload, file.stem)
            pin = self._pin(file.root, record)
        except ArchiveError as error:
            fault = error.fault
        except InvalidRecord as error:
            fault = Fault("record-invalid", said(error))
        return Side(self._source, record, record_sha256, pin, fault)

    def _payload(self, member: str) -> bytes:
        with reading("a record"), self._tree.open(member) as stream:
            return stream.read(MAX_RECORD_BYTES + 1)

    def _pin(self, root: str, record: Record) -> Observed | None:
        member = pin_member(root, record)
        if member is None:
            return None
        pin = self._pins.get(member) or self._look_at(member)
        if isinstance(pin, Fault):
            raise ArchiveError(*pin)
        return pin

    def _look_at(self, member: str) -> Observed | Fault | None:
        """Read a pinned file to its end, or to where that fails. Remembers what took long."""
        try:
            with reading("a pinned file"), self._tree.open(member) as stream:
                pin = observe(stream)
        except KeyError:
            return None
        except ArchiveError as error:
            self._pins[member] = error.fault
            return error.fault
        if pin.size > _SMALL:
            self._pins[member] = pin
        return pin


def pin_member(root: str, record: Record) -> str | None:
    """Return the name that a record's pin has in its archive; None where nothing is pinned."""
    return None if record.fixture_path is None else root + record.fixture_path


def open_pin(tree: Tree, record: Record) -> BinaryIO:
    """Open the bytes that a record of this archive points at. Raises `ArchiveError` where they are not there."""
    for file in record_files(tree):
        member = pin_member(file.root, record)
        if file.stem == record.fixture_id and member is not None:
            with suppress(KeyError):
                return tree.open(member)
    raise ArchiveError("fixture-missing", "the pinned file is not in the bundle")


def said(error: InvalidRecord) -> str:
    """Say the first few problems of a record in one line."""
    return "; ".join(abbreviate(error.problems, _MAX_PROBLEMS))
