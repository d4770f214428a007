"""`freeze-gate classify FIRST RERUN`: reach the same verdict as the action, offline, from two folders or zips."""

from argparse import ArgumentParser, Namespace
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from freeze_gate.commands import CommandContext
from freeze_gate.commands._file import read_file
from freeze_gate.errors import UsageError
from freeze_gate.evidence.archive import RecordBudget
from freeze_gate.evidence.bundle import SourceRecords, read_source
from freeze_gate.evidence.models import CheckFailure, Source
from freeze_gate.evidence.pairing import build_pairs, merge_sources
from freeze_gate.files import write_file
from freeze_gate.policy.freezes import NOT_ASKED, PolicyReading
from freeze_gate.report.escape import escape_log
from freeze_gate.report.outputs import format_four_lines
from freeze_gate.report.terminal import describe_policy, describe_verdict
from freeze_gate.verdict.document import encode
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.models import Case, Result
from freeze_gate.verdict.table import FailureClass

EXAMPLE: Final = "freeze-gate classify first/ rerun.zip --policy .github/freeze-gate.yml"
EXIT_CODES: Final = {
    "0": "nothing to block: green pairs, pairs that a freeze mutes, or --fail-on never",
    "1": "the verdict blocks",
    "2": "a wrong argument",
    "3": "the verdict could not be written",
}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("first", metavar="FIRST", type=Path, help="the first run's bundle: a folder or a zip")
    parser.add_argument("rerun", metavar="RERUN", type=Path, help="the rerun's bundle: a folder or a zip")
    parser.add_argument("--json", action="store_true", help="print the verdict document instead of the four lines")
    parser.add_argument("--policy", metavar="FILE", type=Path, help="a policy file, such as .github/freeze-gate.yml")
    parser.add_argument(
        "--expect",
        metavar="ID",
        action="append",
        default=[],
        help="a fixture id or glob that must have a record; repeatable",
    )
    parser.add_argument(
        "--fail-on",
        choices=("unfrozen", "never"),
        default="unfrozen",
        help="unfrozen, or never: report only, exit 0 or 2",
    )
    parser.add_argument(
        "--pull-request", metavar="N", type=int, help="the pull request to judge for; a freeze may be only for one"
    )
    parser.add_argument(
        "--verdict-file", metavar="FILE", type=Path, help="also write the verdict document to this file"
    )
    parser.add_argument("--summary", metavar="FILE", type=Path, help="also write the summary page, as the action would")


def run(args: Namespace, context: CommandContext) -> int:
    """Print the four lines of the deciding pair, or the verdict document, and explain the verdict on stderr."""
    if args.pull_request is not None and args.pull_request < 1:
        raise UsageError(f"--pull-request is {args.pull_request}; allowed: the number of a pull request")
    case = _build_case(args, context)
    policy = _read_policy_file(args.policy, case) if args.policy else NOT_ASKED
    result = evaluate(case)
    if result.red[FailureClass.HARNESS_FLAKE]:  # as in the action, the policy matters to nothing else
        case = case._replace(policy=policy)
        result = evaluate(case)
    if not args.json:
        context.stdout.write(format_four_lines(result))
    print(*describe_verdict(case, result), sep="\n", file=context.stderr)
    if args.policy:
        print(*describe_policy(policy, case, result), sep="\n", file=context.stderr)
    document = encode(case, result) if args.json or args.verdict_file else b""
    try:
        if args.verdict_file:
            write_file(args.verdict_file.parent, args.verdict_file.name, [document])
        if args.summary:
            write_file(args.summary.parent, args.summary.name, [_render_summary(args, case, result)])
    finally:
        if args.json:
            context.stdout.write(document.decode("ascii"))
    return result.exit_code


def _render_summary(args: Namespace, case: Case, result: Result) -> bytes:
    from freeze_gate.report.context import ReportContext
    from freeze_gate.report.summary import render_summary

    context = ReportContext(policy=escape_log(args.policy.as_posix())) if args.policy else ReportContext()
    return render_summary(case, result, context).encode("utf-8", "backslashreplace")


def _build_case(args: Namespace, context: CommandContext) -> Case:
    budget = RecordBudget()
    is_same = args.first.exists() and args.rerun.exists() and args.first.samefile(args.rerun)
    with ThreadPoolExecutor(2) as pool:  # inflating and hashing release the lock, so the two sides run in parallel
        records = pool.map(lambda path: _read_records(path, budget, is_same=is_same), (args.first, args.rerun))
        first, rerun = (merge_sources([source]) for source in records)
    return Case(
        github_metadata=False,
        pairs=build_pairs(first, rerun, tuple(args.expect)),
        today=context.now().date(),
        fail_on=args.fail_on,
        pull_request=args.pull_request,
        expected=tuple(args.expect),
    )


def _read_records(path: Path, budget: RecordBudget, *, is_same: bool) -> SourceRecords:
    source = Source(escape_log(path.name))
    if is_same:
        return SourceRecords(source._replace(fault=CheckFailure("artifact-same", "both sides are the same path")))
    if not path.exists():
        return SourceRecords(source._replace(fault=CheckFailure("artifact-missing", f"there is no {source.label}")))
    return read_source(path, source, budget)


def _read_policy_file(path: Path, case: Case) -> PolicyReading:
    from freeze_gate.policy.file import MAX_POLICY_BYTES, read_policy  # YAML is needed only if there is a policy

    return read_policy(read_file(path, MAX_POLICY_BYTES, "--policy"), escape_log(path.name), case.today)
