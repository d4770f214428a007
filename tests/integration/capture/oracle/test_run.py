"""One run of the oracle: what it is given, what its exit status means, what the record says before and after."""

import errno
import os
import select
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from freeze_gate.evidence.record import Record
from tests.support.oracle_job import PAYLOAD, OracleJob, make_oracle_job, oracle_command

OPEN = ("--allow-egress",)


@pytest.fixture
def job(tmp_path: Path) -> OracleJob:
    """Return a folder with one pin."""
    return make_oracle_job(tmp_path)


def test_the_pin_is_named_in_arguments_and_in_the_environment(job: OracleJob) -> None:
    """`{fixture}` and `FREEZE_GATE_FIXTURE` are the pin's absolute path, also inside a longer argument."""
    program = "import os, sys; print(sys.argv[1:], os.environ['FREEZE_GATE_FIXTURE'])"
    done = job.oracle(sys.executable, "-c", program, "{fixture}", "--input={fixture}:{fixture}", "--", "--id")
    pin = str(job.pin())
    assert done.stdout == f"{[pin, f'--input={pin}:{pin}', '--', '--id']} {pin}\n"


def test_streams_folder_and_environment_are_the_callers(job: OracleJob) -> None:
    """Standard input, both outputs, the working folder and the environment go through as they are."""
    (job.folder / "deeper").mkdir()
    done = job.oracle(
        *("sh", "-c", "cat; pwd; echo $LANE >&2; exit 7"),
        options=("--bundle", "../freeze-gate"),
        cwd=job.folder / "deeper",
        input="from outside\n",
        env=os.environ | {"LANE": "fast"},
    )
    assert done.stdout == f"from outside\n{job.folder.resolve()}/deeper\n"
    result = "freeze-gate oracle: sorted: failed in run 1 (sealed, egress attempts 0)"
    assert done.stderr.splitlines() == ["fast", result]
    assert done.returncode == 7


@pytest.mark.parametrize("options", [(), OPEN], ids=["sealed", "open"])
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("true",), (True, "passed", 0)),
        (("sh", "-c", "exit 1"), (False, "failed", 1)),
        (("sh", "-c", "exit 2"), (False, "failed", 2)),
        (("sh", "-c", "exit 139"), (False, "failed", 139)),
        (("sh", "-c", "kill -KILL $$"), (False, "crashed", 137)),
        (("sh", "-c", "kill -SEGV $$"), (False, "crashed", 139)),
        (("sh", "-c", "kill -TERM $$"), (False, "crashed", 143)),
        (("no-such-command",), (False, "failed", 127)),
        (("./no/such/command",), (False, "failed", 127)),
        (("/etc/passwd",), (False, "failed", 126)),
        (("/etc",), (False, "failed", 126)),
    ],
    ids=lambda value: "" if isinstance(value[0], bool) else " ".join(value),
)
def test_the_verdict_is_the_exit_status(
    job: OracleJob, command: tuple[str, ...], expected: tuple[bool, str, int], options: tuple[str, ...]
) -> None:
    """Passed is exit status 0 alone; a command that is missing or cannot be executed is false."""
    done = job.oracle(*command, options=options)
    record = job.record()
    assert done.returncode == expected[-1]
    assert (record.oracle_passed, record.oracle.outcome, record.oracle.exit_code) == expected
    assert record.oracle.egress == ("open" if options else "sealed")
    assert record.oracle.fixture_sha256 == record.fixture_sha256


@pytest.mark.parametrize("options", [(), OPEN], ids=["sealed", "open"])
def test_the_time_limit_is_a_fail(job: OracleJob, options: tuple[str, ...]) -> None:
    """A command that does not end in time is ended: false, `timed_out`, 124."""
    done = job.oracle("sleep", "600", options=("--timeout", "0.3", *options))
    assert done.returncode == 124
    oracle = job.record().oracle
    assert (job.record().oracle_passed, oracle.outcome, oracle.exit_code) == (False, "timed_out", 124)
    assert oracle.seconds is not None
    assert 0.3 <= oracle.seconds < 60


def test_the_record_says_crashed_before_the_command_starts(job: OracleJob) -> None:
    """While the command runs, the record on disk already says false and `crashed`."""
    done = job.oracle("cat", "freeze-gate/records/sorted.json")
    assert '"oracle_passed": false' in done.stdout
    assert '"outcome": "crashed"' in done.stdout
    assert '"runs": 1' in done.stdout
    assert job.record().oracle_passed is True


