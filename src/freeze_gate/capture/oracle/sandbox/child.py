"""The command's parent: it drops its privileges, runs the command, and ends in the way that the command ended."""

import json
import os
import resource
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NoReturn

from freeze_gate.capture.oracle.sandbox.linux import SetupError, setup_step
from freeze_gate.capture.oracle.sandbox.namespaces import drop_privileges, is_hidden
from freeze_gate.capture.oracle.sandbox.protocol import PeerCredentials, SandboxRequest

COMMAND_NOT_FOUND: Final = 127
COMMAND_NOT_EXECUTABLE: Final = 126
"""The exit statuses of a shell for these two."""

_NO_ANSWER: Final = '["preparing the command", "its parent process ended early"]'


def fork_child(
    request: SandboxRequest, caller: PeerCredentials, streams: Sequence[int], close_inherited: Callable[[], None]
) -> tuple[int, int]:
    """Fork a child that is ready to run the command: its pid, and the descriptor where a byte starts the command.

    `close_inherited` closes what the child must not hold. Raises `SetupError`.
    """
    start_read, start_write = os.pipe()
    ready_read, ready_write = os.pipe()
    child = os.fork()
    if child == 0:
        close_inherited()
        os.close(start_write)
        _child_main(request, caller, streams, start_read, ready_write)
    for descriptor in (start_read, ready_write, *streams):
        os.close(descriptor)
    with open(ready_read, "rb") as answer:  # noqa: PTH123 - a descriptor
        error = json.loads(answer.read() or _NO_ANSWER)
    if error:
        raise SetupError(*error)
    return child, start_write


def _child_main(
    request: SandboxRequest, caller: PeerCredentials, streams: Sequence[int], start_read: int, ready_write: int
) -> NoReturn:
    status = COMMAND_NOT_EXECUTABLE
    try:
        os.setsid()  # no controlling terminal, and Ctrl-C reaches only the launcher
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.umask(request.umask)
        if request.isolation is not None:
            drop_privileges(caller.uid, caller.gid, request.groups, user_namespace=request.isolation.user_namespace)
        with setup_step(f"entering {request.folder}"):
            os.chdir(request.folder)
        os.write(ready_write, b"[]")
        os.close(ready_write)
        if os.read(start_read, 1):
            status = _run(request)
    except SetupError as error:
        os.write(ready_write, json.dumps([error.step, error.cause]).encode())
    finally:
        os._exit(status)


def _run(request: SandboxRequest) -> int:
    """Run the command and return its exit status; if a signal ended it, end this process by the same signal."""
    command = os.fork()
    if command == 0:
        _exec(request)
    status = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
    hidden = [folder for folder in os.get_exec_path(request.environ) if is_hidden(folder)]
    if status == COMMAND_NOT_FOUND and request.isolation is not None and hidden:
        text = f"PATH names {', '.join(map(ascii, hidden))}, which the seal hides: a program there is missing inside"
        os.write(2, f"freeze-gate oracle: {text}\n".encode())
    if status < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the command's own core dump is enough
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [-status])
        if -status not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def _exec(request: SandboxRequest) -> NoReturn:
    status, cause = COMMAND_NOT_EXECUTABLE, "the system does not accept its arguments or environment"
    program = request.command[0]
    try:
        os.execvpe(program, request.command, request.environ)  # noqa: S606 - the user's own command, without a shell
    except OSError as error:
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            status = COMMAND_NOT_FOUND
        cause = error.strerror or cause
        folders = [""] if "/" in program else os.get_exec_path(request.environ)
        is_there = any(os.path.lexists(Path(folder, program)) for folder in folders)
        if request.isolation is not None and status == COMMAND_NOT_FOUND and is_there:
            cause += "; it is a link or a script that leads to what is not there, and the seal hides /run"
    finally:
        os.write(2, f"freeze-gate oracle: {program!a}: {cause}\n".encode())
        os._exit(status)
