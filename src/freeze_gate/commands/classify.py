"""`freeze-gate classify FIRST RERUN`: the same verdict as the action's, offline, from two folders or zips."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from freeze_gate.commands import CommandContext
from freeze_gate.errors import UsageError
from freeze_gate.evidence.archive import ArchiveError, open_tree
from freeze_gate.evidence.bundle import BundleReader
from freeze_gate.evidence.kept import Reading, Rows, keep
from freeze_gate.evidence.pairing import Shown, gather, pair_up
from freeze_gate.evidence.side import Fault, Source
from freeze_gate.files import write_file
from freeze_gate.policy.freezes import PolicyReading
from freeze_gate.report.advice import explain
from freeze_gate.report.escape import escape_log
from freeze_gate.report.outputs import format_four_lines
from freeze_gate.shelf import Shelf, whole
from freeze_gate.verdict.document import pieces
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.models import Case, Result
from freeze_gate.verdict.table import FailureClass


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("first", metavar="FIRST", type=Path, help="the first run's bundle: a folder or a zip")
    parser.add_argument("rerun", metavar="RERUN", type=Path, help="the rerun's bundle: a folder or a zip")
    parser.add_argument("--json", action="store_true", help="print the verdict document instead of the four lines")
    parser.add_argument("--policy", metavar="FILE", type=Path, help="a policy file, such as .github/freeze-gate.yml")
    parser.add_argument(
        "--expect",
        metavar="ID",
        action="append",
        default=[],
        help="a fixture id or glob that must be there; repeatable",
    )
    parser.add_argument(
        "--fail-on", choices=("unfrozen", "never"), default="unfrozen", help="never: always exit 0 or 2"
    )
    parser.add_argument("--verdict-file", metavar="FILE", type=Path, help="write the verdict document here as well")


def run(args: Namespace, context: CommandContext) -> int:
    """Print the four lines of the deciding pair, or the document; say the reason on stderr."""
    with Shelf() as shelf:
        case = _case(args, context, shelf)
        result = evaluate(case)
        if result.red[FailureClass.HARNESS_FLAKE] and args.policy:
            case = case._replace(policy=_policy(args.policy, case))
            result = evaluate(case)
        if not args.json:
            context.stdout.write(format_four_lines(result))
        print(_words(case, result), file=context.stderr)
        if args.json or args.verdict_file:
            _write_document(args, pieces(case, result), context)
        return result.exit_code


def _write_document(args: Namespace, document: Iterable[bytes], context: CommandContext) -> None:
    """Write the document where it was asked for, once all of it is there: nobody may take a part for the whole."""
    with whole(document) as file:
        try:
            if args.verdict_file:
                write_file(args.verdict_file.parent, args.verdict_file.name, file)
        finally:
            file.seek(0)
            for line in file if args.json else ():
                context.stdout.write(line.decode("ascii"))


def _case(args: Namespace, context: CommandContext, rows: Rows) -> Case:
    is_same = _is_same(args.first, args.rerun)
    with ThreadPoolExecutor(2) as pool:  # inflating and hashing release the lock, so two sides take the time of one
        first, rerun = pool.map(lambda path: _shown(path, rows, is_same=is_same), (args.first, args.rerun))
    return Case(
        github_metadata=False,
        pairs=pair_up(first, rerun, tuple(args.expect)),
        today=context.now().date(),
        fail_on=args.fail_on,
        expected=tuple(args.expect),
    )


def _is_same(first: Path, rerun: Path) -> bool:
    return first.exists() and rerun.exists() and first.samefile(rerun)


def _shown(path: Path, rows: Rows, *, is_same: bool) -> Shown:
    return gather([_reading(path, Source(escape_log(path.name)), rows, is_same=is_same)])


def _reading(path: Path, source: Source, rows: Rows, *, is_same: bool) -> Reading:
    if is_same:
        return Reading(source._replace(fault=Fault("artifact-same", "both sides are one path")), rows)
    if not path.exists():
        return Reading(source._replace(fault=Fault("artifact-missing", f"there is no {source.label}")), rows)
    try:
        with open_tree(path) as tree:
            return keep(source, rows, BundleReader(tree, source).sides())
    except ArchiveError as error:
        return Reading(source._replace(fault=error.fault), rows)


def _policy(path: Path, case: Case) -> PolicyReading:
    from freeze_gate.policy.file import read_policy  # YAML is needed only where there is a policy and a flake

    try:
        return read_policy(path.read_bytes(), escape_log(path.name), case.today)
    except OSError as error:
        raise UsageError(f"--policy {str(path)!r} cannot be read: {error.strerror}") from None


def _words(case: Case, result: Result) -> str:
    return "\n".join((f"reason: {result.reason}. {escape_log(explain(result.verdict))}", *_of_the_policy(case, result)))


def _of_the_policy(case: Case, result: Result) -> Iterator[str]:
    """Say what became of the policy, where it was asked."""
    if case.policy.state == "unusable":
        yield "The policy could not be used: no freeze counts, and everything that it could require counts as required."
        yield from map(escape_log, case.policy.problems)
    elif result.freeze_active and result.verdict.freeze_status:
        last = result.verdict.freeze_status.freeze.expires
        yield f"Every red pair is muted by a reviewer's freeze; the last day of this one's is {last}, UTC."