def test_the_loopback_is_no_egress_attempt(job: OracleJob) -> None:
    """Connections over the sandbox's own loopback work and are not counted; the record says how long the run took."""
    program = (
        "import socket\n"
        "for family, host in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):\n"
        "    server = socket.create_server((host, 0), family=family)\n"
        "    socket.create_connection(server.getsockname()[:2]).close()\n"
        "socket.getaddrinfo('localhost', 80); socket.getaddrinfo('127.0.0.1', 80)\n"
    )
    done = job.python(program)
    assert done.returncode == 0, done.stderr
    assert job.record().oracle.egress_attempts == 0
    assert job.record().oracle.seconds is not None


def test_a_service_of_the_job_on_the_loopback_is_not_reached_and_not_counted(job: OracleJob) -> None:
    """The sandbox's loopback is another one than the job's: the call is refused inside, and nothing gets out."""
    with socket.create_server(("127.0.0.1", 0)) as service:
        program = f"import socket; print(socket.socket().connect_ex(('127.0.0.1', {service.getsockname()[1]})))"
        done = job.python(program)
        reached, _, _ = select.select([service], [], [], 0)
    assert done.stdout == f"{errno.ECONNREFUSED}\n", done.stderr
    assert not reached
    assert job.record().oracle.egress_attempts == 0


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [("false", "true", "failed"), ("true", "false", "failed"), ("true", "true", "passed")],
)
def test_a_second_run_cannot_improve_the_verdict(job: OracleJob, first: str, second: str, outcome: str) -> None:
    """False then true is false, true then false is false, and `runs` counts both."""
    assert [job.oracle(first).returncode, job.oracle(second).returncode] == [first == "false", second == "false"]
    record = job.record()
    assert (record.oracle.outcome, record.oracle_passed, record.oracle.runs) == (outcome, outcome == "passed", 2)


def test_a_pass_after_a_fail_says_what_the_record_keeps(job: OracleJob) -> None:
    """The run passed; the record has the fail of an earlier one."""
    messages = [job.oracle(command).stderr for command in ("true", "false", "true")]
    assert messages[0].endswith("passed in run 1 (sealed, egress attempts 0)\n")
    assert messages[1].endswith("failed in run 2 (sealed, egress attempts 0)\n")
    assert messages[2].endswith(
        "passed in run 3 (sealed, egress attempts 0); the record stays failed, because of an earlier run\n"
    )


def test_a_missing_pinned_file_is_not_run(job: OracleJob) -> None:
    """Without the pinned file nothing runs, whatever the network could give: null, `not_run`, 3."""
    job.pin().unlink()
    done = job.oracle("touch", "ran", options=OPEN)
    assert done.returncode == 3
    assert "is not in the bundle" in done.stderr
    assert not (job.folder / "ran").exists()
    assert (job.record().oracle_passed, job.record().oracle.outcome) == (None, "not_run")


def test_a_pin_that_does_not_match_is_not_run(job: OracleJob) -> None:
    """A pinned file with other bytes than its record says is no input: null, `not_run`, 3."""
    job.pin().chmod(0o644)
    job.pin().write_bytes(PAYLOAD + b"\n")
    done = job.oracle("touch", "ran")
    assert done.returncode == 3
    assert "the pinned file hashes to" in done.stderr
    assert not (job.folder / "ran").exists()
    assert job.record().oracle.outcome == "not_run"


def test_a_link_in_the_place_of_a_pin_is_not_run(job: OracleJob) -> None:
    """A link to the right bytes is no pin: what it leads to can change."""
    pin = job.pin()
    pin.rename(job.folder / "elsewhere")
    pin.symlink_to(job.folder / "elsewhere")
    done = job.oracle("touch", "ran")
    assert done.returncode == 3
    assert "link" in done.stderr
    assert not (job.folder / "ran").exists()


def test_an_id_without_a_record_gets_one_that_says_not_run(tmp_path: Path) -> None:
    """If nothing was captured, a record without a digest is written, so that the missing evidence is seen."""
    job = OracleJob(tmp_path)
    done = job.oracle("true")
    assert done.returncode == 3
    assert "nothing is pinned under this id" in done.stderr
    record = job.record()
    assert (record.fixture_sha256, record.oracle_passed, record.oracle.outcome) == (None, None, "not_run")


