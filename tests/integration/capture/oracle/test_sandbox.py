"""The seal where jobs really run: as another user, through a real sudo, and where it cannot be made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.oracle_job import (
    PAYLOAD,
    OracleJob,
    make_oracle_job,
    oracle_command,
    unique_seconds,
    wait_until_gone,
)
from tests.support.user_environment import make_home, run_python_in
from tests.support.user_environment_setup import EXTRA_GROUP, GID, PYTHON, UserEnvironment

ORACLE = ("-m", "freeze_gate", "oracle", "--id", "sorted")
LISTENER = ("network_probe.py", "--listen", PYTHON)
HOSTED = UserEnvironment(sudo=True, limits=("max_user_namespaces",))
"""As on hosted runners: an ordinary user who may make no user namespace, and may use sudo."""

ORDINARY = UserEnvironment()
AS_ROOT = UserEnvironment(uid=0)
FORGERY = """
import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect(bytes.fromhex(sys.argv[-1]))
connection.recv(1)
connection.sendall(b'{"ready": true}\\n{"exit_status": 0, "seconds": 0, "egress_attempts": 0, "survivors": 0}\\n')
while connection.recv(1 << 16):
    pass
"""

SEALABLE = pytest.mark.parametrize("environment", [ORDINARY, HOSTED, AS_ROOT], ids=["user namespace", "sudo", "root"])


@SEALABLE
def test_the_command_runs_as_the_caller_without_any_privilege(environment: UserEnvironment) -> None:
    """Inside, the user and the groups are the caller's; no capability is left, and none can be gained."""
    with make_home(environment) as home:
        done = run_python_in(
            environment, home, *ORACLE, "--", "sh", "-c", "id -u; id -g; umask; cat /proc/self/status", umask=0o27
        )
        assert done.returncode == 0, done.stderr
        uid, gid, umask, *status = done.stdout.splitlines()
        assert (uid, gid, umask) == (str(environment.uid), str(GID if environment.uid else 0), "0027")
        facts = dict(line.split(":\t", 1) for line in status if ":\t" in line)
        assert {facts[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
        assert facts["NoNewPrivs"] == "1"
        assert OracleJob(home).record().oracle.egress == "sealed"


def test_sudo_restores_every_group_of_the_caller() -> None:
    """A file that only a second group may read is readable inside, though root started the seal."""
    with make_home(HOSTED) as home:
        done = run_python_in(HOSTED, home, *ORACLE, "--", "sh", "-c", "id -G")
        assert sorted(done.stdout.split()) == [str(GID), str(EXTRA_GROUP)]


@SEALABLE
def test_no_privileged_program_leads_out(environment: UserEnvironment) -> None:
    """Sudo, nsenter into the parents' namespaces, and a new user namespace give back neither network nor bundle."""
    escape = (
        "sudo -n true && echo escaped;"
        " nsenter -t $PPID -n true && echo escaped; nsenter -t 1 -n true && echo escaped;"
        " unshare -Urm sh -c 'umount /run && echo escaped; mount -o remount,bind,rw freeze-gate && echo escaped;"
        " echo x >freeze-gate/records/sorted.json && echo escaped'; exit 0"
    )
    with make_home(environment) as home:
        done = run_python_in(environment._replace(sudo=True), home, *ORACLE, "--", "sh", "-c", escape)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_second_mount_of_the_bundle_is_read_only_too(tmp_path: Path) -> None:
    """The pin could be swapped by the other path, checked, and swapped back: nobody would see it."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a folder twice")
    job = make_oracle_job(tmp_path / "work")
    (tmp_path / "again").mkdir()
    check = "cd ../again/freeze-gate/fixtures; for pin in *; do mv $pin ../saved; cp /etc/passwd $pin; done; cat $pin"
    mounted = f'mount --bind {tmp_path}/work {tmp_path}/again && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", mounted, "sh", *oracle_command("--", "sh", "-c", check)]
    done = subprocess.run(command, cwd=job.folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == PAYLOAD.decode()
    assert "Read-only file system" in done.stderr
    assert job.record().oracle.egress == "sealed"


def test_a_pin_that_is_mounted_twice_cannot_be_changed_by_the_other_path(tmp_path: Path) -> None:
    """A mount can be of one file: the pin cannot be overwritten and restored through it."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file twice")
    job = make_oracle_job(tmp_path)
    (tmp_path / "again").touch()
    mounted = f'mount --bind {job.pin()} {tmp_path}/again && exec "$@"'
    overwrite = oracle_command("--", "sh", "-c", "chmod u+w again; echo forged >again; cat {fixture}")
    command = ["unshare", "--mount", "sh", "-c", mounted, "sh", *overwrite]
    done = subprocess.run(command, cwd=job.folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == PAYLOAD.decode()
    assert "Read-only file system" in done.stderr
    assert (job.record().oracle_passed, job.record().oracle.egress) == (True, "sealed")


def test_the_machine_s_own_name_is_no_network_attempt(tmp_path: Path) -> None:
    """A log line asks for it. It need not stand in /etc/hosts: a container's name often does not."""
    if os.geteuid() != 0:
        pytest.skip("only root can rename the machine, for a namespace")
    job = make_oracle_job(tmp_path)
    program = "import socket; print(socket.getfqdn(), socket.gethostbyname(socket.gethostname()))"
    named = 'hostname unlisted-name && exec "$@"'
    command = ["unshare", "--uts", "sh", "-c", named, "sh", *oracle_command("--", sys.executable, "-c", program)]
    done = subprocess.run(command, cwd=job.folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "unlisted-name 127.0.1.1\n", done.stderr
    assert job.record().oracle.egress_attempts == 0


@SEALABLE
def test_neither_the_pin_nor_the_record_nor_a_folder_above_can_be_changed(environment: UserEnvironment) -> None:
    """The pin cannot be swapped and swapped back, not even by moving a folder that it is in."""
    swap = (
        "cp {fixture} copy; echo forged >forged;"
        " mv forged {fixture} && echo swapped; rm -f {fixture} && echo removed; chmod u+w {fixture} && echo writable;"
        " echo x >freeze-gate/records/sorted.json && echo edited; mv freeze-gate away && echo moved;"
        " mv $PWD $PWD.away && echo moved; exit 0"
    )
    with make_home(environment) as home:
        done = run_python_in(environment, home, *ORACLE, "--", "sh", "-c", swap)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert OracleJob(home).record().oracle_passed is True


@SEALABLE
def test_a_killed_launcher_takes_the_oracle_with_it(environment: UserEnvironment) -> None:
    """Also if the supervisor is root's, which the launcher could not kill."""
    mark = unique_seconds()
    program = (
        "import subprocess, sys; running = subprocess.Popen([sys.executable, *sys.argv[1:]], stdout=-1);"
        " running.stdout.readline(); running.kill(); running.wait()"
    )
    with make_home(environment) as home:
        run_python_in(
            environment, home, "-c", program, *ORACLE, "--", "sh", "-c", f"echo up; setsid sleep {mark} & sleep {mark}"
        )
        assert wait_until_gone(f"sleep {mark}")
        record = OracleJob(home).record()
        assert (record.oracle_passed, record.oracle.outcome, record.oracle.runs) == (False, "crashed", 1)


@SEALABLE
def test_nothing_of_a_grandchild_arrives_and_all_of_it_is_counted(environment: UserEnvironment) -> None:
    """TCP, UDP, a look-up, IPv6, sockets below `/run`: none reaches a listener of the job, and those of IP count."""
    environment = environment._replace(addresses=True)
    with make_home(environment) as home:
        done = run_python_in(environment, home, *LISTENER, *ORACLE, "--", PYTHON, "network_probe.py")
        assert done.stdout == "0 []\n", done.stderr
        assert OracleJob(home).record().oracle.egress_attempts == 5


def test_without_a_seal_all_of_it_arrives() -> None:
    """The same oracle with `--allow-egress` does reach the listener: what the seal stops is real."""
    environment = UserEnvironment(addresses=True)
    with make_home(environment) as home:
        done = run_python_in(environment, home, *LISTENER, *ORACLE, "--allow-egress", "--", PYTHON, "network_probe.py")
        assert done.stdout == "0 ['abstract', 'engine', 'linked', 'name', 'tcp', 'tcp6', 'udp', 'udp6']\n", done.stderr
        assert OracleJob(home).record().oracle.egress == "open"
        assert OracleJob(home).record().oracle.egress_attempts is None


@pytest.mark.parametrize(
    "environment",
    [
        UserEnvironment(limits=("max_user_namespaces",)),
        UserEnvironment(limits=("max_net_namespaces",), sudo=True),
        UserEnvironment(limits=("max_net_namespaces",), uid=0),
        UserEnvironment(limits=("max_mnt_namespaces",), uid=0),
    ],
    ids=["no user namespaces and no sudo", "no network namespaces", "not even as root", "no mount namespaces"],
)
def test_where_no_seal_can_be_made_nothing_runs(environment: UserEnvironment) -> None:
    """The command does not run, the record says `not_run` and null, the message names the cause and three remedies."""
    with make_home(environment) as home:
        done = run_python_in(environment, home, *ORACLE, "--", "touch", "ran")
        assert done.returncode == 3
        assert not (home / "ran").exists()
        assert "No space left on device (a limit below /proc/sys/user is used up, or 0)" in done.stderr
        for remedy in ("sudo -n", "kernel.apparmor_restrict_unprivileged_userns=0", "--allow-egress"):
            assert remedy in done.stderr
        record = OracleJob(home).record()
        assert (record.oracle_passed, record.oracle.outcome, record.oracle.egress) == (None, "not_run", None)


def test_the_message_of_sudo_is_part_of_the_cause() -> None:
    """If sudo wants a password, the message says so: it is the line that the user needs."""
    environment = UserEnvironment(limits=("max_user_namespaces",))
    with make_home(environment._replace(sudo=True)) as home:
        (home / "etc/sudoers").write_text("root ALL=(ALL) ALL\n")
        done = run_python_in(environment, home, *ORACLE, "--", "true")
        assert done.returncode == 3
        assert "with sudo: starting: sudo: a password is required" in done.stderr


def test_a_program_called_sudo_is_not_trusted_for_its_name() -> None:
    """The kernel says whether the supervisor is root's: a program of that name in the search path is refused."""
    environment = UserEnvironment(limits=("max_user_namespaces",))
    with make_home(environment) as home:
        forgery = home / "sudo"
        forgery.write_text(f"#!{home}/{PYTHON}\n{FORGERY}")
        forgery.chmod(0o755)
        done = run_python_in(environment, home, *ORACLE, "--", "touch", "ran", path=f"{home}:{os.environ['PATH']}")
        assert done.returncode == 3
        assert OracleJob(home).record().oracle_passed is None


@pytest.mark.parametrize(
    ("environment", "cause"),
    [
        (UserEnvironment(limits=("max_pid_namespaces",)), "making a process namespace"),
        (UserEnvironment(limits=("max_pid_namespaces",), uid=0), "making a process namespace"),
        (
            UserEnvironment(limits=("max_pid_namespaces", "max_user_namespaces"), sudo=True),
            "making a process namespace",
        ),
        (UserEnvironment(masked=True), "mounting /proc"),
    ],
    ids=["user namespace", "root", "sudo", "masked /proc"],
)
def test_without_a_process_namespace_nothing_runs(environment: UserEnvironment, cause: str) -> None:
    """A seal that shows the user's other processes is refused: through `/proc` an oracle could swap pin and record."""
    with make_home(environment) as home:
        done = run_python_in(environment, home, *ORACLE, "--", "touch", "ran")
        assert done.returncode == 3
        assert f"{cause}: " in done.stderr
        assert not (home / "ran").exists()
        record = OracleJob(home).record()
        assert (record.oracle_passed, record.oracle.outcome, record.oracle.egress) == (None, "not_run", None)


def test_an_oracle_without_a_seal_cannot_look_into_the_launcher() -> None:
    """With `--allow-egress` the oracle is one more process of the same user; it cannot read the launcher."""
    climb = (
        "p=$PPID; while [ $p -gt 1 ]; do cat /proc/$p/environ >/dev/null && echo read $p;"
        " p=$(cut -d' ' -f4 /proc/$p/stat); done"
    )
    with make_home(ORDINARY) as home:
        done = run_python_in(ORDINARY, home, *ORACLE, "--allow-egress", "--", "sh", "-c", climb, start_new_session=True)
        assert "read" not in done.stdout, done.stdout
