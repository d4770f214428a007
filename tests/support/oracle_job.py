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


class OracleJob(NamedTuple):
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
        """Return the path of the pinned file."""
        path = self.store.pinned_file(self.record())
        assert path is not None
        return path

    def start(self, *command: str, options: tuple[str, ...] = (), **popen: Any) -> subprocess.Popen[str]:
        """Start `freeze-gate oracle --id sorted *options -- *command`."""
        popen = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": self.folder} | popen
        return subprocess.Popen(oracle_command(*options, "--", *command), **popen)

    def oracle(self, *command: str, options: tuple[str, ...] = (), **run: Any) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        run = {"capture_output": True, "text": True, "cwd": self.folder, "timeout": 60} | run
        return subprocess.run(oracle_command(*options, "--", *command), check=False, **run)

    def python(self, program: str, options: tuple[str, ...] = (), **run: Any) -> subprocess.CompletedProcess[str]:
        """Run a Python program as the oracle."""
        return self.oracle(sys.executable, "-c", program, options=options, **run)


def oracle_command(*arguments: str) -> list[str]:
    """Return the command line of the oracle with these arguments."""
    return [sys.executable, "-m", "freeze_gate", "oracle", "--id", "sorted", *arguments]


def make_oracle_job(folder: Path) -> OracleJob:
    """Pin `PAYLOAD` in a folder."""
    job = OracleJob(folder)
    pin = job.store.pin(PAYLOAD, ".json")
    job.store.write(Record("sorted", pin.sha256, pin.path, None, None))
    return job


def unique_seconds() -> str:
    """Draw a number of seconds that nothing else on this machine sleeps for: the mark of a test's processes."""
    return str(10**9 + secrets.randbelow(10**9))


def find_processes(mark: str) -> list[int]:
    """Return the processes that carry a mark in their command line."""
    entries = [entry for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [int(entry.name) for entry in entries if mark in _command_line(entry)]


def command_lines(mark: str) -> list[str]:
    """Return the command lines that carry a mark."""
    return [(Path("/proc") / str(pid) / "cmdline").read_text() for pid in find_processes(mark)]


def wait_until_gone(mark: str) -> bool:
    """Wait until no process carries the mark any more; return False if some still do after ten seconds."""
    deadline = time.monotonic() + 10
    while find_processes(mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _command_line(entry: Path) -> str:
    try:
        return (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
