"""An oracle on a lane: what the record says in every way in which a lane and a patch can end."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.lane_job import LaneJob, facts, make_lane_job, pinned_lane_job
from tests.support.oracle_job import command_lines, unique_seconds
from tests.support.waiting import wait_until

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")


@pytest.fixture
def job(tmp_path: Path) -> LaneJob:
    """Return a job with one pin, and a tree to send."""
    job = pinned_lane_job(tmp_path)
    (job.job.folder / "tree").mkdir()
    (job.job.folder / "tree" / "test.sh").write_text("# the middle of the tree\nexit 3\n")
    return job


def test_a_pass_on_a_lane_is_a_pass_and_says_nothing_about_the_transport(job: LaneJob) -> None:
    """The lane hashed the pin, the seal held, and a replay's transport stays null."""
    done = job.oracle("sh", "-c", 'cmp "$0" "$FREEZE_GATE_FIXTURE" && test -s "$0"', "{fixture}")
    record = job.job.record()
    assert done.returncode == 0, done.stderr
    assert facts(record) == (True, "passed", None, None)
    assert (record.oracle.egress, record.oracle.egress_attempts, record.oracle.runs) == ("sealed", 0, 1)
    assert record.oracle.fixture_sha256 == record.fixture_sha256
    assert record.oracle.lane == "env 0.1.0"
    assert record.transport.retry_count is None


def test_the_command_runs_in_the_tree_that_was_sent(job: LaneJob) -> None:
    """Its exit code is the command's own; its output goes to standard error."""
    done = job.oracle("sh", "-c", "echo output; . ./test.sh", options=("--send", "tree"))
    record = job.job.record()
    assert done.returncode == 3
    assert (facts(record), record.oracle.exit_code) == ((False, "failed", None, None), 3)
    assert (done.stdout, done.stderr.splitlines()[0]) == ("", "output")
    assert job.class_with_passing_rerun() == "unclassified"


def test_egress_is_allowed_only_by_the_near_side(job: LaneJob) -> None:
    """`--allow-egress` is recorded as `open`, as it is without a lane."""
    assert job.oracle("true", options=("--allow-egress",)).returncode == 0
    assert job.job.record().oracle.egress == "open"


QUICK = ("--lane-timeout", "2", "--send", "tree")

BEFORE_GO = {
    "cut in the request": ("cut", "freeze-gate/lane", "connection"),
    "cut in the pin": ("cut", "[1, 2", "connection"),
    "cut in the tree": ("cut", "the middle of the tree", "connection"),
    "cut before ready": ("cut", '<{"ready"', "connection"),
    "cut inside ready": ("cut", '<"egress"', "connection"),
    "killed in the pin": ("kill", "[1, 2", "connection"),
    "killed in the tree": ("kill", "the middle of the tree", "connection"),
    "silent before ready": ("hang", '<{"ready"', "timeout"),
    "silent in the pin": ("hang", "[1, 2", "timeout"),
    "changed on the way": ("change", "[1, 2", "truncated"),
}


@pytest.mark.parametrize(("action", "place", "fault"), BEFORE_GO.values(), ids=BEFORE_GO)
def test_what_breaks_before_go_is_the_harness(job: LaneJob, action: str, place: str, fault: str) -> None:
    """Nothing of the patch has run: null, a transport fault, and a flake if the rerun passes."""
    done = job.oracle("sh", "-c", "exit 1", carrier=job.broken(action, place), options=QUICK)
    record = job.job.record()
    assert done.returncode == 3
    assert facts(record) == (None, "not_run", False, fault)
    assert (record.oracle.runs, record.oracle.lane, record.transport.retry_count) == (None, sys.executable, 0)
    assert job.class_with_passing_rerun() == "harness_flake"


AFTER_GO = {
    "cut at go": ("cut", '{"go"', "connection"),
    "cut before ended": ("cut", '<{"ended"', "connection"),
    "cut inside ended": ("cut", '<"exit_status"', "connection"),
    "killed when it is ready": ("kill", '<{"ready"', "connection"),
    "killed at go": ("kill", '{"go"', "connection"),
    "silent after go": ("hang", '{"go"', "timeout"),
    "silent before ended": ("hang", '<{"ended"', "timeout"),
    "changed on the way": ("change", '<{"ended"', "connection"),
}


