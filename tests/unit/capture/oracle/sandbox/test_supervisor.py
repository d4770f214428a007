"""The supervisor as a launcher sees it: a process that answers over a socket. None of this needs a right."""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from freeze_gate.capture.oracle.sandbox.protocol import Channel, SandboxRequest, SandboxResult, encode_request

PROGRAM = (
    "import os, sys; from freeze_gate.capture.oracle.sandbox.supervisor import main; main(sys.argv[1], os.environ)"
)
ENVIRON = {name: value for name, value in os.environ.items() if name != "SUDO_UID"}  # the tests may run under sudo
REQUEST = SandboxRequest(["true"], "/", ENVIRON, 0o22, [], None, None)

Start = Callable[..., tuple[subprocess.Popen[bytes], Channel]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts a supervisor, with variables added to its environment, and accepts it."""
    with contextlib.ExitStack() as cleanup:

        def start_supervisor(**variables: str) -> tuple[subprocess.Popen[bytes], Channel]:
            listener = cleanup.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            listener.bind("")
            listener.listen(1)
            listener.settimeout(60)
            command = [sys.executable, "-c", PROGRAM, listener.getsockname().hex()]
            process = subprocess.Popen(command, env=ENVIRON | variables, stderr=subprocess.PIPE)
            cleanup.callback(process.communicate, timeout=60)
            channel = Channel(listener.accept()[0])
            cleanup.callback(channel.close)
            return process, channel

        yield start_supervisor


def _send(channel: Channel, request: SandboxRequest) -> None:
    with open(os.devnull, "r+b") as null:  # noqa: PTH123 - for its descriptor
        channel.send_streams([null.fileno()] * 3)
    channel.send(**encode_request(request))


def test_a_request_of_another_user_than_sudos_is_refused(start: Start) -> None:
    """A supervisor that sudo started as root serves only the user who called sudo."""
    _, channel = start(SUDO_UID=str(os.getuid() + 1))
    assert channel.receive()["cause"] == "it is not the user who called sudo"


@pytest.mark.parametrize(
    ("command", "exit_status"),
    [
        (["true"], 0),
        (["sh", "-c", "exit 3"], 3),
        (["sh", "-c", "kill -TERM $$"], -15),
        (["/no/such/command"], 127),
        (["/etc/passwd"], 126),
        (["sleep", "\0"], 126),
    ],
)
def test_the_command_waits_for_the_start_message(start: Start, command: list[str], exit_status: int) -> None:
    """After `ready` the launcher writes its record; only then it starts the command, and gets the exit status."""
    _, channel = start()
    _send(channel, REQUEST._replace(command=command))
    assert channel.receive() == {"ready": True}
    channel.send(go=True)
    result = SandboxResult(**channel.receive())
    assert (result.exit_status, result.egress_attempts, result.survivors) == (exit_status, None, 0)


def test_the_time_limit_has_no_exit_status(start: Start) -> None:
    """A command that does not end in time is killed; its exit status is None."""
    _, channel = start()
    _send(channel, REQUEST._replace(command=["sleep", "600"], timeout=0.1))
    assert channel.receive() == {"ready": True}
    channel.send(go=True)
    assert SandboxResult(**channel.receive()).exit_status is None


def test_a_folder_that_is_gone_is_a_setup_error(start: Start) -> None:
    """What fails before the command starts is named with its step."""
    _, channel = start()
    _send(channel, REQUEST._replace(folder="/no/such/folder"))
    assert channel.receive() == {"step": "entering /no/such/folder", "cause": "No such file or directory"}


def test_a_supervisor_without_a_launcher_ends(start: Start) -> None:
    """When the launcher goes away before it starts the command, the supervisor ends with exit status 1."""
    process, channel = start()
    _send(channel, REQUEST._replace(command=["sleep", "600"]))
    assert channel.receive() == {"ready": True}
    channel.close()
    assert process.wait(60) == 1
