"""What an archive holds: every record in it, and the bytes that each record points at, hashed again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from freeze_gate.evidence.abbreviation import abbreviate
from freeze_gate.evidence.archive import open_archive
from freeze_gate.evidence.archive.base import Archive, ArchiveError, RecordBudget, archive_errors
from freeze_gate.evidence.digest import ContentDigest, Sha256, hash_stream
from freeze_gate.evidence.models import CheckFailure, Side, Source
from freeze_gate.evidence.record import MAX_RECORD_BYTES, InvalidRecord, Record, read_record
from freeze_gate.validation.readers import CONTROL_CHARACTERS

_MAX_ID: Final = 128
_MAX_PROBLEMS: Final = 3


class SourceRecords(NamedTuple):
    """What one source holds: the sides by fixture id, those of one id in the order of their records."""

    source: Source
    sides: Mapping[str, Sequence[Side]] = {}

    @property
    def attempt(self) -> int | None:
        """The run attempt that all of the records name; None where they name several or none."""
        records = [side.record for sides in self.sides.values() for side in sides if side.record]
        attempts = {record.run.run_attempt for record in records}
        return attempts.pop() if len(attempts) == 1 else None

    def with_source(self, source: Source) -> "SourceRecords":
        """Return the same records with another description of the source."""
        sides = {
            fixture_id: [side._replace(source=source) for side in sides] for fixture_id, sides in self.sides.items()
        }
        return SourceRecords(source, sides)


def read_source(path: Path, source: Source, budget: RecordBudget) -> SourceRecords:
    """Read all records of a zip or a folder; what keeps it from being read becomes the source's failure."""
    try:
        with open_archive(path) as archive:
            budget.charge(archive)
            return collect_records(source, BundleReader(archive, source).sides())
    except ArchiveError as error:
        return SourceRecords(source._replace(fault=error.fault))


def collect_records(source: Source, sides: Iterable[tuple[str, Side]]) -> SourceRecords:
    """Collect the sides of a source. A source without records is reported as `record-missing`, so that none is lost."""
    collected: dict[str, list[Side]] = {}
    for fixture_id, side in sides:
        collected.setdefault(fixture_id, []).append(side)
    if not collected:
        return SourceRecords(source._replace(fault=CheckFailure("record-missing", "it holds no record")))
    return SourceRecords(source, collected)


class RecordFile(NamedTuple):
    """Where a record stands in an archive: its member's name, the bundle's root, its file name without `.json`."""

    member: str
    root: str
    stem: str


def record_files(tree: Archive) -> Iterator[RecordFile]:
    """Name the records of all bundles in an archive. A bundle's root is the parent of a `records/` folder, or ""."""
    for member in sorted(tree.records):
        folder, _, name = member.rpartition("/")
        root = folder.removesuffix("records")
        yield RecordFile(member, root, name.removesuffix(".json"))


def printable_id(stem: str) -> str:
    """Make a file name fit to stand for a fixture id. What it changes, it changes to what is no fixture id."""
    plain = CONTROL_CHARACTERS.sub("?", stem) or "?"
    return plain if len(plain) <= _MAX_ID else f"{plain[: _MAX_ID - 1]}…"


_CACHE_ABOVE_BYTES: Final = 16 << 10
"""Bytes of a pin that is sooner hashed again than remembered: every record of 50,000 may name the same one."""


class BundleReader:
    """Reads the records of one archive. A pin that several records share is read once, unless it is small."""

    def __init__(self, tree: Archive, source: Source) -> None:
        self._tree = tree
        self._source = source
        self._pins: dict[str, ContentDigest | CheckFailure] = {}

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
            fault = CheckFailure("record-invalid", summarize_problems(error))
        return Side(self._source, record, record_sha256, pin, fault)

    def _payload(self, member: str) -> bytes:
        with archive_errors("a record"), self._tree.open(member) as stream:
            return stream.read(MAX_RECORD_BYTES + 1)

    def _pin(self, root: str, record: Record) -> ContentDigest | None:
        member = pin_member(root, record)
        if member is None:
            return None
        pin = self._pins.get(member) or self._hash_pin(member)
        if isinstance(pin, CheckFailure):
            raise ArchiveError(*pin)
        return pin

    def _hash_pin(self, member: str) -> ContentDigest | CheckFailure | None:
        """Read a pinned file to its end, or to where that fails. Remembers what took long."""
        try:
            with archive_errors("a pinned file"), self._tree.open(member) as stream:
                pin = hash_stream(stream)
        except KeyError:
            return None
        except ArchiveError as error:
            self._pins[member] = error.fault
            return error.fault
        if pin.size > _CACHE_ABOVE_BYTES:
            self._pins[member] = pin
        return pin


def pin_member(root: str, record: Record) -> str | None:
    """Return the name that a record's pin has in its archive; None where nothing is pinned."""
    return None if record.fixture_path is None else root + record.fixture_path


def open_pin(tree: Archive, record: Record) -> BinaryIO:
    """Open the bytes that a record of this archive points at. Raises `ArchiveError` where they are not there."""
    for file in record_files(tree):
        member = pin_member(file.root, record)
        if file.stem == record.fixture_id and member is not None:
            with suppress(KeyError):
                return tree.open(member)
    raise ArchiveError("fixture-missing", "the pinned file is not in the bundle")


def summarize_problems(error: InvalidRecord) -> str:
    """Say the first few problems of a record in one line."""
    return "; ".join(abbreviate(error.problems, _MAX_PROBLEMS))
