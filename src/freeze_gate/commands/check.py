"""`freeze-gate check`: validate records, bundles, policies and verdicts."""

import argparse
import json
from pathlib import Path
from typing import Final

from freeze_gate.commands import CommandContext
from freeze_gate.errors import UsageError
from freeze_gate.evidence.abbreviation import count
from freeze_gate.maintenance.validate import validate
from freeze_gate.report.escape import escape_log

EXAMPLE: Final = "freeze-gate check .github/freeze-gate.yml"
EXIT_CODES: Final = {
    "0": "no problem",
    "1": "problems, each on a line",
    "2": "a wrong argument",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        type=Path,
        nargs="+",
        metavar="PATH",
        help="a policy, a record, a verdict, or a bundle (a folder or a zip)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object with problems and notes")


def run(args: argparse.Namespace, context: CommandContext) -> int:
    """Print one line for each problem and each note. Returns 1 if there is a problem. Raises `UsageError`."""
    missing = [escape_log(str(path)) for path in args.paths if not path.exists()]
    if missing:
        raise UsageError(f"not found: {', '.join(missing)}")
    problems: list[str] = []
    notes: list[str] = []
    for path in args.paths:
        try:
            for finding in validate(path, context.now().date()):
                (notes if finding.is_note else problems).append(finding.text)
                if not args.json:
                    print(escape_log(f"note: {finding.text}" if finding.is_note else finding.text), file=context.stdout)
        except OSError as error:
            raise UsageError(f"{escape_log(str(path))} cannot be read: {error.strerror}") from error
    if args.json:
        print(json.dumps({"notes": notes, "problems": problems}, indent=1), file=context.stdout)
    print(f"{count(len(problems), 'problem')}, {count(len(notes), 'note')}", file=context.stderr)
    return 1 if problems else 0
