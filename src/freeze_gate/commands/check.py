"""`freeze-gate check`: say all that is wrong with records, bundles, policies and verdicts."""

import argparse
from pathlib import Path

from freeze_gate.commands import CommandContext
from freeze_gate.errors import UsageError
from freeze_gate.maintenance.validate import examine
from freeze_gate.report.escape import escape_log


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    words = "a policy, a record, a verdict, or a bundle (a folder or a zip)"
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH", help=words)


def run(args: argparse.Namespace, context: CommandContext) -> int:
    """Print a line for each problem and each note; 1 if there is a problem. Raises `UsageError` for no path."""
    missing = [escape_log(str(path)) for path in args.paths if not path.exists()]
    if missing:
        raise UsageError(f"there is no {', '.join(missing)}")
    problems = notes = 0
    for path in args.paths:
        try:
            for remark in examine(path, context.now().date()):
                print(escape_log(f"note: {remark.text}" if remark.note else remark.text), file=context.stdout)
                problems += not remark.note
                notes += remark.note
        except OSError as error:
            raise UsageError(f"{escape_log(str(path))} cannot be read: {error.strerror}") from error
    print(f"{problems} problems, {notes} notes", file=context.stderr)
    return 1 if problems else 0