@pytest.mark.parametrize(("action", "place", "fault"), AFTER_GO.values(), ids=AFTER_GO)
def test_a_result_that_is_lost_after_go_is_no_flake(job: LaneJob, action: str, place: str, fault: str) -> None:
    """A patch that takes its lane down gains nothing."""
    done = job.oracle("true", carrier=job.broken(action, place), options=QUICK, leaves_files=action == "kill")
    record = job.job.record()
    assert done.returncode == 3
    assert facts(record) == (None, "unreported", False, fault)
    assert (record.oracle.runs, record.oracle.egress, record.oracle.lane) == (1, "sealed", f"{sys.executable} 0.1.0")
    assert job.class_with_passing_rerun() == "unclassified"


def test_a_connection_that_breaks_at_a_sign_of_life_is_no_flake(job: LaneJob) -> None:
    """The patch was running, and what became of it is not known."""
    done = job.oracle("sleep", unique_seconds(), carrier=job.broken("cut", '<{"alive"'), options=QUICK)
    assert done.returncode == 3
    assert facts(job.job.record()) == (None, "unreported", False, "connection")
    assert job.class_with_passing_rerun() == "unclassified"


REFUSALS = {
    "a carrier that is missing": (["no-such-carrier"], "cannot be started"),
    "a lane without freeze-gate": (["sh", "-c", "exit 127"], "exit status 127"),
    "a lane that may not start it": (["sh", "-c", "exit 126"], "exit status 126"),
    "another version": (["sh", "-c", """echo '{"refused": "this is freeze-gate/lane/9"}'; cat >/dev/null"""], "lane/9"),
    "a greeting": (["sh", "-c", "echo Welcome; cat >/dev/null"], "no message of freeze-gate/lane/1"),
}


@pytest.mark.parametrize(("carrier", "message"), REFUSALS.values(), ids=REFUSALS)
def test_what_would_happen_on_any_day_is_no_fault(job: LaneJob, carrier: list[str], message: str) -> None:
    """A refusal is null and not tried again, and nothing is a flake."""
    done = job.oracle("true", carrier=carrier, options=("--lane-retries", "3"))
    assert done.returncode == 3
    assert message in done.stderr
    assert facts(job.job.record()) == (None, "not_run", None, None)
    assert job.class_with_passing_rerun() == "unclassified"


def test_a_lane_that_is_down_is_tried_again(job: LaneJob) -> None:
    """Only before `go`; the tries are counted, and nothing else is said about the transport."""
    carrier = ["sh", "-c", f"mkdir seen 2>/dev/null && exit 255; exec {shlex.join(job.lane)}"]
    assert job.oracle("true", carrier=carrier, options=("--lane-retries", "2")).returncode == 0
    record = job.job.record()
    assert (facts(record), record.transport.retry_count) == ((True, "passed", None, None), 1)


def test_a_lane_that_stays_down_is_given_up(job: LaneJob) -> None:
    """The tries are in the record beside the fault."""
    done = job.oracle("true", carrier=["sh", "-c", "exit 255"], options=("--lane-retries", "1"))
    record = job.job.record()
    assert done.returncode == 3
    assert (facts(record), record.transport.retry_count) == ((None, "not_run", False, "connection"), 1)
    assert job.class_with_passing_rerun() == "harness_flake"


def test_a_tree_that_no_lane_takes_is_no_fault(job: LaneJob) -> None:
    """A patch must not look like a lost connection by a link out of the tree."""
    (job.job.folder / "tree" / "link").symlink_to("/etc/passwd")
    done = job.oracle("true", options=("--send", "tree"))
    assert "refused" in done.stderr
    assert facts(job.job.record()) == (None, "not_run", None, None)


FORGED = '{"ended": {"process": {"exit_status": 0, "seconds": 1, "egress_attempts": 0, "survivors": 0}}}'
NEST = "import os; [os.mkdir(str(0)) or os.chdir(str(0)) for _ in range(3000)]"
PATCHES = {
    "kills its parent": ("kill -KILL $PPID; sleep 9", "crashed", 137),
    "kills all that it sees": ("kill -KILL -1", "crashed", 137),
    "floods its outputs": ("head -c 9000000 /dev/zero; head -c 9000000 /dev/zero >&2", "passed", 0),
    "forks": ("sleep MARK & setsid sleep MARK & exit 0", "passed", 0),
    "outlives its limit": ("trap '' TERM; sleep MARK & sleep MARK", "timed_out", 124),
    "prints forged lines": (f"echo '{FORGED}'; echo '{FORGED}' >&2; exit 1", "failed", 1),
    "closes its streams": ("exec <&- >&- 2>&-; exit 0", "passed", 0),
    "writes to every process": ("for f in /proc/[0-9]*/fd/1; do echo '{}' >$f; done 2>/dev/null; exit 1", "failed", 1),
    "takes its folder away": ("chmod 0 . ..; exit 1", "failed", 1),
    "nests folders": (f"{sys.executable} -c '{NEST}'; exit 1", "failed", 1),
}


