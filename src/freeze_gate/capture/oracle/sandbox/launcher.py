"""Starting a command in a sandbox: the side of `freeze-gate oracle`.

The first method that works is used: as root, with a user namespace, or with `sudo -n`, which starts the supervisor as
root and runs the command as the caller again. Hosted runners forbid user namespaces and allow sudo.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

import freeze_gate
from freeze_gate.capture.oracle.sandbox.linux import SetupError, setup_step
from freeze_gate.capture.oracle.sandbox.namespaces import is_hidden
from freeze_gate.capture.oracle.sandbox.protocol import (
    STANDARD_STREAMS,
    Channel,
    ConnectionLost,
    Isolation,
    SandboxRequest,
    SandboxResult,
    encode_request,
)
from freeze_gate.validation.readers import CONTROL_CHARACTERS

_PACKAGE_FOLDER: Final = str(Path(freeze_gate.__file__).resolve().parents[1])
_PROGRAM: Final = (
    "import os, sys; sys.path.append(sys.argv[1]);"
    " from freeze_gate.capture.oracle.sandbox.supervisor import main; main(sys.argv[2], os.environ)"
)
_HANDSHAKE_TIMEOUT: Final = 60.0
"""Seconds for a supervisor to prepare, and to clean up: sudo may wait for a slow directory service."""
_POLL_INTERVAL: Final = 0.1
_MAX_STDERR: Final = 300
"""Characters of a supervisor's stderr that are shown."""


_REMEDIES: Final = (
    "Do one of these: allow this user to run `sudo -n` (hosted runners do; a job container needs"
    " `options: --privileged`); allow user namespaces with"
    " `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`;"
    " or pass --allow-egress, which leaves the network on and is recorded as `open`"
)


class SandboxUnavailable(Exception):
    """The command cannot be started in a sandbox on this machine; `str()` has the causes and the remedies."""


class Method(NamedTuple):
    """A way to start a supervisor: what stands before its command line, and what it makes."""

    name: str
    prefix: tuple[str, ...] = ()
    user_namespace: bool = False
    is_sealed: bool = True


AS_ROOT: Final = Method("as root")
WITH_USER_NAMESPACE: Final = Method("with a user namespace", user_namespace=True)
WITHOUT_SEAL: Final = Method("without a seal", is_sealed=False)


def with_sudo(program: str, environ: Mapping[str, str]) -> Method:
    """Use sudo, without a password. It drops `LD_LIBRARY_PATH`, which a Python may need."""
    libraries = environ.get("LD_LIBRARY_PATH")
    restore = ("env", f"LD_LIBRARY_PATH={libraries}") if libraries else ()
    return Method("with sudo", (program, "-n", "--", *restore))


def available_methods(environ: Mapping[str, str]) -> list[Method]:
    """List the methods that may work for this user, best first; none outside Linux."""
    if not sys.platform.startswith("linux"):
        return []
    if os.geteuid() == 0:
        return [AS_ROOT, WITH_USER_NAMESPACE]
    sudo = shutil.which("sudo", path=environ.get("PATH"))
    return [WITH_USER_NAMESPACE, *([with_sudo(sudo, environ)] if sudo else [])]


class SandboxProcess:
    """A supervisor that has prepared the command and waits for `run`. `close` ends it and everything it started."""

    def __init__(self, process: subprocess.Popen[bytes], channel: Channel, request: SandboxRequest) -> None:
        self.is_sealed = request.isolation is not None
        self._timeout = None if request.timeout is None else request.timeout + _HANDSHAKE_TIMEOUT
        self._process = process
        self._channel = channel

    def run(self) -> SandboxResult:
        """Start the command and wait for its end. Raises `ConnectionLost` if the supervisor is killed meanwhile."""
        self._channel.connection.settimeout(self._timeout)
        self._channel.send(go=True)
        return SandboxResult(**self._channel.receive())

    def close(self) -> None:
        """Disconnect, and wait until the supervisor has ended everything."""
        self._channel.close()
        _wait(self._process)


