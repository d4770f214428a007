"""An oracle on a lane behind a real sshd: a user's key, a forced command, a pinned host key."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.lane_job import LaneJob, facts, pinned_lane_job
from tests.support.oracle_job import command_lines, find_processes
from tests.support.sshd import SSHD, Sshd, run_sshd
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(not SSHD or os.geteuid() != 0, reason="needs openssh-server, and root to start it")


@pytest.fixture
def job(tmp_path: Path) -> LaneJob:
    """Return a job with one pin, and a tree to send."""
    job = pinned_lane_job(tmp_path)
    (job.job.folder / "tree").mkdir()
    (job.job.folder / "tree" / "test.sh").write_text("exit 3\n")
    return job


@pytest.fixture
def server(job: LaneJob) -> Iterator[Sshd]:
    """Let the lane be the forced command of a key."""
    with run_sshd(job.job.folder / "sshd", job.lane) as server:
        yield server


def test_a_pass_and_a_fail_arrive(job: LaneJob, server: Sshd) -> None:
    """The tree and the pin go there, and the exit code comes back."""
    assert job.oracle("cat", "{fixture}", carrier=server.client).returncode == 0
    assert facts(job.job.record()) == (True, "passed", None, None)
    assert job.job.record().oracle.lane == "ssh 0.1.0"
    assert job.oracle("sh", "test.sh", carrier=server.client, options=("--send", "tree")).returncode == 3
    assert facts(job.job.record()) == (False, "failed", None, None)


def test_a_server_that_is_down_is_the_harness(job: LaneJob, server: Sshd) -> None:
    """Ssh ends with 255, whatever it prints."""
    server.stop()
    assert job.oracle("true", carrier=server.client, options=("--lane-retries", "1")).returncode == 3
    assert facts(job.job.record()) == (None, "not_run", False, "connection")
    assert job.class_with_passing_rerun() == "harness_flake"


def test_a_command_that_the_server_does_not_have_is_a_refusal(job: LaneJob, tmp_path: Path) -> None:
    """The remote shell's 127 comes back through ssh: it would be so on any day."""
    with run_sshd(tmp_path / "other", ["no-such-lane"]) as server:
        assert job.oracle("true", carrier=server.client).returncode == 3
    assert facts(job.job.record()) == (None, "not_run", None, None)


@pytest.mark.parametrize("victim", ["-m freeze_gate lane", "ssh -T"])
def test_a_connection_that_breaks_after_go_is_no_flake(job: LaneJob, server: Sshd, victim: str) -> None:
    """The lane killed, or the client: everything ends there, and the result is unreported."""
    with job.start("sleep", job.mark, carrier=server.client) as process:
        wait_until(lambda: f"sleep\0{job.mark}\0" in command_lines(job.mark))
        path = str(job.job.folder) if victim.startswith("ssh") else job.mark
        lines = {
            pid: (Path("/proc") / str(pid) / "cmdline").read_text().replace("\0", " ") for pid in find_processes(path)
        }
        for pid, line in lines.items():
            if victim in line and "oracle" not in line and not line.startswith("sh "):
                with contextlib.suppress(ProcessLookupError):  # the end of one may be the end of another
                    os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=30)
    job.assert_nothing_is_left(leaves_files=not victim.startswith("ssh"))
    assert process.returncode == 3
    assert facts(job.job.record()) == (None, "unreported", False, "connection")
    assert job.class_with_passing_rerun() == "unclassified"


@pytest.mark.parametrize(
    ("script", "outcome", "code"),
    [
        ("kill -KILL $PPID -1", "crashed", 137),
        ("head -c 9000000 /dev/zero; head -c 9000000 /dev/zero >&2", "passed", 0),
        ("setsid sleep MARK & sleep MARK & exit 0", "passed", 0),
        ("sleep MARK", "timed_out", 124),
        ("exec <&- >&- 2>&-; exit 1", "failed", 1),
    ],
    ids=["kills", "floods", "forks", "outlives its limit", "closes its streams"],
)
def test_a_patch_behind_ssh_gets_its_own_result(
    job: LaneJob, server: Sshd, script: str, outcome: str, code: int
) -> None:
    """Nothing that it prints or leaves running keeps the connection open."""
    words = ("sh", "-c", script.replace("MARK", job.mark))
    assert job.oracle(*words, carrier=server.client, options=("--timeout", "2")).returncode == code
    assert facts(job.job.record())[:2] == (outcome == "passed", outcome)
