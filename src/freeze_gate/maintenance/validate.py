"""Finds every problem of a record, a bundle, a policy or a verdict, and notes what is allowed but may surprise."""

from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from freeze_gate.evidence.archive import Archive, ArchiveError, open_archive
from freeze_gate.evidence.archive.base import archive_errors
from freeze_gate.evidence.bundle import BundleReader, RecordFile, pin_member, record_files
from freeze_gate.evidence.checks import EVIDENCE_CHECKS, CheckContext
from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.lfs import LFS_POINTER_WARNING, MAX_POINTER_BYTES, is_lfs_pointer
from freeze_gate.evidence.models import Side, Source
from freeze_gate.evidence.pairing import resolve_duplicates
from freeze_gate.evidence.record import (
    MAX_RECORD_BYTES,
    InvalidRecord,
    read_mapping,
    read_record,
    unknown_keys,
)
from freeze_gate.policy.file import read_policy
from freeze_gate.policy.freezes import expiry_notice, is_too_long
from freeze_gate.validation.readers import BYTE_ORDER_MARK
from freeze_gate.verdict.document import MAX_BYTES
from freeze_gate.verdict.document_reader import InvalidDocument, recompute

_ZIP: Final = b"PK"
_REPORTED_BY_RECORD: Final = frozenset({"record-invalid", "record-contradiction"})
_SIDE_CHECKS: Final = [check for check in EVIDENCE_CHECKS if check.side and check.id not in _REPORTED_BY_RECORD]


class Finding(NamedTuple):
    """One line, `file: path: message`. A note is about something that is allowed."""

    text: str
    is_note: bool = False


def validate(path: Path, today: date) -> Iterator[Finding]:
    """Validate a policy, a record, a verdict, or a bundle (a folder or a zip). `today` is the UTC date.

    The content tells what a file is; a policy is also known by its name. Raises `OSError` if it cannot be read.
    """
    if path.is_dir():
        yield from _validate_bundle(path)
        return
    with path.open("rb") as stream:
        payload = stream.read(MAX_RECORD_BYTES + 1)
        if payload.startswith(_ZIP):
            yield from _validate_bundle(path)
            return
        payload += stream.read(MAX_BYTES)
    is_json = path.suffix not in (".yml", ".yaml") and payload.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"{")
    if b'"freeze-gate/verdict/' in payload and is_json:
        yield from _validate_verdict(str(path), payload)
    elif b'"freeze-gate/policy/' in payload or not is_json:
        yield from _validate_policy(str(path), payload, today)
    else:
        yield from _validate_record(str(path), payload, path.stem)


def _validate_policy(name: str, payload: bytes, today: date) -> Iterator[Finding]:
    reading = read_policy(payload, name, today)
    yield from map(Finding, reading.problems)
    for index, freeze in enumerate(reading.policy.freezes):
        entry = f"{name}:{freeze.line}: freezes[{index}]"
        notice = expiry_notice(freeze, today)
        if notice:
            yield Finding(f"{entry}: {notice}, owner {freeze.owner}", is_note=True)
        if today <= freeze.expires and is_too_long(freeze, reading.policy):
            days = (freeze.expires - freeze.added).days
            limit = reading.policy.max_freeze_days
            yield Finding(f"{entry}.expires: is {days} days after added; max_freeze_days allows {limit}")


def _validate_verdict(name: str, payload: bytes) -> Iterator[Finding]:
    try:
        if recompute(payload) != payload:
            yield Finding(f"{name}: does not follow from its own evidence; freeze-gate verify shows where it differs")
    except InvalidDocument as error:
        yield from (Finding(f"{name}: {problem}") for problem in error.problems)


def _validate_record(name: str, payload: bytes, stem: str) -> Iterator[Finding]:
    try:
        for key in unknown_keys(read_mapping(payload)):
            yield Finding(f"{name}: {key}: is unknown and ignored", is_note=True)
        problems = contradictions(read_record(payload, stem))
    except InvalidRecord as error:
        problems = list(error.problems)
    yield from (Finding(f"{name}: {problem}") for problem in problems)


def _validate_bundle(path: Path) -> Iterator[Finding]:
    prefix = f"{path}: "
    if path.is_dir():
        prefix = f"{path}/"
        if _is_hidden(path.as_posix()):
            yield _hidden_path(str(path))
    try:
        with open_archive(path) as tree:
            yield from _validate_members(path, tree, prefix)
    except ArchiveError as error:
        yield Finding(f"{path}: {error.fault.check}: {error.fault.detail}")


def _validate_members(path: Path, tree: Archive, prefix: str) -> Iterator[Finding]:
    files = list(record_files(tree))
    if not files:
        yield Finding(f"{path}: record-missing: no folder records with <fixture_id>.json files was found")
    for name in sorted(tree.ignored_records):
        yield Finding(f"{prefix}{name}: is a file of macOS (AppleDouble) and no record; left out", is_note=True)
    sides = list(BundleReader(tree, Source(path.name)).sides())
    for file, (_, side) in zip(files, sides, strict=True):
        yield from _validate_member(tree, file, side, prefix)
    yield from _find_duplicates(path, sides)
    for root in sorted({file.root for file in files}):
        if _is_hidden(root):
            yield _hidden_path(prefix + root)
        pins = (name for name in sorted(tree) if name.startswith(f"{root}fixtures/"))
        yield from (_hidden_path(prefix + name) for name in pins if _is_hidden(name.removeprefix(root)))


def _validate_member(tree: Archive, file: RecordFile, side: Side, prefix: str) -> Iterator[Finding]:
    name = prefix + file.member
    if side.record_sha256:
        with archive_errors("a record"), tree.open(file.member) as stream:
            yield from _validate_record(name, stream.read(MAX_RECORD_BYTES + 1), file.stem)
    pin = side.record and pin_member(file.root, side.record)
    if pin and pin in tree:
        with archive_errors("a pinned file"), tree.open(pin) as stream:
            if is_lfs_pointer(stream.read(MAX_POINTER_BYTES)):
                yield Finding(f"{name}: {LFS_POINTER_WARNING}", is_note=True)
    for check in _SIDE_CHECKS:
        if check.side and (detail := check.side(side, CheckContext(github_metadata=False))):
            yield Finding(f"{name}: {check.id}: {detail}")


def _find_duplicates(path: Path, sides: Iterable[tuple[str, Side]]) -> Iterator[Finding]:
    """Report each fixture id that has several different records."""
    sides_of: dict[str, list[Side]] = {}
    for fixture_id, side in sides:
        sides_of.setdefault(fixture_id, []).append(side)
    for fixture_id, candidates in sorted(sides_of.items()):
        fault = resolve_duplicates(fixture_id, candidates).fault
        if fault and fault.check == "record-duplicate":
            yield Finding(f"{path}: {fixture_id}: {fault.check}: {fault.detail}")


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") and part != ".." for part in PurePosixPath(path).parts)


def _hidden_path(path: str) -> Finding:
    message = "has a name that starts with a dot; the upload step skips it unless include-hidden-files is true"
    return Finding(f"{path}: {message}", is_note=True)
