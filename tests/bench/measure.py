"""Running commands side by side on a machine that does other things too: in turns, and the median counts."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

_SPEND = Path(__file__).with_name("spend.py")


class Command(NamedTuple):
    """What is measured: its words, the folder and the variables that it runs with, the exit code that is right."""

    words: Sequence[str | Path]
    folder: Path | None = None
    environ: Mapping[str, str] = {}
    code: int = 0


class Usage(NamedTuple):
    """Seconds of wall and of processor (all threads and children), MiB at the peak."""

    wall: float
    cpu: float
    peak: float


class Figures(NamedTuple):
    """What several runs of one command took."""

    runs: Sequence[Usage]

    @property
    def wall(self) -> float:
        """Seconds, the median."""
        return median(run.wall for run in self.runs)

    @property
    def cpu(self) -> float:
        """Seconds of all processors, the median."""
        return median(run.cpu for run in self.runs)

    @property
    def best(self) -> Usage:
        """The least of each: what the machine's other work has disturbed least."""
        return Usage(*map(min, zip(*self.runs, strict=True)))

    @property
    def peak(self) -> float:
        """MiB, the most of all runs."""
        return max(run.peak for run in self.runs)


def spend(command: Command) -> Usage:
    """Run a command once. Raises `RuntimeError` where it ends otherwise than it should: a broken run has no figure."""
    words = [sys.executable, "-I", "-S", str(_SPEND), *map(str, command.words)]
    environ = {"PATH": os.environ["PATH"], **command.environ}
    done = subprocess.run(words, cwd=command.folder, env=environ, stdout=subprocess.PIPE, check=True)
    told = json.loads(done.stdout)
    if told.pop("code") != command.code:
        raise RuntimeError(f"did not end with exit code {command.code}: {' '.join(words[4:])}")
    return Usage(**told)


def in_turns(times: int, *commands: Command) -> list[Figures]:
    """Run several commands in turns, so that each meets the same noise. Returns the figures of each."""
    rounds = [[spend(command) for command in commands] for _ in range(times)]
    return [Figures(runs) for runs in zip(*rounds, strict=True)]
