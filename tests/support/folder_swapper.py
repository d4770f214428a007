"""A program that writes into a folder while somebody swaps it for a link. Prints how many moments it has tried.

The swap takes place at every step that the writer takes in the file system, one step after the other.
"""

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from freeze_gate.capture.bundle.store import Store
from freeze_gate.errors import FreezeGateError
from freeze_gate.evidence.record import Record
from freeze_gate.files import write_file

STEPS: Final = frozenset({"open", "os.rename", "os.chmod", "os.chown", "os.remove", "os.mkdir"})

WRITERS: Final[dict[str, tuple[str, Callable[[Path], object]]]] = {
    "verdict": ("a", lambda root: write_file(root, "a/verdict.json", [b"{}"])),
    "record": ("records", lambda root: Store(root).write(Record("x", None, None, None, None))),
    "pin": ("fixtures", lambda root: Store(root).pin(b"sample")),
}
"""The folder below the root that is swapped, and what writes into it."""


def main(writer: str, place: Path) -> None:
    """Swap at the first step, then at the second, until the writer ends before its swap."""
    parent, write = WRITERS[writer]
    root = outside = place
    steps_left = 0

    def swap(event: str, _args: tuple[object, ...]) -> None:
        nonlocal steps_left
        if event in STEPS and steps_left:
            steps_left -= 1
            if not steps_left:
                (root / parent).rename(root / "swapped")
                (root / parent).symlink_to(outside)

    sys.addaudithook(swap)
    moment = 0
    while not steps_left:
        moment += 1
        root, outside = place / f"root-{moment}", place / f"outside-{moment}"
        (root / parent).mkdir(parents=True)
        outside.mkdir()
        steps_left = moment
        with contextlib.suppress(FreezeGateError):
            write(root)
        assert not list(outside.iterdir()), f"swapped at step {moment}, and something was written outside"
    sys.stdout.write(f"{moment - 1}\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