def test_an_earlier_fail_stays_if_a_later_run_cannot_start(job: OracleJob) -> None:
    """The record is not changed by a run that could not start."""
    job.oracle("false")
    before = job.record()
    job.pin().unlink()
    assert job.oracle("true").returncode == 3
    assert job.record() == before


def test_a_run_that_did_not_start_is_not_counted(job: OracleJob) -> None:
    """`not_run` leaves the record open for a new pin and a new run."""
    pin = job.pin()
    pin.rename(job.folder / "away")
    job.oracle("true")
    (job.folder / "away").rename(pin)
    assert job.oracle("true").returncode == 0
    assert (job.record().oracle_passed, job.record().oracle.runs) == (True, 1)


def test_an_oracle_that_rewrites_its_pin_has_failed(job: OracleJob) -> None:
    """The digest that the record then names is not the pin's; the verdict is false, the exit code at least 1."""
    done = job.oracle("sh", "-c", "chmod u+w {fixture}; echo other >{fixture}", options=OPEN)
    assert done.returncode == 1
    assert "the pinned file was modified, so this run counts as failed" in done.stderr
    record = job.record()
    assert record.oracle_passed is False
    assert record.oracle.fixture_sha256 not in (None, record.fixture_sha256)


@pytest.mark.parametrize("repair", ["true", "false"])
def test_a_rewritten_pin_stays_in_the_record(job: OracleJob, repair: str) -> None:
    """Putting the bytes back and running again does not remove the wrong digest from the record."""
    job.oracle("sh", "-c", "chmod u+w {fixture}; echo other >{fixture}; exit 3", options=OPEN)
    other_digest = job.record().oracle.fixture_sha256
    job.pin().write_bytes(PAYLOAD)
    job.oracle(repair)
    assert job.record().oracle.fixture_sha256 == other_digest
    assert job.record().oracle_passed is False
    assert job.record().oracle.egress == "open"


def test_the_last_write_comes_from_memory(job: OracleJob) -> None:
    """Without a seal the oracle can edit its record; the run then counts as failed, and the forged text is replaced."""
    forge = (
        "import pathlib; path = pathlib.Path('freeze-gate/records/sorted.json');"
        "path.write_text(path.read_text().replace('false', 'true').replace('crashed', 'passed')); raise SystemExit(4)"
    )
    done = job.python(forge, options=OPEN)
    assert done.returncode == 4
    assert "its record was modified, so this run counts as failed" in done.stderr
    assert (job.record().oracle_passed, job.record().oracle.exit_code) == (False, 4)


@pytest.mark.parametrize(
    "destroy",
    [
        "rm -r freeze-gate",
        "rm freeze-gate/records/sorted.json",
        "rm freeze-gate/records/sorted.json; mkfifo freeze-gate/records/sorted.json",
        "rm freeze-gate/records/sorted.json; mkdir -p freeze-gate/records/sorted.json/x",
        "rm -r freeze-gate/records; mkdir outside; ln -s ../outside freeze-gate/records",
        "rm {fixture}; mkfifo {fixture}",
        "echo x >freeze-gate/records/sorted.json",
    ],
)
def test_whatever_the_oracle_does_to_the_bundle_the_record_says_false(job: OracleJob, destroy: str) -> None:
    """Without a seal the bundle can be torn down; nothing hangs, nothing is written through a link, nothing passes."""
    done = job.oracle("sh", "-c", destroy, options=OPEN)
    assert done.returncode == 1
    assert "was modified, so this run counts as failed" in done.stderr
    assert job.record().oracle_passed is False
    assert not list(job.folder.glob("outside/*"))


def test_two_oracles_at_once_leave_false(job: OracleJob) -> None:
    """One that fails and one that passes, side by side on one id, leave false."""
    slow = job.start("sh", "-c", "echo up; read line; exit 0", options=OPEN, stdin=-1)
    assert slow.stdout is not None
    assert slow.stdout.readline() == "up\n"
    assert job.oracle("false", options=OPEN).returncode == 1
    slow.communicate("go on\n", timeout=60)
    assert slow.returncode == 1
    assert job.record().oracle_passed is False


