"""`freeze-gate verify VERDICT`: compute a stored verdict again from the file alone, and compare the bytes."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from freeze_gate.commands import CommandContext
from freeze_gate.commands._file import read_file
from freeze_gate.errors import UsageError
from freeze_gate.evidence.abbreviation import abbreviate
from freeze_gate.evidence.archive import ArchiveError, open_archive
from freeze_gate.evidence.bundle import BundleReader
from freeze_gate.evidence.models import Pair, Source
from freeze_gate.report.escape import escape_log
from freeze_gate.verdict.attestation import statement
from freeze_gate.verdict.document import MAX_BYTES
from freeze_gate.verdict.document_reader import InvalidDocument, decode, recompute

_MAX_FINDINGS: Final = 20
_ABSENT: Final = object()

EXAMPLE: Final = "freeze-gate verify freeze-gate-verdict.json --bundle first.zip --bundle rerun.zip"
EXIT_CODES: Final = {
    "0": "consistent",
    "1": "not consistent",
    "2": "a wrong argument, or no verdict document",
    "3": "the statement cannot be written",
}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("verdict", metavar="VERDICT", type=Path, help="a verdict document (freeze-gate/verdict/1)")
    parser.add_argument(
        "--bundle",
        metavar="BUNDLE",
        action="append",
        default=[],
        type=Path,
        help="a bundle (folder or zip) whose pins are hashed again; give it twice: first run, then rerun",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object with every finding")
    parser.add_argument(
        "--statement", metavar="OUT", type=Path, help="write an in-toto statement about a consistent verdict"
    )


def run(args: Namespace, context: CommandContext) -> int:
    """Print "consistent" and return 0, or print what differs and return 1. Raises `UsageError`."""
    if len(args.bundle) not in (0, 2):
        raise UsageError(
            f"--bundle is given {len(args.bundle)} times; allowed: twice (first run, rerun), or not at all"
        )
    payload = read_file(args.verdict, MAX_BYTES)
    name = escape_log(args.verdict.name)
    findings = list(_find_differences(payload, args.bundle))
    if args.statement and not findings:
        try:
            args.statement.write_bytes(statement(json.loads(payload), decode(payload).case))
        except OSError as error:
            raise UsageError(f"{args.statement.name!r} cannot be written: {error.strerror}") from None
    if args.json:
        print(json.dumps({"consistent": not findings, "findings": findings}, indent=1), file=context.stdout)
    elif findings:
        lines = abbreviate(findings, _MAX_FINDINGS, escape_log)
        print(*(f"{name}: {line}" for line in lines), sep="\n", file=context.stdout)
    else:
        print(f"{name}: consistent: the result follows from the evidence in the file", file=context.stdout)
    return 1 if findings else 0


def _find_differences(payload: bytes, bundles: list[Path]) -> Iterator[str]:
    try:
        expected = recompute(payload)
    except InvalidDocument as error:
        yield from map(str, error.problems)
        return
    if payload != expected:
        differences = list(_compare(json.loads(payload), json.loads(expected), ""))
        yield from differences or ["is not in the canonical form"]
    if bundles:
        yield from _compare_bundles(bundles, decode(payload).case.pairs)


def _compare(stored: Any, expected: Any, path: str) -> Iterator[str]:
    """Name each place where two documents differ. The values are not shown."""
    if isinstance(stored, dict) and isinstance(expected, dict):
        for key in sorted({*stored, *expected}):
            child_path = f"{path}.{key}" if path else key
            yield from _compare(stored.get(key, _ABSENT), expected.get(key, _ABSENT), child_path)
    elif isinstance(stored, list) and isinstance(expected, list):
        for index, (stored_item, expected_item) in enumerate(zip_longest(stored, expected, fillvalue=_ABSENT)):
            yield from _compare(stored_item, expected_item, f"{path}[{index}]")
    elif type(stored) is not type(expected) or stored != expected:
        yield f"{path}: does not follow from the rest of the file"


def _compare_bundles(bundles: Sequence[Path], pairs: Sequence[Pair]) -> Iterator[str]:
    """Compare the records and pins of the two bundles with those that the verdict was computed from."""
    observed: list[dict[str | None, set[Any]]] = []  # the pins by the digest of their record
    for bundle in bundles:
        observed.append({})
        try:
            with open_archive(bundle) as archive:
                for _, side in BundleReader(archive, Source(bundle.name)).sides():
                    observed[-1].setdefault(side.record_sha256, set()).add(side.pin)
        except (ArchiveError, OSError) as error:
            yield f"{bundle.name}: {error}"
            return
    for pair in pairs:
        for index, side in enumerate((pair.first, pair.rerun)):
            if not side.record_sha256 or side.pin in observed[index].get(side.record_sha256, ()):
                continue
            if side.record_sha256 in observed[index]:
                problem = f"the pin of {pair.fixture_id} holds other bytes than the verdict was computed from"
            else:
                problem = f"the record of {pair.fixture_id} is another one than the verdict was computed from"
                if side.record_sha256 in observed[1 - index]:
                    problem += ", which is in the other bundle: give the first run's bundle first, then the rerun's"
            yield f"{bundles[index].name}: {problem}"
