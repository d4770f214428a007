"""`script/demo [SCENE]`: every scene in a few lines, or one with its whole summary."""

# ruff: noqa: T201 - it talks to a person

import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from tests.demo.job import GateResult, freeze_gate
from tests.demo.scenes import SCENES
from tests.demo.stage import Stage, freeze_and_lapse, staged

FREEZE = "freeze"


def main(argv: list[str]) -> int:
    """Show all scenes, or the one that is named, whole."""
    names = [*SCENES, FREEZE]
    if len(argv) > 1 or not set(argv) <= set(names):
        print(f"usage: script/demo [{'|'.join(names)}]", file=sys.stderr)
        return 2
    egress = _egress()
    for name in argv or names:
        (_freeze if name == FREEZE else _scene)(name, egress, bool(argv))
    return 0


def _egress() -> list[str]:
    """Seal the oracles where that is possible, and say so where it is not."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = ["--bundle", f"{folder}/bundle"]
        path = Path(folder, "sample")
        path.write_bytes(b"sample")
        freeze_gate(["pin", "--id", "probe", *bundle, str(path)], {}, Path(folder))
        sealed = freeze_gate(["oracle", "--id", "probe", *bundle, "--", "true"], {}, Path(folder))
    if sealed.returncode == 0:
        return []
    print("No network namespace can be made here: the oracles of this demo run with --allow-egress.\n")
    return ["--allow-egress"]


def _scene(name: str, egress: list[str], whole: bool) -> None:
    print(f"=== {name}: {SCENES[name].story}\n")
    with staged(SCENES[name], egress=egress) as stage:
        _show(stage.judge(), stage, whole)


def _freeze(_name: str, egress: list[str], whole: bool) -> None:
    print("=== freeze: the same flake, red without a freeze, muted with one, red again the day after it expired\n")
    with staged(SCENES["harness_flake"], egress=egress) as stage:
        for words, ended in freeze_and_lapse(stage, datetime.now(UTC).date()):
            print(f"--- {words}:\n")
            _show(ended, stage, whole)


def _show(ended: GateResult, stage: Stage, whole: bool) -> None:
    if whole:
        print(ended.summary)
    else:
        print("\n".join(ended.summary.split("```")[1].strip().splitlines()))
    print(f"\n  reason:    {ended.outputs.get('reason')}")
    print(f"  label:     {', '.join(stage.labels) or 'none'}")
    print(f"  ticket:    {', '.join(stage.tickets) or 'none'}")
    print(f"  exit code: {ended.exit_code}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
