"""`freeze-gate oracle`: run the property check on the pinned file, without a network, and record how it ended."""

import argparse
import math

from freeze_gate.capture.oracle.run import Check, Outcome, run_oracle
from freeze_gate.capture.oracle.sandbox.launcher import ways
from freeze_gate.capture.store import Store, bundle_folder
from freeze_gate.commands import CommandContext

_YEAR = 31_622_400


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "Exit code: the command's own; 124 at the time limit, 128+n on a signal, 127 and 126 for a command that is"
        " missing or cannot be executed, 3 where nothing was run, at least 1 where the run spoiled its own evidence."
    )
    parser.add_argument("--id", required=True, metavar="ID", help="the fixture id")
    parser.add_argument("--bundle", metavar="DIR", help="the bundle's folder (FREEZE_GATE_BUNDLE, else freeze-gate)")
    parser.add_argument("--timeout", type=_seconds, metavar="S", help="end the command after so many seconds")
    parser.add_argument("--allow-egress", action="store_true", help="leave the network on; recorded as `open`")
    parser.add_argument(
        "words",
        nargs="+",
        metavar="CMD",
        help="the command, after `--`; {fixture} stands for the pinned file, as FREEZE_GATE_FIXTURE does",
    )


def run(args: argparse.Namespace, context: CommandContext) -> int:
    """Run the oracle; say in one line on stderr how it ended, and return its exit code."""
    store = Store(bundle_folder(args.bundle, context.environ))
    check = Check(args.id, args.words, args.timeout, None if args.allow_egress else ways(context.environ))
    outcome = run_oracle(store, check, context.environ, context.now())
    print(f"freeze-gate oracle: {_sentence(outcome)}", file=context.stderr)
    for remark in outcome.remarks:
        print(f"freeze-gate oracle: {args.id}: {remark}", file=context.stderr)
    return outcome.exit_code


def _sentence(outcome: Outcome) -> str:
    record, oracle = outcome.record, outcome.record.oracle
    attempts = "" if oracle.egress_attempts is None else f", egress attempts {oracle.egress_attempts}"
    return f"{record.fixture_id}: {oracle.outcome} in run {oracle.runs} ({oracle.egress}{attempts})"


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= _YEAR:
        raise argparse.ArgumentTypeError(f"{text!a} is no number of seconds above 0")
    return value