def prepare(request: SandboxRequest, bundle: Path, methods: Sequence[Method]) -> SandboxProcess:
    """Prepare the command by the first method that works. Raises `SandboxUnavailable`."""
    if any(method.is_sealed for method in methods) and (program := find_hidden_program(request)):
        raise SandboxUnavailable(
            f"{program} is below /run, which the seal hides, so the command would be missing inside: install it"
            " elsewhere and put that folder into PATH, or pass --allow-egress, which is recorded as `open`"
        )
    causes = []
    for method in methods:
        isolation = Isolation(method.user_namespace, str(bundle)) if method.is_sealed else None
        try:
            return _start(method, request._replace(isolation=isolation))
        except SetupError as error:
            causes.append(f"{method.name}: {error}")
    raise SandboxUnavailable(f"{'; '.join(causes)}. {_REMEDIES}")


def find_hidden_program(request: SandboxRequest) -> str | None:
    """Return the program of a command if it is there, and the seal hides the place that the command or `PATH` names.

    A link and a script's first line do not count: the tested tree can hold both, and must not decide that it is not
    judged.
    """
    path = shutil.which(request.command[0], path=request.environ.get("PATH"))
    return path if path is not None and is_hidden(path) else None


def _start(method: Method, request: SandboxRequest) -> SandboxProcess:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, tempfile.TemporaryFile() as stderr:
        listener.bind("")  # the kernel chooses an abstract name: nothing on disk to clean up
        listener.listen(1)
        address = listener.getsockname().hex()
        with setup_step("starting"):
            process = subprocess.Popen(  # noqa: S603 - the arguments are this module's own
                [*method.prefix, sys.executable, "-I", "-S", "-B", "-c", _PROGRAM, _PACKAGE_FOLDER, address],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                cwd="/",
                env={key: request.environ[key] for key in ("PATH", "LD_LIBRARY_PATH") if key in request.environ},
                start_new_session=True,  # neither the supervisor nor sudo gets the terminal or Ctrl-C
            )
        try:
            with contextlib.ExitStack() as cleanup:
                cleanup.callback(_wait, process)
                cleanup.callback(listener.close)
                channel = _accept(listener, process, method)
                cleanup.callback(channel.close)
                _send_request(channel, request)
                cleanup.pop_all()
        except ConnectionLost:
            raise SetupError("starting", _stderr_tail(stderr)) from None
    return SandboxProcess(process, channel, request)


def _accept(listener: socket.socket, process: subprocess.Popen[bytes], method: Method) -> Channel:
    """Accept the connection of the supervisor and of no other process. Raises `ConnectionLost`."""
    listener.settimeout(_POLL_INTERVAL)
    deadline = time.monotonic() + _HANDSHAKE_TIMEOUT
    while time.monotonic() < deadline:
        try:
            channel = Channel(listener.accept()[0])
        except TimeoutError:
            if process.poll() is not None:
                raise ConnectionLost from None
            continue
        peer = channel.peer()
        is_supervisor = peer.pid == process.pid
        if method.prefix:  # sudo may put a process between, but the supervisor is root's
            is_supervisor = peer.uid == 0
        if is_supervisor:
            return channel
        channel.close()
    raise ConnectionLost


def _send_request(channel: Channel, request: SandboxRequest) -> None:
    """Send the request and wait for `ready`. Raises the supervisor's own `SetupError`, and `ConnectionLost`."""
    channel.connection.settimeout(_HANDSHAKE_TIMEOUT)
    channel.send_streams(range(STANDARD_STREAMS))
    channel.send(**encode_request(request))
    answer = channel.receive()
    if "cause" in answer:
        raise SetupError(answer["step"], answer["cause"])


def _stderr_tail(stderr: IO[bytes]) -> str:
    """Return the end of what sudo or the supervisor wrote to stderr, on one line and without control characters."""
    stderr.seek(0)
    lines = [line.strip() for line in stderr.read().decode(errors="replace").split("\n")]
    return CONTROL_CHARACTERS.sub(" ", ", ".join(filter(None, lines)))[-_MAX_STDERR:] or "no message"


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_HANDSHAKE_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