@pytest.mark.parametrize(("script", "outcome", "code"), PATCHES.values(), ids=PATCHES)
def test_a_patch_gets_its_own_result_and_leaves_nothing(job: LaneJob, script: str, outcome: str, code: int) -> None:
    """Whatever it does to the lane, the record says what it deserves."""
    script = script.replace("MARK", job.mark)
    done = job.oracle("sh", "-c", script, options=("--timeout", "3", "--send", "tree"))
    assert (done.returncode, facts(job.job.record())) == (code, (outcome == "passed", outcome, None, None))
    if outcome != "passed":
        assert job.class_with_passing_rerun() == "unclassified"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_the_end_of_the_near_side_ends_the_lane(job: LaneJob, number: signal.Signals) -> None:
    """Its input closes, and it ends everything. The record says false, as it does without a lane."""
    with job.start("sleep", job.mark) as process:
        wait_until(lambda: f"sleep\0{job.mark}\0" in command_lines(job.mark))
        process.send_signal(number)
        process.communicate(timeout=30)
    job.assert_nothing_is_left()
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert facts(job.job.record()) == (False, "crashed", None, None)


@pytest.fixture
def small_disk(job: LaneJob) -> Iterator[LaneJob]:
    """Let the lane have a file system of two megabytes."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", str(job.temporary)], check=True)
    try:
        yield job
    finally:
        subprocess.run(["umount", str(job.temporary)], check=True)


@NEEDS_ROOT
def test_a_full_disk_before_go_is_a_refusal(small_disk: LaneJob) -> None:
    """The tree may be what fills it, so it is no fault of the transport."""
    (small_disk.job.folder / "tree" / "large").write_bytes(bytes(3 << 20))
    done = small_disk.oracle("true", options=("--send", "tree"))
    assert (done.returncode, "No space left" in done.stderr) == (3, True)
    assert facts(small_disk.job.record()) == (None, "not_run", None, None)


@NEEDS_ROOT
def test_a_patch_that_fills_the_disk_gets_its_own_result(small_disk: LaneJob) -> None:
    """The result needs no disk."""
    done = small_disk.oracle("sh", "-c", "cat /dev/zero >large")
    assert (done.returncode, facts(small_disk.job.record())) == (1, (False, "failed", None, None))


def test_a_lane_that_was_killed_leaves_its_folder_to_the_next(tmp_path: Path) -> None:
    """No process can remove its files after SIGKILL, so the next lane does it."""
    job = pinned_lane_job(tmp_path)
    words = shlex.join(job.broken("kill", '{"go"'))
    assert job.job.oracle("true", options=("--lane", words)).returncode == 3
    assert len(list(job.temporary.iterdir())) == 1
    job.oracle("true")
    assert job.job.record().oracle.outcome == "unreported"


def test_a_second_run_does_not_take_back_a_lost_result(job: LaneJob) -> None:
    """Neither a pass nor a lane that is not reached."""
    for carrier in (job.broken("cut", '<{"ended"'), job.lane, ["sh", "-c", "exit 255"]):
        job.oracle("true", carrier=carrier)
        assert facts(job.job.record()) == (None, "unreported", False, "connection")
    assert job.class_with_passing_rerun() == "unclassified"


MEASURED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""


def test_a_large_pin_streams_through_both_sides(tmp_path: Path) -> None:
    """300 MB take less than 64 MiB of memory here and on the lane."""
    job = make_lane_job(tmp_path / "first", payload=b"")
    job.job.store.record_file("sorted").unlink()
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate(300_000_000)
    subprocess.run(
        [sys.executable, "-m", "freeze_gate", "pin", "--id", "sorted", str(tmp_path / "large")],
        cwd=job.job.folder,
        check=True,
    )
    near, far = tmp_path / "near", tmp_path / "far"
    lane = shlex.join([sys.executable, "-c", MEASURED, str(far), *job.lane])
    command = [sys.executable, "-m", "freeze_gate", "oracle", "--id", "sorted", "--lane", lane, "--", "true"]
    subprocess.run([sys.executable, "-c", MEASURED, str(near), *command], cwd=job.job.folder, check=True, timeout=100)
    assert job.job.record().oracle_passed
    assert max(int(near.read_text()), int(far.read_text())) < 64 << 10
