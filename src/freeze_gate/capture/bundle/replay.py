"""The rerun's start from the first run's pin: the same bytes, checked and copied; only the oracle runs again."""

from functools import partial
from pathlib import Path
from typing import Final

from freeze_gate.capture.bundle.store import Pin, Store, conflicting_sample
from freeze_gate.capture.transport.merge import has_calls
from freeze_gate.errors import UsageError
from freeze_gate.evidence.archive import Archive, ArchiveError, open_archive
from freeze_gate.evidence.archive.base import archive_errors
from freeze_gate.evidence.bundle import RecordFile, pin_member, record_files
from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.digest import CHUNK
from freeze_gate.evidence.record import MAX_RECORD_BYTES, InvalidRecord, Record, Run, read_record

_CURE: Final = "download the first run's artifact, and name its folder or zip"


def replay(bundle: Path, store: Store, fixture_id: str, run: Run) -> Pin:
    """Copy the pin of an id from a folder or a zip, and write the record of a run that made no call.

    `run` is this run's; its `replay_of` is set to the first's `capture_id`. The record says nothing of a transport or
    an oracle. Raises `UsageError` where the bundle does not hold exactly one usable record of the id with its very
    bytes, where the id has a capture of its own here, and what `Store` raises.
    """
    try:
        with open_archive(bundle) as tree:
            return _copy_pin(tree, store, fixture_id, run)
    except ArchiveError as error:
        raise UsageError(f"the bundle cannot be read ({error}): {_CURE}") from None


def _copy_pin(tree: Archive, store: Store, fixture_id: str, run: Run) -> Pin:
    file = _find_record(tree, fixture_id)
    first = _read_record(tree, file)
    member = pin_member(file.root, first)
    if member is None or first.fixture_sha256 is None or first.run.capture_id is None:
        raise UsageError(f"{fixture_id} has no pin, or no capture_id, in the bundle: there is nothing to start from")
    if member not in tree:
        raise UsageError(f"the pinned file of {fixture_id} is not in the bundle")
    with store.locked(), archive_errors("a pinned file"), tree.open(member) as stream:
        _require_no_capture(store.read_unless_checked(fixture_id), first)
        suffix = member.rpartition("/")[2].removeprefix(first.fixture_sha256)
        chunks = iter(partial(stream.read, CHUNK), b"")
        pin = store.pin(chunks, suffix if suffix.startswith(".") else "", expected=first.fixture_sha256)
        this_run = run._replace(replay_of=first.run.capture_id)
        store.write(Record(fixture_id, pin.sha256, pin.path, None, None, run=this_run))
    return pin


def _find_record(tree: Archive, fixture_id: str) -> RecordFile:
    files = [file for file in record_files(tree) if file.stem == fixture_id]
    if len(files) != 1:
        count = f"{len(files)} records" if files else "no record"
        raise UsageError(f"the bundle holds {count} of {fixture_id}: {_CURE}")
    return files[0]


def _read_record(tree: Archive, file: RecordFile) -> Record:
    with archive_errors("a record"), tree.open(file.member) as stream:
        payload = stream.read(MAX_RECORD_BYTES + 1)
    try:
        first = read_record(payload, file.stem)
    except InvalidRecord as error:
        raise UsageError(f"the bundle's record of {file.stem} is invalid: {error}") from None
    if problems := contradictions(first):
        raise UsageError(f"the bundle's record of {file.stem} contradicts itself: {problems[0]}")
    return first


def _require_no_capture(before: Record | None, first: Record) -> None:
    if before is None:
        return
    if before.fixture_sha256 not in (None, first.fixture_sha256):
        raise UsageError(conflicting_sample(before.fixture_id))
    if has_calls(before):
        raise UsageError(f"{before.fixture_id} has recorded calls here, and a replay makes none")
