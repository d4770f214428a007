"""The lane itself: receives a pin and a tree, seals the command, waits for `go`, and says how it ended.

It ends everything when its input is closed, for whatever reason, and leaves no file behind. One that is killed cannot
remove its folder: the next one does.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from freeze_gate.capture.bundle.store import Store
from freeze_gate.capture.lane.protocol import MAX_LINE, InvalidMessage, Ready, Request, encode, read_request
from freeze_gate.capture.lane.tree import unpack_tree
from freeze_gate.capture.oracle.local import LocalOracle, Workspace, prepare_local
from freeze_gate.capture.oracle.process import OracleResult, OracleSpec
from freeze_gate.capture.oracle.sandbox.launcher import WITHOUT_SEAL, available_methods
from freeze_gate.capture.oracle.signals import Interrupted, ignore_termination, raise_on_termination
from freeze_gate.errors import NoVerdictError
from freeze_gate.evidence.digest import CHUNK, Sha256
from freeze_gate.validation.readers import CONTROL_CHARACTERS
from freeze_gate.version import VERSION

_PREFIX: Final = "freeze-gate-lane-"
_LOCK: Final = ".lock"
_MAX_CAUSE: Final = 1_000


class NearSideLost(Exception):
    """The near side closed the connection, or sent what is no message."""


class _Refused(Exception):
    """The lane cannot do what the request asks for; another try would end in the same way."""


class Connection:
    """The near side, through this process's standard input and output. Messages of two threads do not mix."""

    def __init__(self, incoming: BinaryIO, outgoing: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._lock = threading.Lock()
        self._has_ended = False

    def send(self, kind: str, content: Any = None) -> None:
        """Send one message. Raises `NearSideLost`."""
        with self._lock:
            self._has_ended = kind == "ended"
            line = encode(kind, content)
            try:
                while line:
                    line = line[os.write(self._outgoing, line) :]
            except OSError:
                raise NearSideLost from None

    def receive_line(self) -> bytes:
        """Wait for one whole line. Raises `NearSideLost`."""
        line = self._incoming.readline(MAX_LINE)
        if not line.endswith(b"\n"):
            raise NearSideLost
        return line

    def body(self, size: int) -> "_Body":
        """Return the next `size` bytes as a stream."""
        return _Body(self._incoming, size)

    @contextlib.contextmanager
    def heartbeat(self, interval: float) -> Iterator[None]:
        """Say `alive` every `interval` seconds inside the block. A near side that is gone ends this process."""
        stop = threading.Event()

        def beat() -> None:
            while not stop.wait(interval):
                try:
                    self.send("alive")
                except NearSideLost:
                    _end_this_process()
                    return

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()

    def end_with_near_side(self) -> None:
        """End this process as soon as the near side closes the connection. It has nothing more to say."""

        def wait() -> None:
            os.read(self._incoming.fileno(), 1)
            if not self._has_ended:  # it closes the connection as soon as it has the result
                _end_this_process()

        threading.Thread(target=wait, daemon=True).start()

    def drain(self) -> None:
        """Read until the near side closes the connection: what is on its way to it must not be lost to a reset."""
        while self._incoming.read(CHUNK):
            pass


def _end_this_process() -> None:
    """Interrupt the main thread, whatever it waits for, so that it cleans up."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


class _Body:
    """A part of known length of the incoming stream. Raises `NearSideLost` where the stream ends inside."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream, self._left = stream, size

    def read(self, size: int) -> bytes:
        wanted = min(size, self._left)
        chunk = self._stream.read(wanted)
        if len(chunk) < wanted:
            raise NearSideLost
        self._left -= wanted
        return chunk

    def __iter__(self) -> Iterator[bytes]:
        while chunk := self.read(CHUNK):
            yield chunk


def serve(connection: Connection, environ: Mapping[str, str]) -> None:
    """Serve one request. Raises `NoVerdictError` if the near side is lost, or the request is refused."""
    try:
        with raise_on_termination():
            _serve(connection, environ)
    except (NearSideLost, Interrupted):
        raise NoVerdictError("the connection was closed, and everything that was started is ended") from None
    except _Refused as error:
        cause = CONTROL_CHARACTERS.sub(" ", str(error))[:_MAX_CAUSE]
        with contextlib.suppress(NearSideLost):
            connection.send("refused", cause)
            connection.drain()
        raise NoVerdictError(f"refused: {cause}") from None


def _serve(connection: Connection, environ: Mapping[str, str]) -> None:
    try:
        request = read_request(connection.receive_line())
    except InvalidMessage as error:
        raise _Refused(str(error)) from None
    with connection.heartbeat(request.alive_interval):
        connection.send("ended", _check(connection, request, environ))


def _check(connection: Connection, request: Request, environ: Mapping[str, str]) -> OracleResult:
    """Prepare the command, let the near side start it, and return its result when all of it is gone again."""
    with contextlib.ExitStack() as cleanup:
        try:
            oracle, sha256 = _prepare(connection, request, environ, cleanup)
        except (NearSideLost, Interrupted):
            raise
        except Exception as error:  # noqa: BLE001 - a tree that breaks the lane must not look like a lost connection
            raise _Refused(str(error) or type(error).__name__) from None
        connection.send("ready", Ready(VERSION, sha256, oracle.egress))
        if connection.receive_line() != encode("go"):
            raise NearSideLost
        connection.end_with_near_side()
        cleanup.callback(ignore_termination)  # the clean-up that follows must not be interrupted
        return oracle.run()


def _prepare(
    connection: Connection, request: Request, environ: Mapping[str, str], cleanup: contextlib.ExitStack
) -> tuple[LocalOracle, Sha256]:
    folder = cleanup.enter_context(_temporary_folder())
    store, tree = Store(folder / "bundle"), folder / "tree"
    tree.mkdir()
    pin = store.pin(connection.body(request.size), request.suffix)
    body = connection.body(request.tree_size)
    if request.tree_size:
        unpack_tree(body, tree)
    for _ in body:  # what stands behind the end of the tar
        pass
    methods = [WITHOUT_SEAL] if request.allow_egress else available_methods(environ)
    spec = OracleSpec(request.fixture_id, request.command, request.timeout)
    workspace = Workspace(tree, store.folder, methods, environ)
    oracle = cleanup.enter_context(prepare_local(workspace, spec, (store.folder / pin.path).resolve()))
    return oracle, pin.sha256


@contextlib.contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Make a folder that only this user can enter, and remove it, and those of lanes that were killed."""
    parent = Path(tempfile.gettempdir())
    for folder in parent.glob(f"{_PREFIX}*"):
        _remove_if_abandoned(folder)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    try:
        lock = folder / f"{_LOCK}.new"
        with lock.open("wb") as stream:  # closed, and so released, however this process ends
            fcntl.flock(stream, fcntl.LOCK_EX)
            lock.rename(folder / _LOCK)  # only now is it seen: nobody can take it before
            yield folder
    finally:
        _remove(folder)


def _remove_if_abandoned(folder: Path) -> None:
    with contextlib.suppress(OSError):
        if folder.lstat().st_uid != os.geteuid():
            return
        with (folder / _LOCK).open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder, however deep it is, and whatever rights the command gave to what is in it."""
    for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        subprocess.run(  # noqa: S603 - two programs of the system, and no path of a stranger's
            [*command, "--", str(folder)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
