"""`freeze-gate prune`: list or remove the pins of a fixture store that nothing refers to any more."""

import argparse
import contextlib
import json
from datetime import datetime
from pathlib import Path
from typing import Final

from freeze_gate.capture.bundle.store import Store
from freeze_gate.commands import CommandContext
from freeze_gate.commands._file import read_file
from freeze_gate.errors import UsageError
from freeze_gate.evidence.abbreviation import count
from freeze_gate.maintenance.prune import open_store
from freeze_gate.policy.file import MAX_POLICY_BYTES, read_policy
from freeze_gate.policy.freezes import Policy
from freeze_gate.report.escape import escape_log

EXAMPLE: Final = "freeze-gate prune fixtures-store --policy .github/freeze-gate.yml"
EXIT_CODES: Final = {
    "0": "listed, or removed with --yes",
    "2": "a wrong argument, or a policy that cannot be used",
    "3": "a file cannot be read or removed",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("store", type=Path, metavar="STORE", help="a folder with fixtures/, and records at any depth")
    parser.add_argument("--policy", type=Path, required=True, metavar="FILE", help="sets retention.fixtures_days")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--dry-run", action="store_true", help="only list the pins; the default")
    mode.add_argument("--yes", action="store_true", help="remove them")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of paths")


def run(args: argparse.Namespace, context: CommandContext) -> int:
    """Print the path of each prunable pin, and remove it with `--yes`. Raises `UsageError`, `NoVerdictError`."""
    now = context.now()
    policy = _read_policy_file(args.policy, now)
    with open_store(args.store) as store, Store(args.store).locked() if args.yes else contextlib.nullcontext():
        pins = store.list_prunable(policy, now)
        for pin in pins:
            if args.yes:
                store.remove(pin)
            if not args.json:
                print(f"fixtures/{pin.name}", file=context.stdout)
    if args.json:
        listing = [{"bytes": pin.size, "path": f"fixtures/{pin.name}"} for pin in pins]
        print(json.dumps({"pins": listing, "removed": args.yes}, indent=1), file=context.stdout)
    outcome = "removed" if args.yes else "to remove with --yes"
    size = sum(pin.size for pin in pins)
    print(f"{count(len(pins), 'pin')}, {count(size, 'byte')}, {outcome}", file=context.stderr)
    return 0


def _read_policy_file(path: Path, now: datetime) -> Policy:
    payload = read_file(path, MAX_POLICY_BYTES, "--policy")
    reading = read_policy(payload, escape_log(str(path)), now.date())
    if reading.problems:
        raise UsageError("\n".join(("nothing is removed, because the policy cannot be used:", *reading.problems)))
    return reading.policy
