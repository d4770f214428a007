"""`freeze-gate oracle`: run the property test on the pinned file, without a network, and record the result."""

import argparse
import math
from functools import partial
from pathlib import Path
from typing import Final

from freeze_gate.capture.bundle.store import Store, bundle_folder
from freeze_gate.capture.oracle.local import Workspace, prepare_local
from freeze_gate.capture.oracle.process import OracleSpec, Prepare
from freeze_gate.capture.oracle.run import OracleRun, run_oracle
from freeze_gate.capture.oracle.sandbox.launcher import WITHOUT_SEAL, available_methods
from freeze_gate.commands import CommandContext
from freeze_gate.commands._capture import add_record_arguments
from freeze_gate.errors import UsageError

_MAX_SECONDS = 31_622_400  # a year
_MAX_RETRIES = 10

EXAMPLE: Final = "freeze-gate oracle --id sorted-patch --timeout 600 -- pytest tests/properties"
EXIT_CODES: Final = {
    "3": "it was not run, or a lane lost its result",
    "124": "the time limit",
    "126": "the command cannot be executed",
    "127": "the command is missing",
    "128+n": "signal n ended it",
    "other": "the command's own exit code; at least 1 if it changed the pin or the record",
}


def configure(parser: argparse.ArgumentParser) -> None:
    add_record_arguments(parser)
    parser.add_argument("--timeout", type=_seconds, metavar="S", help="kill the command after S seconds")
    parser.add_argument("--allow-egress", action="store_true", help="leave the network on; the record says `open`")
    parser.add_argument(
        "--lane",
        metavar="CARRIER",
        help="run it on another machine: the command, started without a shell, whose standard input and output lead to"
        " `freeze-gate lane`, such as 'ssh -T lane.example freeze-gate lane'",
    )
    parser.add_argument("--send", type=Path, metavar="DIR", help="the folder that the command runs in on the lane")
    parser.add_argument(
        "--lane-timeout", type=_seconds, metavar="S", help="give the lane up after S silent seconds (30)"
    )
    parser.add_argument(
        "--lane-retries", type=_retries, metavar="N", help="try again N times while the command has not started (0)"
    )
    parser.add_argument(
        "oracle_command",
        nargs="+",
        metavar="CMD",
        help="the command, after `--`; {fixture} becomes the path of the pinned file, as in FREEZE_GATE_FIXTURE",
    )


def run(args: argparse.Namespace, context: CommandContext) -> int:
    """Run the oracle, print its result on stderr, and return its exit code."""
    store = Store(bundle_folder(args.bundle, context.environ))
    spec = OracleSpec(args.id, args.oracle_command, args.timeout)
    prepare = _prepare_here(args, store, context) if args.lane is None else _prepare_on_lane(args)
    finished = run_oracle(store, spec, prepare, context.environ, context.now())
    print(f"freeze-gate oracle: {_describe(finished)}", file=context.stderr)
    for remark in finished.remarks:
        print(f"freeze-gate oracle: {args.id}: {remark}", file=context.stderr)
    return finished.exit_code


def _prepare_here(args: argparse.Namespace, store: Store, context: CommandContext) -> Prepare:
    for option in ("send", "lane_timeout", "lane_retries"):
        if getattr(args, option) is not None:
            raise UsageError(f"--{option.replace('_', '-')} is only for a lane: add --lane")
    methods = [WITHOUT_SEAL] if args.allow_egress else available_methods(context.environ)
    return partial(prepare_local, Workspace(Path.cwd(), store.folder, methods, context.environ))


def _prepare_on_lane(args: argparse.Namespace) -> Prepare:
    from freeze_gate.capture.lane.client import DEFAULT_TIMEOUT, Lane, prepare_on_lane, split_words

    lane = Lane(
        words=split_words(args.lane),
        tree=args.send,
        timeout=args.lane_timeout or DEFAULT_TIMEOUT,
        retries=args.lane_retries or 0,
        allow_egress=args.allow_egress,
    )
    return partial(prepare_on_lane, lane)


def _describe(finished: OracleRun) -> str:
    fixture_id, oracle = finished.record.fixture_id, finished.record.oracle
    attempts = "" if oracle.egress_attempts is None else f", egress attempts {oracle.egress_attempts}"
    lane = f", on lane {oracle.lane}" if oracle.lane else ""
    text = f"{fixture_id}: {finished.outcome} in run {oracle.runs} ({oracle.egress}{attempts}{lane})"
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


def _retries(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > _MAX_RETRIES:
        raise argparse.ArgumentTypeError(f"{text!a} is not a whole number from 0 to {_MAX_RETRIES}")
    return int(text)
