"""Reads the records of an archive, and hashes the bytes that each record points at."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from freeze_gate.evidence.abbreviation import abbreviate, printable_name
from freeze_gate.evidence.archive import open_archive
from freeze_gate.evidence.archive.base import Archive, ArchiveError, RecordBudget, archive_errors
from freeze_gate.evidence.digest import ContentDigest, Sha256, hash_stream
from freeze_gate.evidence.models import CheckFailure, Side, Source
from freeze_gate.evidence.record import MAX_RECORD_BYTES, InvalidRecord, Record, read_record

_MAX_PROBLEMS: Final = 3
_CACHE_ABOVE_BYTES: Final = 16 << 10
"""A smaller pin is hashed again rather than remembered: each of 50,000 records may have one."""


class SourceRecords(NamedTuple):
    """The records of one source: its sides by fixture id. Several sides of one id are in the order of the archive."""

    source: Source
    sides: Mapping[str, Sequence[Side]] = {}

    @property
    def attempt(self) -> int | None:
        """The run attempt that all of the records name; None if they name several or none."""
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
    """Read all records of a zip or a folder; if it cannot be read, the source says why."""
    try:
        with open_archive(path) as archive:
            budget.charge(archive)
            ignored = sorted(archive.ignored_records)
            source = source._replace(ignored_records=tuple(abbreviate(ignored, show=printable_name)))
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
    """A record in an archive: its member's name, the root of its bundle, its file name without `.json`."""

    member: str
    root: str
    stem: str


def record_files(archive: Archive) -> Iterator[RecordFile]:
    """Name the records of all bundles in an archive. A bundle's root is the parent of a `records/` folder, or ""."""
    for member in sorted(archive.records):
        folder, _, name = member.rpartition("/")
        root = folder.removesuffix("records")
        yield RecordFile(member, root, name.removesuffix(".json"))


class BundleReader:
    """Reads the records of one archive. A pin that several records share is hashed once, unless it is small."""

    def __init__(self, archive: Archive, source: Source) -> None:
        self._archive = archive
        self._source = source
        self._pins: dict[str, ContentDigest | CheckFailure] = {}

    def sides(self) -> Iterator[tuple[str, Side]]:
        """Read every record with its pin, each with its fixture id. A problem of a record is part of its side."""
        for file in record_files(self._archive):
            yield printable_name(file.stem), self._read_side(file)

    def _read_side(self, file: RecordFile) -> Side:
        record = record_sha256 = pin = failure = None
        try:
            with archive_errors("a record"), self._archive.open(file.member) as stream:
                payload = stream.read(MAX_RECORD_BYTES + 1)
            record_sha256 = Sha256.of(payload)
            record = read_record(payload, file.stem)
            member = pin_member(file.root, record)
            pin = None if member is None else self._hash_pin(member)
        except ArchiveError as error:
            failure = error.fault
        except InvalidRecord as error:
            failure = CheckFailure("record-invalid", "; ".join(abbreviate(error.problems, _MAX_PROBLEMS)))
        return Side(self._source, record, record_sha256, pin, failure)

    def _hash_pin(self, member: str) -> ContentDigest | None:
        """Read a pinned file to its end; None if it is missing. Raises `ArchiveError` as often as it is asked."""
        cached = self._pins.get(member)
        if isinstance(cached, CheckFailure):
            raise ArchiveError(cached.check, cached.detail)
        if cached:
            return cached
        try:
            with archive_errors("a pinned file"), self._archive.open(member) as stream:
                pin = hash_stream(stream)
        except KeyError:
            return None
        except ArchiveError as error:
            self._pins[member] = error.fault
            raise
        if pin.size > _CACHE_ABOVE_BYTES:
            self._pins[member] = pin
        return pin


def pin_member(root: str, record: Record) -> str | None:
    """Return the member name of a record's pin in its archive; None if nothing is pinned."""
    return None if record.fixture_path is None else root + record.fixture_path


def open_pin(archive: Archive, record: Record) -> BinaryIO:
    """Open the pin of a record of this archive. Raises `ArchiveError` if it is missing."""
    for file in record_files(archive):
        member = pin_member(file.root, record)
        if file.stem == record.fixture_id and member is not None:
            with suppress(KeyError):
                return archive.open(member)
    raise ArchiveError("fixture-missing", "the pinned file is not in the bundle")
