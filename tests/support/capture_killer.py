"""A program that kills captures, each at another moment, and looks at what they left. Prints how many it killed.

First at every step that a capture takes in the file system, one step after the other; then at random moments, so that
some fall into the middle of a write.
"""

import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from freeze_gate.capture.bundle.pin import pin_sample
from freeze_gate.capture.bundle.store import Store
from freeze_gate.capture.transport.curl import outcome_from_facts
from freeze_gate.capture.transport.merge import RequestKey
from freeze_gate.capture.transport.recorder import Recorder
from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Record, Run, read_record

STEPS = frozenset({"open", "os.rename", "os.chmod", "os.remove", "os.mkdir", "fcntl.flock"})
RANDOM_MOMENTS = 40
LARGE = 1 << 20  # bytes: long enough to be hit while they are written


def capture(folder: Path, round_: int, size: int) -> None:
    """Pin something, fold a call in, pin it once more."""
    store, fixture_id = Store(folder), f"id-{round_}"
    begun = Record(fixture_id, None, None, None, None, run=Run(capture_id="0" * 32))
    payload = bytes([round_ % 256]) * size
    pin_sample(store, begun, [payload])
    recorder = Recorder(store, fixture_id, Run(capture_id="1" * 32))
    recorder.begin(RequestKey("", "", None)).finish(outcome_from_facts(503))
    pin_sample(store, begun, [payload], ".json")


def killed_at_step(folder: Path, step: int) -> bool:
    """Run a capture that kills itself at its nth step; return whether it lived to take it."""
    child = os.fork()
    if child == 0:
        left = step

        def count(event: str, _args: tuple[object, ...]) -> None:
            nonlocal left
            if event in STEPS:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        capture(folder, 1, 1000)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def killed_at_random(folder: Path) -> None:
    """Run captures one after the other, and kill the process after a moment."""
    child = os.fork()
    if child == 0:
        for round_ in range(10_000):
            capture(folder, round_, LARGE)
        os._exit(1)
    time.sleep(random.uniform(0, 0.06))  # noqa: S311 - any moment will do
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def look(folder: Path) -> None:
    """Find every record readable, every pin its own digest, and every pin that a record names."""
    for path in folder.glob("fixtures/[!.]*"):
        assert Sha256.of(path.read_bytes()) == path.name.partition(".")[0], f"{path.name} is half-written"
    for path in folder.glob("records/[!.]*"):
        record = read_record(path.read_bytes(), path.name.removesuffix(".json"))
        assert not contradictions(record)
        assert record.fixture_path is not None
        assert (folder / record.fixture_path).exists(), "a record names a pin that is not there"


def main(place: Path) -> None:
    """Kill, look, and begin again in an empty folder; leftovers stay every other time."""
    folder, killed = place / "freeze-gate", 0
    while killed_at_step(folder, killed + 1):
        killed += 1
        look(folder)
        if killed % 2:
            shutil.rmtree(folder, ignore_errors=True)
    for _ in range(RANDOM_MOMENTS):
        killed_at_random(folder)
        look(folder)
        shutil.rmtree(folder, ignore_errors=True)
    sys.stdout.write(f"{killed + RANDOM_MOMENTS}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
