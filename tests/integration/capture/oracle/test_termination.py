"""What ends with the oracle: everything it left behind, whoever dies first, and whatever it calls itself."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.oracle_job import OracleJob, find_processes, make_oracle_job, unique_seconds, wait_until_gone

ROOT = Path(__file__).parents[4]
OPEN = ("--allow-egress",)
Options = tuple[str, ...]
BOTH = pytest.mark.parametrize("options", [(), OPEN], ids=["sealed", "open"])


@pytest.fixture
def job(tmp_path: Path) -> OracleJob:
    """Return a folder with one pin."""
    return make_oracle_job(tmp_path)


@pytest.fixture
def mark() -> str:
    """Return what a process of this test sleeps for, and no other."""
    return unique_seconds()


@BOTH
@pytest.mark.parametrize(
    "leave",
    [
        "sleep {mark} & ",
        "(setsid setsid sleep {mark} >/dev/null 2>&1 </dev/null &)",
        "(trap '' TERM HUP INT; nohup setsid sh -c 'sleep {mark}; true' >/dev/null 2>&1 &)",
    ],
    ids=["in the background", "as a daemon", "deaf to signals"],
)
def test_nothing_that_the_command_left_behind_goes_on(job: OracleJob, mark: str, options: Options, leave: str) -> None:
    """A process in the background, a daemon and one that ignores signals end with the command."""
    done = job.oracle("sh", "-c", leave.replace("{mark}", mark) + "\nexit 6", options=options)
    assert done.returncode == 6, done.stderr
    assert not find_processes(mark)


@BOTH
def test_the_time_limit_ends_children_too(job: OracleJob, mark: str, options: Options) -> None:
    """At the time limit the whole family ends, not only the command."""
    done = job.oracle("sh", "-c", f"setsid sleep {mark} & sleep {mark}", options=("--timeout", "0.5", *options))
    assert done.returncode == 124
    assert not find_processes(mark)


@BOTH
def test_a_killed_launcher_leaves_false_and_nothing_running(job: OracleJob, mark: str, options: Options) -> None:
    """SIGKILL of the launcher ends the oracle, and the record on disk says false, `crashed`."""
    running = job.start("sh", "-c", f"echo up; setsid sleep {mark} & sleep {mark}", options=options)
    assert running.stdout is not None
    assert running.stdout.readline() == "up\n"
    running.kill()
    running.communicate()
    assert wait_until_gone(f"sleep {mark}")
    _says_crashed(job)


@BOTH
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_cancelled_run_ends_the_command_first(job: OracleJob, mark: str, options: Options, number: int) -> None:
    """Ctrl-C and a runner's signals: the command is gone before we are, the record says false, the code is 128+n."""
    running = job.start("sh", "-c", f"trap '' INT TERM HUP; echo up; sleep {mark}", options=options)
    assert running.stdout is not None
    assert running.stdout.readline() == "up\n"
    running.send_signal(number)
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == 128 + number
    assert not find_processes(f"sleep {mark}")
    assert "Traceback" not in stderr
    _says_crashed(job)


def test_a_signal_that_the_caller_ignores_stays_ignored(job: OracleJob) -> None:
    """Under nohup a hang-up ends nothing."""
    running = job.start("sh", "-c", "echo up; read line", stdin=subprocess.PIPE, preexec_fn=_ignore_hangup)
    assert running.stdout is not None
    assert running.stdout.readline() == "up\n"
    running.send_signal(signal.SIGHUP)
    running.communicate("go on\n", timeout=60)
    assert running.returncode == 0
    assert job.record().oracle_passed is True


@BOTH
def test_an_oracle_that_kills_its_parent_has_crashed(job: OracleJob, mark: str, options: Options) -> None:
    """An oracle that kills its parent process gets no verdict by it, and does not live on."""
    done = job.oracle("sh", "-c", f"kill -9 $PPID; sleep {mark}", options=options)
    assert done.returncode == 137
    assert not find_processes(mark)
    assert (job.record().oracle_passed, job.record().oracle.outcome) == (False, "crashed")


@BOTH
def test_an_oracle_that_kills_whatever_it_can_has_not_passed(job: OracleJob, mark: str, options: Options) -> None:
    """Killing every ancestor up to the launcher leaves false, `crashed`."""
    hunt = (
        "import os, signal, subprocess\n"
        "def parent(pid): return int(open(f'/proc/{pid}/stat').read().rpartition(') ')[2].split()[1])\n"
        "family = [os.getppid()]\n"
        "while family[-1] > 1 and b'freeze_gate' in open(f'/proc/{parent(family[-1])}/cmdline', 'rb').read():\n"
        "    family.append(parent(family[-1]))\n"
        f"subprocess.Popen(['sleep', '{mark}'], start_new_session=True, stdout=-3, stderr=-3)\n"
        "for pid in reversed(family): os.kill(pid, signal.SIGKILL)\n"
    )
    done = job.python(hunt, options=options)
    assert done.returncode != 0
    _says_crashed(job)
    if not options:  # inside the seal nobody else was in reach
        assert wait_until_gone(f"sleep {mark}")
    for pid in find_processes(f"sleep {mark}"):
        subprocess.run(["kill", "-9", str(pid)], check=True)


def test_a_killed_supervisor_is_noticed(job: OracleJob, mark: str) -> None:
    """Without a seal an oracle can kill the supervisor: the launcher notices, and kills what is left."""
    hunt = (
        "import os, signal, subprocess, time\n"
        "supervisor = int(open(f'/proc/{os.getppid()}/stat').read().rpartition(') ')[2].split()[1])\n"
        f"subprocess.Popen(['sleep', '{mark}'], start_new_session=True)\n"
        "os.kill(supervisor, signal.SIGKILL)\n"
        "time.sleep(60)\n"
    )
    done = job.python(hunt, options=OPEN)
    assert done.returncode == 137
    assert "the sandbox supervisor was killed, from outside or by the oracle" in done.stderr
    assert not find_processes(mark)
    _says_crashed(job)


@pytest.mark.parametrize(("way", "least"), [("steps", 30), ("moments", 24)])
def test_a_run_killed_at_any_moment_leaves_a_whole_record_that_is_never_true(
    tmp_path: Path, mark: str, way: str, least: int
) -> None:
    """The record is readable; it is null before the command starts, then false. Nothing goes on running."""
    killer = [sys.executable, "-m", "tests.support.oracle_killer", way, mark]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(killer, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= least
    assert wait_until_gone(f"sleep {mark}")


def test_after_a_killed_run_another_one_works(job: OracleJob, mark: str) -> None:
    """A run that was killed leaves no lock behind; the next one runs, and the record stays false."""
    running = job.start("sh", "-c", f"echo up; sleep {mark}")
    assert running.stdout is not None
    assert running.stdout.readline() == "up\n"
    running.kill()
    running.communicate()
    assert job.oracle("true").returncode == 0
    assert (job.record().oracle_passed, job.record().oracle.runs) == (False, 2)


def _says_crashed(job: OracleJob) -> None:
    record = job.record()
    assert (record.oracle_passed, record.oracle.outcome, record.oracle.runs) == (False, "crashed", 1)


def _ignore_hangup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
