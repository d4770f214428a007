"""A job's folder with one pin, and the oracle as a user starts it: as a process, judged by what it leaves."""

import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from freeze_gate.capture.bundle.store import Store
from freeze_gate.evidence.record import Record

PAYLOAD = b'{"sorted": [1, 2, 3]}\n'


class Job(NamedTuple):
    """A working folder whose bundle holds one pin, under the id `sorted`."""

    folder: Path

    @property
    def store(self) -> Store:
        """The bundle."""
        return Store(self.folder / "freeze-gate")

    def record(self) -> Record:
        """Read the record as it is on disk."""
        record = self.store.read("sorted")
        assert record is not None
        return record

    def pin(self) -> Path:
        """Name the pinned file."""
        path = self.store.pinned_file(self.record())
        assert path is not None
        return path

    def start(self, *words: str, options: tuple[str, ...] = (), **how: Any) -> subprocess.Popen[str]:
        """Start `freeze-gate oracle --id sorted *options -- *words`."""
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": self.folder} | how
        return subprocess.Popen(command(*options, "--", *words), **how)

    def oracle(self, *words: str, options: tuple[str, ...] = (), **how: Any) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        how = {"capture_output": True, "text": True, "cwd": self.folder, "timeout": 60} | how
        return subprocess.run(command(*options, "--", *words), check=False, **how)

    def python(self, program: str, options: tuple[str, ...] = (), **how: Any) -> subprocess.CompletedProcess[str]:
        """Run a Python program as the oracle."""
        return self.oracle(sys.executable, "-c", program, options=options, **how)


def command(*words: str) -> list[str]:
    """Say how to start the oracle with these options and words."""
    return [sys.executable, "-m", "freeze_gate", "oracle", "--id", "sorted", *words]


def new_job(folder: Path) -> Job:
    """Pin `PAYLOAD` in a folder."""
    job = Job(folder)
    pin = job.store.pin(PAYLOAD, ".json")
    job.store.write(Record("sorted", pin.sha256, pin.path, None, None))
    return job


def wait_for(path: Path) -> str:
    """Wait until a file is there and holds a line; return it."""
    for _ in range(1000):
        if path.exists() and (text := path.read_text()).endswith("\n"):
            return text.strip()
        time.sleep(0.02)
    raise AssertionError(f"{path.name} was never written")


def unique_seconds() -> str:
    """Draw a number of seconds that nothing else on this machine sleeps for."""
    return str(10**9 + secrets.randbelow(10**9))


def named(mark: str) -> list[int]:
    """Find the processes that carry a mark in their command line."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and mark in _line(entry)]


def gone(mark: str) -> bool:
    """Wait until no process carries the mark any more; say whether that came true."""
    return any(not named(mark) or time.sleep(0.02) for _ in range(500))


def _line(entry: Path) -> str:
    try:
        return (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
