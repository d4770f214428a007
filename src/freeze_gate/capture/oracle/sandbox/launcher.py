"""Starting a command in a seal: the supervisor's side.

A seal is made in the first way that works: as root, with a user namespace, or through `sudo -n`, which starts the
keeper as root and runs the command as the caller again. Hosted runners forbid the second way and allow the third.
"""

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
from freeze_gate.capture.oracle.sandbox.linux import Refused
from freeze_gate.capture.oracle.sandbox.protocol import STREAMS, Channel, Ending, Lost, Order, Seal
from freeze_gate.validation.readers import CONTROL_CHARACTERS

_PACKAGES: Final = str(Path(freeze_gate.__file__).resolve().parents[1])
_PROGRAM: Final = (
    "import os, sys; sys.path.append(sys.argv[1]);"
    " from freeze_gate.capture.oracle.sandbox.supervisor import main; main(sys.argv[2], os.environ)"
)
_PATIENCE: Final = 60.0
"""Seconds that a keeper may take to prepare, and to clean up: sudo may ask a slow directory who somebody is."""
_PAUSE: Final = 0.1
_WORDS: Final = 300
"""Characters of a machine's complaint that are shown."""


class NotSealed(Exception):
    """No way of making a seal works on this machine; `str()` is the cause, way by way."""


class Way(NamedTuple):
    """One way to start a keeper: what stands before its command line, and in whose namespaces it builds."""

    name: str
    prefix: tuple[str, ...] = ()
    users: bool = False


AS_ROOT: Final = Way("as root")
WITH_USER_NAMESPACE: Final = Way("with a user namespace", users=True)
_OPEN: Final = Way("without a seal")


def with_sudo(program: str, environ: Mapping[str, str]) -> Way:
    """Go through sudo, without a question. It takes away the search path of libraries, which a Python may need."""
    libraries = environ.get("LD_LIBRARY_PATH")
    return Way("with sudo", (program, "-n", "--", *(["env", f"LD_LIBRARY_PATH={libraries}"] if libraries else [])))


def ways(environ: Mapping[str, str]) -> list[Way]:
    """List the ways that may work for this user, best first; none where there are no namespaces."""
    if not sys.platform.startswith("linux"):
        return []
    if os.geteuid() == 0:
        return [AS_ROOT, WITH_USER_NAMESPACE]
    sudo = shutil.which("sudo", path=environ.get("PATH"))
    return [WITH_USER_NAMESPACE, *([with_sudo(sudo, environ)] if sudo else [])]


class Keeper:
    """A keeper that has prepared the command and waits for the word. `close` ends it, and all that it keeps."""

    def __init__(self, process: subprocess.Popen[bytes], channel: Channel) -> None:
        self._process = process
        self._channel = channel

    def run(self, limit: float | None) -> Ending:
        """Let the command start, and wait for its end. Raises `Lost` where the keeper was ended before it could say."""
        self._channel.connection.settimeout(None if limit is None else limit + _PATIENCE)
        self._channel.send(go=True)
        return Ending(**self._channel.receive())

    def close(self) -> None:
        """Let go of the keeper, and wait until it has ended everything."""
        self._channel.close()
        _wait(self._process)


def prepare_sealed(order: Order, bundle: Path, candidates: Sequence[Way]) -> Keeper:
    """Prepare the command in a seal, in the first way that works. Raises `NotSealed`."""
    causes = []
    for way in candidates:
        try:
            return _start(way, order._replace(seal=Seal(way.users, str(bundle))))
        except Refused as refusal:
            causes.append(f"{way.name}: {refusal}")
    raise NotSealed("; ".join(causes))


def prepare_open(order: Order) -> Keeper:
    """Prepare the command with the network as it is. Raises `NotSealed` where not even that is possible."""
    try:
        return _start(_OPEN, order._replace(seal=None))
    except Refused as refusal:
        raise NotSealed(str(refusal)) from None


def _start(way: Way, order: Order) -> Keeper:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, tempfile.TemporaryFile() as complaints:
        listener.bind("")  # the kernel draws an abstract name: nothing on disk, nothing to clean up
        listener.listen(1)
        try:
            process = _launch(way, listener.getsockname(), order.environ, complaints)
        except OSError as error:
            raise Refused.by("starting", error) from None
        keeper = None
        try:
            channel = _accept(listener, process, needs_root=bool(way.prefix))
            keeper = Keeper(process, channel)
            _brief(channel, order)
        except BaseException as error:
            listener.close()
            (keeper.close if keeper else lambda: _wait(process))()
            if isinstance(error, Lost):
                raise Refused("starting", _last_words(complaints)) from None
            raise
    return keeper


def _launch(way: Way, name: bytes, environ: Mapping[str, str], complaints: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a keeper outside the caller's session, so that no terminal and no Ctrl-C reaches it, or sudo."""
    return subprocess.Popen(  # noqa: S603 - words of this module's own
        [*way.prefix, sys.executable, "-I", "-S", "-B", "-c", _PROGRAM, _PACKAGES, name.hex()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=complaints,
        cwd="/",
        env={key: environ[key] for key in ("PATH", "LD_LIBRARY_PATH") if key in environ},
        start_new_session=True,
    )


def _accept(listener: socket.socket, process: subprocess.Popen[bytes], *, needs_root: bool) -> Channel:
    """Wait for the keeper, and for nobody else: the kernel says who connects. Raises `Lost`."""
    listener.settimeout(_PAUSE)
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        try:
            channel = Channel(listener.accept()[0])
        except TimeoutError:
            if process.poll() is not None:
                raise Lost from None
            continue
        peer = channel.peer()
        if peer.uid == 0 if needs_root else peer.pid == process.pid:
            return channel
        channel.close()
    raise Lost


def _brief(channel: Channel, order: Order) -> None:
    """Give the keeper its order, and wait until it is ready. Raises `Refused` in the keeper's words, and `Lost`."""
    channel.connection.settimeout(_PATIENCE)
    channel.send_streams([_stream(number) for number in range(STREAMS)])
    channel.send(**order._asdict())
    answer = channel.receive()
    if "refused" in answer:
        raise Refused(answer["step"], answer["refused"])


def _stream(number: int) -> int:
    """Return a standard stream's descriptor; where it is closed, one that reads and writes nothing."""
    try:
        os.fstat(number)
    except OSError:
        return os.open(os.devnull, os.O_RDWR)
    return number


def _last_words(complaints: IO[bytes]) -> str:
    """Quote what sudo or the keeper complained of, cleaned and cut: it is shown to a person."""
    complaints.seek(0)
    lines = complaints.read().decode(errors="replace").split("\n")
    return (
        CONTROL_CHARACTERS.sub(" ", ", ".join(line.strip() for line in lines if line.strip()))[-_WORDS:]
        or "it said nothing"
    )


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
