"""`freeze-gate oracle`: run the property test on the pinned file, without a network, and record the result."""

import argparse
import math
from functools import partial
from pathlib import Path
from typing import Final

from freeze_gate.capture.bundle.store import Store, bundle_folder
from freeze_gate.capture.oracle.local import Workspace, prepare_local
from freeze_gate.capture.oracle.process import OracleSpec
from freeze_gate.capture.oracle.run import OracleRun, run_oracle
from freeze_gate.capture.oracle.sandbox.launcher import WITHOUT_SEAL, available_methods
from freeze_gate.commands import CommandContext

_MAX_SECONDS = 31_622_400  # a year

EXAMPLE: Final = "freeze-gate oracle --id sorted-patch --timeout 600 -- pytest tests/properties"
EXIT_CODES: Final = {
    "3": "it was not run",
    "124": "the time limit",
    "126": "the command cannot be executed",
    "127": "the command is missing",
    "128+n": "signal n ended it",
    "other": "the command's own exit code; at least 1 if it changed the pin or the record",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--id", required=True, metavar="ID", help="the fixture id")
    parser.add_argument("--bundle", metavar="DIR", help="the bundle's folder (FREEZE_GATE_BUNDLE, else freeze-gate)")
    parser.add_argument("--timeout", type=_seconds, metavar="S", help="kill the command after S seconds")
    parser.add_argument("--allow-egress", action="store_true", help="leave the network on; the record says `open`")
    parser.add_argument(
        "oracle_command",
        nargs="+",
        metavar="CMD",
        help="the command, after `--`; {fixture} becomes the path of the pinned file, as in FREEZE_GATE_FIXTURE",
    )


def run(args: argparse.Namespace, context: CommandContext) -> int:
    """Run the oracle, print its result on stderr, and return its exit code."""
    store = Store(bundle_folder(args.bundle, context.environ))
    methods = [WITHOUT_SEAL] if args.allow_egress else available_methods(context.environ)
    spec = OracleSpec(args.id, args.oracle_command, args.timeout)
    workspace = Workspace(Path.cwd(), store.folder, methods, context.environ)
    prepare = partial(prepare_local, workspace)
    finished = run_oracle(store, spec, prepare, context.environ, context.now())
    print(f"freeze-gate oracle: {_describe(finished)}", file=context.stderr)
    for remark in finished.remarks:
        print(f"freeze-gate oracle: {args.id}: {remark}", file=context.stderr)
    return finished.exit_code


def _describe(finished: OracleRun) -> str:
    fixture_id, oracle = finished.record.fixture_id, finished.record.oracle
    attempts = "" if oracle.egress_attempts is None else f", egress attempts {oracle.egress_attempts}"
    text = f"{fixture_id}: {finished.outcome} in run {oracle.runs} ({oracle.egress}{attempts})"
    if oracle.outcome != finished.outcome:
        text += f"; the record stays {oracle.outcome}, because of an earlier run"
    return text


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= _MAX_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!a} is not a number of seconds above 0")
    return value
