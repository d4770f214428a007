"""What ends with the oracle: everything it left behind, whoever dies first, and whatever it calls itself."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.record import read_record
from tests.support.oracle_job import Job, gone, named, new_job, unique_seconds

OPEN = ("--allow-egress",)
Options = tuple[str, ...]
BOTH = pytest.mark.parametrize("options", [(), OPEN], ids=["sealed", "open"])


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Return a folder with one pin."""
    return new_job(tmp_path)


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
def test_nothing_that_the_command_left_behind_goes_on(job: Job, mark: str, options: Options, leave: str) -> None:
    """A process in the background, a daemon and one that ignores signals end with the command."""
    done = job.oracle("sh", "-c", leave.replace("{mark}", mark) + "\nexit 6", options=options)
    assert done.returncode == 6, done.stderr
    assert not named(mark)


@BOTH
def test_the_time_limit_ends_children_too(job: Job, mark: str, options: Options) -> None:
    """At the time limit the whole family ends, not only the command."""
    done = job.oracle("sh", "-c", f"setsid sleep {mark} & sleep {mark}", options=("--timeout", "0.5", *options))
    assert done.returncode == 124
    assert not named(mark)


@BOTH
def test_o5_a_killed_supervisor_leaves_false_and_nothing_running(job: Job, mark: str, options: Options) -> None:
    """O5: SIGKILL of the supervisor ends the oracle, and the record on disk says false, `crashed`."""
    running = job.start("sh", "-c", f"echo up; setsid sleep {mark} & sleep {mark}", options=options)
    assert running.stdout is not None
    assert running.stdout.readline() == "up\n"
    running.kill()
    running.communicate()
    assert gone(f"sleep {mark}")
    _says_crashed(job)


@BOTH
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_cancelled_run_ends_the_command_first(job: Job, mark: str, options: Options, number: int) -> None:
    """Ctrl-C and a runner's signals: the command is gone before we are, the record says false, the code is 128+n."""
    running = job.start("sh", "-c", f"trap '' INT TERM HUP; echo up; sleep {mark}", options=options)
    assert running.stdout is not None
    assert running.stdout.readline() == "up\n"
    running.send_signal(number)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 128 + number
    assert not named(f"sleep {mark}")
    assert "Traceback" not in said
    _says_crashed(job)


def test_a_signal_that_the_caller_ignores_stays_ignored(job: Job) -> None:
    """Under nohup a hang-up ends nothing."""
    running = job.start("sh", "-c", "echo up; read line", stdin=subprocess.PIPE, preexec_fn=_deaf)
    assert running.stdout is not None
    assert running.stdout.readline() == "up\n"
    running.send_signal(signal.SIGHUP)
    running.communicate("go on\n", timeout=60)
    assert running.returncode == 0
    assert job.record().oracle_passed is True


@BOTH
def test_o5_an_oracle_that_kills_its_parent_has_crashed(job: Job, mark: str, options: Options) -> None:
    """O5: whatever the parent is, killing it is no way to a verdict, and not a way to live on."""
    done = job.oracle("sh", "-c", f"kill -9 $PPID; sleep {mark}", options=options)
    assert done.returncode == 137
    assert not named(mark)
    assert (job.record().oracle_passed, job.record().oracle.outcome) == (False, "crashed")


@BOTH
def test_o5_an_oracle_that_kills_whatever_it_can_has_not_passed(job: Job, mark: str, options: Options) -> None:
    """O5: killing every ancestor up to the supervisor leaves false, `crashed`."""
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
        assert gone(f"sleep {mark}")
    for pid in named(f"sleep {mark}"):
        subprocess.run(["kill", "-9", str(pid)], check=True)


def test_o5_the_keeper_s_end_is_noticed(job: Job, mark: str) -> None:
    """Outside a seal an oracle can kill what keeps it: the supervisor sees it, and ends what is left."""
    hunt = (
        "import os, signal, subprocess, time\n"
        "keeper = int(open(f'/proc/{os.getppid()}/stat').read().rpartition(') ')[2].split()[1])\n"
        f"subprocess.Popen(['sleep', '{mark}'], start_new_session=True)\n"
        "os.kill(keeper, signal.SIGKILL)\n"
        "time.sleep(60)\n"
    )
    done = job.python(hunt, options=OPEN)
    assert done.returncode == 137
    assert "the sandbox supervisor was killed, from outside or by the oracle" in done.stderr
    assert not named(mark)
    _says_crashed(job)


@pytest.mark.parametrize("share", range(8))
def test_o5_killed_at_any_moment_the_record_is_whole_and_never_true(job: Job, mark: str, share: int) -> None:
    """SIGKILL at many moments of a run: the record is readable, null before the start, then false; never true."""
    for moment in range(share, 64, 8):
        before = job.record()
        running = job.start("sh", "-c", f"sleep {mark}", start_new_session=True)
        time.sleep(moment * 0.01)
        running.kill()
        running.communicate()
        record = read_record((job.folder / "freeze-gate/records/sorted.json").read_bytes(), "sorted")
        assert not contradictions(record)
        assert record.oracle_passed in ({None, False} if before.oracle_passed is None else {False})
        if record.oracle_passed is False:
            assert record.oracle.outcome == "crashed"
    assert gone(f"sleep {mark}")
    assert job.oracle("true").returncode == 0
    assert job.record().oracle_passed in {True, False}


def _says_crashed(job: Job) -> None:
    record = job.record()
    assert (record.oracle_passed, record.oracle.outcome, record.oracle.runs) == (False, "crashed", 1)


def _deaf() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
