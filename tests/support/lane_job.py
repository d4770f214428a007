"""A job whose oracle runs on a lane, and what must be true afterwards on both machines."""

import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from freeze_gate.evidence.record import Record
from tests.support.oracle_job import PAYLOAD, OracleJob, unique_seconds, wait_until_gone

PROXY = Path(__file__).parent / "lane_proxy.py"


class LaneJob(NamedTuple):
    """A working folder with one pin under the id `sorted`, the lane's folder for temporary files, and its mark."""

    job: OracleJob
    temporary: Path
    mark: str

    @property
    def lane(self) -> list[str]:
        """The command line of the lane. Its mark tells its process from every other one."""
        environment = ["env", f"TMPDIR={self.temporary}"]
        return [*environment, sys.executable, "-X", f"lane={self.mark}", "-m", "freeze_gate", "lane"]

    def broken(self, action: str, place: str) -> list[str]:
        """Return the command line of a carrier that breaks at a place."""
        return [sys.executable, str(PROXY), action, place, "--", *self.lane]

    def start(self, *command: str, carrier: list[str] | None = None, options: tuple[str, ...] = ()) -> "Started":
        """Start the oracle on the lane."""
        words = shlex.join(carrier or self.lane)
        return self.job.start(*command, options=("--lane", words, *options), stdin=subprocess.DEVNULL)

    def oracle(
        self,
        *command: str,
        carrier: list[str] | None = None,
        options: tuple[str, ...] = (),
        leaves_files: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Run the oracle on the lane, and wait until nothing of it is left there."""
        words = shlex.join(carrier or self.lane)
        done = self.job.oracle(*command, options=("--lane", words, *options))
        self.assert_nothing_is_left(leaves_files=leaves_files)
        return done

    def assert_nothing_is_left(self, *, leaves_files: bool = False) -> None:
        """Wait until no process of the lane or of the command is left; no file is, unless the lane was killed."""
        assert wait_until_gone(self.mark)
        assert leaves_files or list(self.temporary.iterdir()) == []

    def class_with_passing_rerun(self) -> str:
        """Let a rerun replay the pin and pass on a whole lane, and return the class of the pair."""
        rerun = make_lane_job(self.job.folder / "rerun")
        freeze_gate("replay", str(self.job.folder / "freeze-gate"), "--id", "sorted", folder=rerun.job.folder)
        assert rerun.oracle("true").returncode == 0
        bundles = [str(folder / "freeze-gate") for folder in (self.job.folder, rerun.job.folder)]
        done = freeze_gate("classify", *bundles, "--verdict-file", "verdict.json", folder=self.job.folder)
        lines = dict(line.split("=", 1) for line in done.stdout.splitlines())
        return lines["failure_class"]


Started = subprocess.Popen[str]


def freeze_gate(*arguments: str, folder: Path, payload: bytes | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command of the tool in a folder."""
    text = None if payload is None else payload.decode()
    command = [sys.executable, "-m", "freeze_gate", *arguments]
    return subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, check=False, timeout=60)


def make_lane_job(folder: Path, *, payload: bytes | None = None) -> LaneJob:
    """Make the folders; with a payload, pin it."""
    folder.mkdir(exist_ok=True)
    temporary = folder / "lane"
    temporary.mkdir()
    if payload is not None:
        done = freeze_gate("pin", "--id", "sorted", "--suffix", ".json", "-", folder=folder, payload=payload)
        assert done.returncode == 0, done.stderr
    return LaneJob(OracleJob(folder), temporary, unique_seconds())


def pinned_lane_job(folder: Path) -> LaneJob:
    """Make a job whose pin is `PAYLOAD`."""
    return make_lane_job(folder / "first", payload=PAYLOAD)


def facts(record: Record) -> tuple[bool | None, str | None, bool | None, str | None]:
    """Return the verdict, the outcome, and what the record says about the transport."""
    return record.oracle_passed, record.oracle.outcome, record.transport_ok, record.transport.fault
