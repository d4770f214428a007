"""The seal where jobs really run: as another user, through a real sudo, and where it cannot be made."""

import os

import pytest

from tests.support.oracle_job import Job, gone, unique_seconds
from tests.support.user_environment import home_of, run_in
from tests.support.user_environment_setup import EXTRA_GROUP, GID, PYTHON, Place

ORACLE = ("-m", "freeze_gate", "oracle", "--id", "sorted")
LISTENER = ("network_probe.py", "--listen", PYTHON)
HOSTED = Place(sudo=True, limits=("max_user_namespaces",))
"""As on hosted runners: an ordinary user who may make no user namespace, and may use sudo."""

ORDINARY = Place()
AS_ROOT = Place(uid=0)
FORGERY = """
import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect(bytes.fromhex(sys.argv[-1]))
connection.recv(1)
connection.sendall(b'{"ready": true}\\n{"exit_status": 0, "seconds": 0, "egress_attempts": 0, "survivors": 0}\\n')
while connection.recv(1 << 16):
    pass
"""

SEALABLE = pytest.mark.parametrize("place", [ORDINARY, HOSTED, AS_ROOT], ids=["user namespace", "sudo", "root"])


@SEALABLE
def test_the_command_runs_as_the_caller_without_any_privilege(place: Place) -> None:
    """Inside, the user and the groups are the caller's; no capability is left, and none can be gained."""
    with home_of(place) as home:
        done = run_in(place, home, *ORACLE, "--", "sh", "-c", "id -u; id -g; umask; cat /proc/self/status", umask=0o27)
        assert done.returncode == 0, done.stderr
        uid, gid, umask, *status = done.stdout.splitlines()
        assert (uid, gid, umask) == (str(place.uid), str(GID if place.uid else 0), "0027")
        facts = dict(line.split(":\t", 1) for line in status if ":\t" in line)
        assert {facts[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
        assert facts["NoNewPrivs"] == "1"
        assert Job(home).record().oracle.egress == "sealed"


def test_sudo_restores_every_group_of_the_caller() -> None:
    """A file that only a second group may read is readable inside, though root started the seal."""
    with home_of(HOSTED) as home:
        done = run_in(HOSTED, home, *ORACLE, "--", "sh", "-c", "id -G")
        assert sorted(done.stdout.split()) == [str(GID), str(EXTRA_GROUP)]


@SEALABLE
def test_o8_no_privileged_program_leads_out(place: Place) -> None:
    """O8: sudo, nsenter into the parents' namespaces, and a new user namespace give back neither network nor bundle."""
    escape = (
        "sudo -n true && echo escaped;"
        " nsenter -t $PPID -n true && echo escaped; nsenter -t 1 -n true && echo escaped;"
        " unshare -Urm sh -c 'umount /run && echo escaped; mount -o remount,bind,rw freeze-gate && echo escaped;"
        " echo x >freeze-gate/records/sorted.json && echo escaped'; exit 0"
    )
    with home_of(place) as home:
        done = run_in(place._replace(sudo=True), home, *ORACLE, "--", "sh", "-c", escape)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr


@SEALABLE
def test_o8_neither_the_pin_nor_the_record_nor_a_folder_above_can_be_changed(place: Place) -> None:
    """O8: the pin cannot be swapped and swapped back, not even by moving a folder that it is in."""
    swap = (
        "cp {fixture} copy; echo forged >forged;"
        " mv forged {fixture} && echo swapped; rm -f {fixture} && echo removed; chmod u+w {fixture} && echo writable;"
        " echo x >freeze-gate/records/sorted.json && echo edited; mv freeze-gate away && echo moved;"
        " mv $PWD $PWD.away && echo moved; exit 0"
    )
    with home_of(place) as home:
        done = run_in(place, home, *ORACLE, "--", "sh", "-c", swap)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert Job(home).record().oracle_passed is True


@SEALABLE
def test_o5_a_killed_supervisor_takes_the_oracle_with_it(place: Place) -> None:
    """O5: also where root keeps the oracle, which the supervisor itself could not end."""
    mark = unique_seconds()
    program = (
        "import subprocess, sys; running = subprocess.Popen([sys.executable, *sys.argv[1:]], stdout=-1);"
        " running.stdout.readline(); running.kill(); running.wait()"
    )
    with home_of(place) as home:
        run_in(place, home, "-c", program, *ORACLE, "--", "sh", "-c", f"echo up; setsid sleep {mark} & sleep {mark}")
        assert gone(f"sleep {mark}")
        record = Job(home).record()
        assert (record.oracle_passed, record.oracle.outcome, record.oracle.runs) == (False, "crashed", 1)


@SEALABLE
def test_nothing_of_a_grandchild_arrives_and_all_of_it_is_counted(place: Place) -> None:
    """TCP, UDP, a look-up, IPv6, sockets below `/run`: none reaches a listener of the job, and those of IP count."""
    place = place._replace(addresses=True)
    with home_of(place) as home:
        done = run_in(place, home, *LISTENER, *ORACLE, "--", PYTHON, "network_probe.py")
        assert done.stdout == "0 []\n", done.stderr
        assert Job(home).record().oracle.egress_attempts == 5


def test_without_a_seal_all_of_it_arrives() -> None:
    """The same oracle with `--allow-egress` does reach the listener: what the seal stops is real."""
    place = Place(addresses=True)
    with home_of(place) as home:
        done = run_in(place, home, *LISTENER, *ORACLE, "--allow-egress", "--", PYTHON, "network_probe.py")
        assert done.stdout == "0 ['abstract', 'engine', 'linked', 'name', 'tcp', 'tcp6', 'udp', 'udp6']\n", done.stderr
        assert Job(home).record().oracle.egress == "open"
        assert Job(home).record().oracle.egress_attempts is None


@pytest.mark.parametrize(
    "place",
    [
        Place(limits=("max_user_namespaces",)),
        Place(limits=("max_net_namespaces",), sudo=True),
        Place(limits=("max_net_namespaces",), uid=0),
        Place(limits=("max_mnt_namespaces",), uid=0),
    ],
    ids=["no user namespaces and no sudo", "no network namespaces", "not even as root", "no mount namespaces"],
)
def test_o1_where_no_seal_can_be_made_nothing_runs(place: Place) -> None:
    """O1: the command does not run, the record says `not_run` and null, the message names the cause and three cures."""
    with home_of(place) as home:
        done = run_in(place, home, *ORACLE, "--", "touch", "ran")
        assert done.returncode == 3
        assert not (home / "ran").exists()
        assert "No space left on device (a limit below /proc/sys/user is used up, or 0)" in done.stderr
        for cure in ("sudo -n", "kernel.apparmor_restrict_unprivileged_userns=0", "--allow-egress"):
            assert cure in done.stderr
        record = Job(home).record()
        assert (record.oracle_passed, record.oracle.outcome, record.oracle.egress) == (None, "not_run", None)


def test_o1_what_sudo_says_is_part_of_the_cause() -> None:
    """Where sudo wants a password, the message says so: it is the line that a person needs."""
    place = Place(limits=("max_user_namespaces",))
    with home_of(place._replace(sudo=True)) as home:
        (home / "etc/sudoers").write_text("root ALL=(ALL) ALL\n")
        done = run_in(place, home, *ORACLE, "--", "true")
        assert done.returncode == 3
        assert "with sudo: starting: sudo: a password is required" in done.stderr


def test_a_program_that_only_claims_to_be_sudo_is_not_believed() -> None:
    """The kernel says whether root keeps the oracle: a program in the search path cannot report for it."""
    place = Place(limits=("max_user_namespaces",))
    with home_of(place) as home:
        forgery = home / "sudo"
        forgery.write_text(f"#!{home}/{PYTHON}\n{FORGERY}")
        forgery.chmod(0o755)
        done = run_in(place, home, *ORACLE, "--", "touch", "ran", path=f"{home}:{os.environ['PATH']}")
        assert done.returncode == 3
        assert Job(home).record().oracle_passed is None


@pytest.mark.parametrize(
    ("place", "cause"),
    [
        (Place(limits=("max_pid_namespaces",)), "making a process namespace"),
        (Place(limits=("max_pid_namespaces",), uid=0), "making a process namespace"),
        (Place(limits=("max_pid_namespaces", "max_user_namespaces"), sudo=True), "making a process namespace"),
        (Place(masked=True), "mounting /proc"),
    ],
    ids=["user namespace", "root", "sudo", "masked /proc"],
)
def test_without_a_process_namespace_nothing_runs(place: Place, cause: str) -> None:
    """A seal that shows the user's other processes is not a seal: through `/proc` they could swap pin and record."""
    with home_of(place) as home:
        done = run_in(place, home, *ORACLE, "--", "touch", "ran")
        assert done.returncode == 3
        assert f"{cause}: " in done.stderr
        assert not (home / "ran").exists()
        record = Job(home).record()
        assert (record.oracle_passed, record.oracle.outcome, record.oracle.egress) == (None, "not_run", None)


def test_an_oracle_without_a_seal_cannot_look_into_the_supervisor() -> None:
    """With `--allow-egress` the oracle is one more process of the same user; the supervisor is closed to it."""
    climb = (
        "p=$PPID; while [ $p -gt 1 ]; do cat /proc/$p/environ >/dev/null && echo read $p;"
        " p=$(cut -d' ' -f4 /proc/$p/stat); done"
    )
    with home_of(ORDINARY) as home:
        done = run_in(ORDINARY, home, *ORACLE, "--allow-egress", "--", "sh", "-c", climb, start_new_session=True)
        assert "read" not in done.stdout, done.stdout
