"""`freeze-gate status`: say what one record says, so that no script has to read it."""

import json
from argparse import ArgumentParser, Namespace
from typing import Final

from freeze_gate.capture.bundle.status import read_status
from freeze_gate.capture.bundle.store import Store, bundle_folder
from freeze_gate.commands import CommandContext
from freeze_gate.commands._capture import add_record_arguments, format_transport
from freeze_gate.report.escape import escape_log

EXAMPLE: Final = "freeze-gate status --id sorted-patch"
EXIT_CODES: Final = {
    "0": "a complete sample is pinned",
    "1": "none, or a truncated one, or no usable record",
    "2": "a wrong argument",
}


def configure(parser: ArgumentParser) -> None:
    parser.description = (
        "show what one record says: record=usable, missing or unusable; fixture_sha256;\n"
        "pinned_whole and failure_explained, each true or false. A transport fault, a failed\n"
        "oracle and a missing oracle result explain a failure"
    )
    add_record_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")


def run(args: Namespace, context: CommandContext) -> int:
    """Print the status, and on stderr what the record says about the transport. 0 only for a complete sample."""
    status = read_status(Store(bundle_folder(args.bundle, context.environ)), args.id)
    facts = {
        "record": status.state,
        "fixture_sha256": status.record and status.record.fixture_sha256,
        "pinned_whole": status.is_pinned_whole,
        "failure_explained": status.is_failure_explained,
    }
    if args.json:
        document = {**facts, "fixture_id": args.id, "problems": status.problems}
        print(json.dumps(document, sort_keys=True), file=context.stdout)
    else:
        for name, fact in facts.items():
            text = "missing" if fact is None else str(fact).lower()
            print(f"{name}={text}", file=context.stdout)
    if status.record is not None:
        print(f"freeze-gate status: {format_transport(status.record)}", file=context.stderr)
    for problem in status.problems:
        print(f"freeze-gate status: {args.id}: {escape_log(problem)}", file=context.stderr)
    return 0 if status.is_pinned_whole else 1
