"""`freeze-gate verify VERDICT`: compute a stored verdict again from the file alone, and compare byte for byte."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from freeze_gate.commands import CommandContext
from freeze_gate.errors import UsageError
from freeze_gate.evidence.archive import ArchiveError, open_tree
from freeze_gate.evidence.bundle import BundleReader
from freeze_gate.evidence.models import Pair, Side, Source
from freeze_gate.report.escape import escape_log
from freeze_gate.verdict.attestation import statement
from freeze_gate.verdict.document_reader import InvalidDocument, decode, recompute

_SHOWN: Final = 20
_ABSENT: Final = object()


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("verdict", metavar="VERDICT", type=Path, help="a verdict document (freeze-gate/verdict/1)")
    parser.add_argument(
        "--bundle",
        metavar="BUNDLE",
        action="append",
        default=[],
        type=Path,
        help="given twice, first run then rerun: hash the pins in these folders or zips again as well",
    )
    parser.add_argument(
        "--statement", metavar="OUT", type=Path, help="write an in-toto statement about a consistent verdict"
    )


def run(args: Namespace, context: CommandContext) -> int:
    """Print "consistent", or what differs. Exit 0 or 1; 2 where the arguments are wrong."""
    if len(args.bundle) not in (0, 2):
        raise UsageError(
            f"--bundle is given {len(args.bundle)} times; allowed: twice (first run, rerun), or not at all"
        )
    try:
        payload = args.verdict.read_bytes()
    except OSError as error:
        raise UsageError(f"{args.verdict.name!r} cannot be read: {error.strerror}") from None
    findings = list(_findings(payload, args.bundle))
    for finding in findings[:_SHOWN]:
        print(f"{escape_log(args.verdict.name)}: {escape_log(finding)}", file=context.stdout)
    if findings:
        return 1
    if args.statement:
        try:
            args.statement.write_bytes(statement(json.loads(payload), decode(payload).case))
        except OSError as error:
            raise UsageError(f"{args.statement.name!r} cannot be written: {error.strerror}") from None
    print(
        f"{escape_log(args.verdict.name)}: consistent: the result follows from the evidence that the file names",
        file=context.stdout,
    )
    return 0


def _findings(payload: bytes, bundles: list[Path]) -> Iterator[str]:
    try:
        expected = recompute(payload)
    except InvalidDocument as error:
        yield from map(str, error.problems)
        return
    if payload != expected:
        differences = list(_differences(json.loads(payload), json.loads(expected), ""))
        yield from differences or ["is not written in the canonical form"]
    for place, bundle in enumerate(bundles):
        yield from _pins(bundle, [_side(pair, place) for pair in decode(payload).case.pairs])


def _differences(stored: Any, expected: Any, address: str) -> Iterator[str]:
    """Name the places where a document differs from what it should be. The values are left to the reader."""
    if isinstance(stored, dict) and isinstance(expected, dict):
        for key in sorted({*stored, *expected}):
            where = f"{address}.{key}" if address else key
            yield from _differences(stored.get(key, _ABSENT), expected.get(key, _ABSENT), where)
    elif isinstance(stored, list) and isinstance(expected, list):
        for index, (ours, theirs) in enumerate(zip_longest(stored, expected, fillvalue=_ABSENT)):
            yield from _differences(ours, theirs, f"{address}[{index}]")
    elif type(stored) is not type(expected) or stored != expected:
        yield f"{address}: is not what follows from the rest of the file"


def _side(pair: Pair, place: int) -> Side:
    return (pair.first, pair.rerun)[place]


def _pins(bundle: Path, sides: list[Side]) -> Iterator[str]:
    """Compare the records and pins of a bundle with those that the verdict was computed from."""
    try:
        with open_tree(bundle) as tree:
            found = {(side.record_sha256, side.pin) for _, side in BundleReader(tree, Source(bundle.name)).sides()}
    except (ArchiveError, OSError) as error:
        yield f"{bundle.name}: {error}"
        return
    for side in sides:
        if side.record_sha256 and (side.record_sha256, side.pin) not in found:
            name = side.record.fixture_id if side.record else "a record that could not be read"
            yield f"{bundle.name}: {name}: the bundle holds other bytes than the verdict was computed from"
