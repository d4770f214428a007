"""`freeze-gate status`: say what one record says, so that no script has to read it."""

import json
from argparse import ArgumentParser, Namespace

from freeze_gate.capture.bundle.status import RecordStatus, read_status
from freeze_gate.capture.bundle.store import Store, bundle_folder
from freeze_gate.commands import CommandContext
from freeze_gate.commands._output import format_transport
from freeze_gate.report.escape import escape_log


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "Example: freeze-gate status --id sorted-patch. Exit code: 0 if a complete sample is pinned, 1 if not (none,"
        " a truncated one, or no usable record), 2 for a wrong argument. On stdout: record=usable, missing or unusable;"
        " fixture_sha256; pinned_whole and failure_explained, each true or false. A failure is explained by a transport"
        " fault, a failed oracle, or no oracle result."
    )
    parser.add_argument("--id", required=True, metavar="ID", help="the fixture id")
    parser.add_argument("--bundle", metavar="DIR", help="the bundle's folder (FREEZE_GATE_BUNDLE, else freeze-gate)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")


def run(args: Namespace, context: CommandContext) -> int:
    """Print the status, and say on stderr what the record says of the transport. 0 only for a complete sample."""
    status = read_status(Store(bundle_folder(args.bundle, context.environ)), args.id)
    if args.json:
        print(json.dumps(_document(args.id, status), sort_keys=True), file=context.stdout)
    else:
        context.stdout.write(_lines(status))
    if status.record is not None:
        print(f"freeze-gate status: {format_transport(status.record)}", file=context.stderr)
    for problem in status.problems:
        print(f"freeze-gate status: {args.id}: {escape_log(problem)}", file=context.stderr)
    return 0 if status.is_pinned_whole else 1


def _document(fixture_id: str, status: RecordStatus) -> dict[str, object]:
    return {
        "failure_explained": status.is_failure_explained,
        "fixture_id": fixture_id,
        "fixture_sha256": status.record and status.record.fixture_sha256,
        "pinned_whole": status.is_pinned_whole,
        "problems": status.problems,
        "record": status.state,
    }


def _lines(status: RecordStatus) -> str:
    sha256 = status.record.fixture_sha256 if status.record else None
    return (
        f"record={status.state}\n"
        f"fixture_sha256={sha256 or 'missing'}\n"
        f"pinned_whole={str(status.is_pinned_whole).lower()}\n"
        f"failure_explained={str(status.is_failure_explained).lower()}\n"
    )
