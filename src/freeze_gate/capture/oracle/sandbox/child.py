"""The command's parent: the caller again, without privileges; it starts the command and ends as the command ended."""

import json
import os
import resource
import signal
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

from freeze_gate.capture.oracle.sandbox import linux as kernel
from freeze_gate.capture.oracle.sandbox import namespaces as room
from freeze_gate.capture.oracle.sandbox.protocol import Order, Peer

MISSING: Final = 127
NOT_EXECUTABLE: Final = 126
"""The exit statuses of a shell for a command that is not there, and for one that cannot be executed."""

_ENDED: Final = '["preparing the command", "its parent ended early"]'


def fork_guard(order: Order, caller: Peer, streams: Sequence[int], forget: Callable[[], None]) -> tuple[int, int]:
    """Fork a guard that is ready for the command: its pid, and the descriptor where a byte starts it.

    `forget` closes what the guard must not hold. Raises `Refused`.
    """
    waits, starts = os.pipe()
    reads, says = os.pipe()
    guard = os.fork()
    if guard == 0:
        forget()
        os.close(starts)
        _serve(order, caller, streams, waits, says)
    for descriptor in (waits, says, *streams):
        os.close(descriptor)
    with open(reads, "rb") as answer:  # noqa: PTH123 - a descriptor
        refusal = json.loads(answer.read() or _ENDED)
    if refusal:
        raise kernel.Refused(*refusal)
    return guard, starts


def _serve(order: Order, caller: Peer, streams: Sequence[int], waits: int, says: int) -> NoReturn:
    status = NOT_EXECUTABLE
    try:
        _become_caller(order, caller, streams)
        os.write(says, b"[]")
        os.close(says)
        if os.read(waits, 1):
            status = _run(order)
    except kernel.Refused as refusal:
        os.write(says, json.dumps([refusal.step, refusal.cause]).encode())
    finally:
        os._exit(status)


def _become_caller(order: Order, caller: Peer, streams: Sequence[int]) -> None:
    os.setsid()  # no terminal to type into, and no Ctrl-C past the supervisor
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    os.umask(order.umask)
    if order.seal is not None:
        room.leave_privileges(caller.uid, caller.gid, order.groups, users=order.seal.users)
    kernel.step(f"entering {order.folder}", lambda: os.chdir(order.folder))


def _run(order: Order) -> int:
    """Run the command and return its exit status; where a signal ended it, end by the same one."""
    command = os.fork()
    if command == 0:
        _become_command(order)
    status = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
    if status < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the command's own dump is enough
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [-status])
        if -status not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def _become_command(order: Order) -> NoReturn:
    status, cause = NOT_EXECUTABLE, "it cannot be handed to the system"
    try:
        os.execvpe(order.words[0], order.words, order.environ)  # noqa: S606 - the user's own command, without a shell
    except OSError as error:
        status = MISSING if isinstance(error, FileNotFoundError | NotADirectoryError) else NOT_EXECUTABLE
        cause = error.strerror or cause
    finally:
        os.write(2, f"freeze-gate oracle: {order.words[0]!a}: {cause}\n".encode())
        os._exit(status)
