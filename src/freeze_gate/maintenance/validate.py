"""Everything that is wrong with a file or a folder of ours, all at once, and what may become a pitfall."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from freeze_gate.evidence.archive import ArchiveError, Tree, open_tree
from freeze_gate.evidence.archive.base import reading
from freeze_gate.evidence.bundle import BundleReader, RecordFile, record_files
from freeze_gate.evidence.checks import EVIDENCE_CHECKS, CheckContext
from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.models import Fault, Side, Source
from freeze_gate.evidence.pairing import one_of
from freeze_gate.evidence.record import (
    MAX_RECORD_BYTES,
    InvalidRecord,
    read_mapping,
    read_record,
    unknown_keys,
)
from freeze_gate.policy.file import read_policy
from freeze_gate.policy.freezes import expiry_notice, is_too_long
from freeze_gate.verdict.document import MAX_BYTES
from freeze_gate.verdict.document_reader import InvalidDocument, recompute

_ZIP: Final = b"PK"
_IN_DETAIL: Final = frozenset({"record-invalid", "record-contradiction"})
_SIDE_CHECKS: Final = [check for check in EVIDENCE_CHECKS if check.side and check.id not in _IN_DETAIL]


class Remark(NamedTuple):
    """One line: `place: address: what`. A note is about something that is allowed."""

    text: str
    note: bool = False


def examine(path: Path, today: date) -> Iterator[Remark]:
    """Look at a policy, a record, a verdict, or a bundle (a folder or a zip). Raises `OSError` where it cannot be read.

    What a file is shows in its content, a policy also in its name. `today` is the UTC date.
    """
    if path.is_dir():
        yield from _bundle(path)
        return
    with path.open("rb") as stream:
        payload = stream.read(MAX_RECORD_BYTES + 1)
        if payload.startswith(_ZIP):
            yield from _bundle(path)
            return
        payload += stream.read(MAX_BYTES)
    yield from _file(path, payload, today)


def _file(path: Path, payload: bytes, today: date) -> Iterator[Remark]:
    is_json = path.suffix not in (".yml", ".yaml") and payload.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    if b'"freeze-gate/verdict/' in payload and is_json:
        return _verdict(str(path), payload)
    if b'"freeze-gate/policy/' in payload or not is_json:
        return _policy(str(path), payload, today)
    return _record(str(path), payload, path.stem)


def _policy(place: str, payload: bytes, today: date) -> Iterator[Remark]:
    reading = read_policy(payload, place, today)
    yield from map(Remark, reading.problems)
    for index, freeze in enumerate(reading.policy.freezes):
        address = f"{place}:{freeze.line}: freezes[{index}]"
        words = expiry_notice(freeze, today)
        if words:
            yield Remark(f"{address}: {words}, owner {freeze.owner}", note=True)
        if today <= freeze.expires and is_too_long(freeze, reading.policy):
            days = (freeze.expires - freeze.added).days
            most = reading.policy.max_freeze_days
            yield Remark(f"{address}.expires: lies {days} days after added; max_freeze_days allows {most}")


def _verdict(place: str, payload: bytes) -> Iterator[Remark]:
    try:
        if recompute(payload) != payload:
            yield Remark(f"{place}: is not what its own evidence leads to; freeze-gate verify says where it differs")
    except InvalidDocument as error:
        yield from (Remark(f"{place}: {problem}") for problem in error.problems)


def _record(place: str, payload: bytes, stem: str) -> Iterator[Remark]:
    try:
        mapping = read_mapping(payload)
        yield from (
            Remark(f"{place}: {key}: is unknown, and nothing reads it", note=True) for key in unknown_keys(mapping)
        )
        problems = contradictions(read_record(payload, stem))
    except InvalidRecord as error:
        problems = list(error.problems)
    yield from (Remark(f"{place}: {problem}") for problem in problems)


def _bundle(path: Path) -> Iterator[Remark]:
    prefix = f"{path}/" if path.is_dir() else f"{path}: "
    if path.is_dir() and _is_hidden(path.as_posix()):
        yield _hidden(str(path))
    try:
        with open_tree(path) as tree:
            yield from _members(path, tree, prefix)
    except ArchiveError as error:
        yield Remark(f"{path}: {error.fault.check}: {error.fault.detail}")


def _members(path: Path, tree: Tree, prefix: str) -> Iterator[Remark]:
    files = list(record_files(tree))
    if not files:
        yield Remark(f"{path}: record-missing: a bundle has its records in a folder records, as <fixture_id>.json")
    sides = list(BundleReader(tree, Source(path.name)).sides())
    for file, (_, side) in zip(files, sides, strict=True):
        yield from _member(tree, file, side, prefix)
    yield from (Remark(f"{path}: {fixture_id}: {fault.check}: {fault.detail}") for fixture_id, fault in _doubled(sides))
    names = sorted(tree)
    for root in sorted({file.root for file in files}):
        folder = f"{root}fixtures/"
        pins = names[bisect_left(names, folder) : bisect_left(names, f"{root}fixtures0")]  # 0 comes next after /
        yield from _pitfalls(pins, root, prefix)


def _doubled(sides: Iterable[tuple[str, Side]]) -> Iterator[tuple[str, Fault]]:
    """Name the ids that several different records claim."""
    found: dict[str, list[Side]] = {}
    for fixture_id, side in sides:
        found.setdefault(fixture_id, []).append(side)
    for fixture_id, candidates in sorted(found.items()):
        fault = one_of(fixture_id, candidates).fault
        if fault and fault.check == "record-duplicate":
            yield fixture_id, fault


def _member(tree: Tree, file: RecordFile, side: Side, prefix: str) -> Iterator[Remark]:
    place = prefix + file.member
    if side.record_sha256:
        with reading("a record"), tree.open(file.member) as stream:
            yield from _record(place, stream.read(MAX_RECORD_BYTES + 1), file.stem)
    for check in _SIDE_CHECKS:
        if check.side and (detail := check.side(side, CheckContext(github_metadata=False))):
            yield Remark(f"{place}: {check.id}: {detail}")


def _pitfalls(pins: Sequence[str], root: str, prefix: str) -> Iterator[Remark]:
    if _is_hidden(root):
        yield _hidden(prefix + root)
    yield from (_hidden(prefix + name) for name in pins if _is_hidden(name.removeprefix(root)))


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") and part != ".." for part in PurePosixPath(path).parts)


def _hidden(place: str) -> Remark:
    words = (
        "has a dot in front of a name on its path; the upload step leaves that out unless include-hidden-files is true"
    )
    return Remark(f"{place}: {words}", note=True)