def test_a_bundle_that_a_seal_would_hide_is_not_run(tmp_path: Path) -> None:
    """A bundle below `/run` is hidden inside the seal: the message says so."""
    if not os.access("/run", os.W_OK):
        pytest.skip("only root can put a bundle below /run")
    folder = Path("/run") / f"freeze-gate-test-{os.getpid()}"
    folder.mkdir()
    try:
        job = make_oracle_job(folder)
        done = job.oracle("true", cwd=tmp_path, options=("--bundle", str(folder / "freeze-gate")))
        assert done.returncode == 3
        assert "below /run, which a seal hides" in done.stderr
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "soon"])
def test_a_time_limit_is_a_number_of_seconds_above_zero(job: OracleJob, value: str) -> None:
    """A bad `--timeout` is a usage error; nothing runs."""
    done = job.oracle("true", options=(f"--timeout={value}",))
    assert done.returncode == 2
    assert "seconds" in done.stderr
    assert job.record() == Record("sorted", job.record().fixture_sha256, job.record().fixture_path, None, None)


def test_a_command_is_required(job: OracleJob) -> None:
    """Without a command the usage is shown, with exit code 2."""
    done = subprocess.run(oracle_command(), cwd=job.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "CMD" in done.stderr


@pytest.fixture
def hidden_folder() -> Iterator[Path]:
    """Return a folder below /run, where version managers and some systems keep programs."""
    if not os.access("/run", os.W_OK):
        pytest.skip("only root can put a program below /run")
    folder = Path("/run") / f"freeze-gate-test-{os.getpid()}"
    folder.mkdir()
    shutil.copy(os.path.realpath("/bin/sh"), folder / "sh")
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("kind", ["first in PATH", "a path"])
def test_a_program_that_the_seal_hides_is_not_run(job: OracleJob, hidden_folder: Path, kind: str) -> None:
    """It would be missing inside, and the patch would be blamed for that."""
    program = hidden_folder / "sh"
    command = str(program) if kind == "a path" else "sh"
    done = job.oracle(command, "-c", ":", env=os.environ | {"PATH": f"{hidden_folder}:{os.environ['PATH']}"})
    assert done.returncode == 3
    assert f"{program} is below /run, which the seal hides" in done.stderr
    assert (job.record().oracle_passed, job.record().oracle.outcome) == (None, "not_run")


@pytest.mark.parametrize("kind", ["a link", "a script"])
def test_a_file_of_the_tested_tree_that_leads_below_run_is_a_fail(
    job: OracleJob, hidden_folder: Path, kind: str
) -> None:
    """A patch can write such a link or such a first line, and must not become `not_run` by it; the place is named."""
    check = job.folder / "check"
    if kind == "a link":
        check.symlink_to(hidden_folder / "sh")
    else:
        check.write_text(f"#! {hidden_folder}/sh -e\n")
        check.chmod(0o755)
    done = job.oracle("./check", "-c", ":")
    assert (done.returncode, job.record().oracle_passed, job.record().oracle.outcome) == (127, False, "failed")
    assert "it is a link or a script that leads to what is not there, and the seal hides /run" in done.stderr


def test_a_program_that_the_command_starts_and_the_seal_hides_is_a_fail_that_names_the_place(
    job: OracleJob, hidden_folder: Path
) -> None:
    """The command itself has started, so its end counts; the output names the folder of `PATH` that is hidden."""
    (hidden_folder / "sh").rename(hidden_folder / "interpreter")
    path = f"{hidden_folder}:{os.environ['PATH']}"
    done = job.oracle("env", "interpreter", "-c", ":", env=os.environ | {"PATH": path})
    assert (done.returncode, job.record().oracle_passed) == (127, False)
    assert f"PATH names '{hidden_folder}', which the seal hides" in done.stderr


def test_a_program_that_nobody_can_read_to_its_end_does_not_stop_the_time_limit(job: OracleJob) -> None:
    """A FIFO in the place of the program is a fail like any other: nothing opens it before the command starts."""
    os.mkfifo(job.folder / "check", 0o755)
    done = job.oracle("./check", options=("--timeout", "10"))
    assert (done.returncode, job.record().oracle_passed) == (126, False)


def test_a_program_below_run_can_run_without_a_seal(job: OracleJob, hidden_folder: Path) -> None:
    """Nothing is hidden then."""
    assert job.oracle(str(hidden_folder / "sh"), "-c", ":", options=OPEN).returncode == 0


def test_a_missing_program_is_a_fail_whatever_is_below_run(job: OracleJob, hidden_folder: Path) -> None:
    """Only a program that is there outside the seal is the harness's matter."""
    done = job.oracle("no-such-command", env=os.environ | {"PATH": f"{hidden_folder}:{os.environ['PATH']}"})
    assert (done.returncode, job.record().oracle_passed) == (127, False)
