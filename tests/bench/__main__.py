"""Measure, and print one table: `python -m tests.bench [SECTION…]`."""

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from tests.bench.place import Installation
from tests.bench.rows import SECTIONS, Row

_HEAD = ("what", "Freeze Gate", "reference", "ratio", "goal, at most", "command / that of the reference")


def main() -> None:
    """Print each row when it is there; a figure that could not be had says why."""
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"all unless named: {', '.join(SECTIONS)}")
    parser.add_argument("--python", default=sys.executable, help="the interpreter to measure; the image has 3.13")
    asked = parser.parse_args()
    unknown = set(asked.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no such section: {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    with tempfile.TemporaryDirectory(prefix="freeze-gate-bench-") as folder:
        place = Installation.make(Path(folder), asked.python)
        _say(f"{_machine(place)}\n")
        _line(_HEAD)
        _line(["---"] * len(_HEAD))
        for name in asked.sections or SECTIONS:
            _rows(SECTIONS[name](place))
        _say(f"\nLoad at the end: {os.getloadavg()[0]:.1f}")


def _machine(place: Installation) -> str:
    cpu = next((line.partition(": ")[2] for line in _cpuinfo() if line.startswith("model name")), platform.machine())
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return f"{when}, {os.cpu_count()} processors ({cpu}), {place.version}, load {os.getloadavg()[0]:.1f}"


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def _rows(rows: Iterable[Row]) -> None:
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        _line([row.what, row.ours, row.reference, ratio, row.goal, f"`{row.command}`" if row.command else ""])


def _line(cells: Iterable[str]) -> None:
    _say("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - the table is what it is for


if __name__ == "__main__":
    main()
