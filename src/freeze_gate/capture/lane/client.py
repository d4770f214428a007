"""The near side: prepares the oracle on a lane, lets it start, and waits for its result."""

import contextlib
import os
import shlex
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

from freeze_gate.capture.lane.carrier import Carrier, CarrierError
from freeze_gate.capture.lane.protocol import SCHEMA, Ready, Request, encode
from freeze_gate.capture.lane.tree import TreeError, pack_tree
from freeze_gate.capture.oracle.local import hash_file
from freeze_gate.capture.oracle.process import NotRun, OracleResult, OracleSpec, ResultLost
from freeze_gate.errors import UsageError
from freeze_gate.evidence.digest import CHUNK
from freeze_gate.validation.readers import CONTROL_CHARACTERS

DEFAULT_TIMEOUT: Final = 30.0
"""Seconds without a line after which a lane counts as silent."""

_ALIVE_INTERVAL: Final = 5.0
_ALIVE_SHARE: Final = 3
"""The lane speaks at least this often within the time in which it must be heard."""
_MAX_PAUSE: Final = 30.0
_END_TIMEOUT: Final = 120.0
"""Seconds that a lane may take beyond the oracle's time limit: to end everything, and to hash and remove the files."""


class Lane(NamedTuple):
    """How to reach a lane.

    `words` start the carrier. `tree` is the folder that goes with the pin. `timeout` is how long the lane may be
    silent, in seconds. `retries` counts the further tries.
    """

    words: tuple[str, ...]
    tree: Path | None
    timeout: float
    retries: int
    allow_egress: bool

    @property
    def name(self) -> str:
        """The carrier's first word, as the record shows it."""
        return CONTROL_CHARACTERS.sub("?", self.words[0])


def split_words(command: str) -> tuple[str, ...]:
    """Split a carrier's command line as a shell does, which is not started. Raises `UsageError`."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(f"--lane {command!a} cannot be split into words: {error}") from None
    if not words:
        raise UsageError("--lane is empty: it must be a command, such as 'ssh -T lane.example freeze-gate lane'")
    return words


class LaneOracle:
    """A command that waits on a lane for its start."""

    def __init__(self, carrier: Carrier, ready: Ready, lane: Lane, spec: OracleSpec, retries: int) -> None:
        self.egress = ready.egress
        self.lane = f"{lane.name} {ready.version}"
        self.lane_retries = retries
        self._carrier = carrier
        self._timeout = None if spec.timeout is None else spec.timeout + _END_TIMEOUT

    def run(self) -> OracleResult:
        """Say `go`, and wait for the result. Raises `ResultLost` whatever comes instead."""
        self._carrier.send(iter([encode("go")]))
        try:
            kind, result = self._carrier.receive(self._timeout)
        except CarrierError as error:
            raise ResultLost(str(error), error.fault or "connection") from None
        if kind != "ended" or not isinstance(result, OracleResult):
            raise ResultLost(f"the lane said {kind} instead of the result", "connection")
        return result


@contextlib.contextmanager
def prepare_on_lane(lane: Lane, spec: OracleSpec, pin: Path) -> Iterator[LaneOracle]:
    """Prepare the command on the lane. Raises `NotRun`: before `go` nothing of the patch has run there."""
    with contextlib.ExitStack() as cleanup:
        tree = None
        if lane.tree is not None:
            try:
                tree = cleanup.enter_context(pack_tree(lane.tree))
            except TreeError as error:
                raise NotRun(str(error), lane.name) from None
        yield _reach(lane, spec, pin, tree, cleanup)


def _reach(
    lane: Lane, spec: OracleSpec, pin: Path, tree: IO[bytes] | None, cleanup: contextlib.ExitStack
) -> LaneOracle:
    """Try until the lane is ready, and let `cleanup` close it. Raises `NotRun` after the last try."""
    retries = 0
    while True:
        try:
            with contextlib.ExitStack() as attempt:
                carrier = Carrier(lane.words, lane.timeout)
                attempt.callback(carrier.close)
                ready = _send(carrier, lane, spec, pin, tree)
                cleanup.push(attempt.pop_all())
                return LaneOracle(carrier, ready, lane, spec, retries)
        except CarrierError as error:
            if error.fault is None or retries == lane.retries:
                raise NotRun(f"the lane was not reached: {error}", lane.name, error.fault, retries) from None
            time.sleep(min(2**retries, _MAX_PAUSE))
            retries += 1


def _send(carrier: Carrier, lane: Lane, spec: OracleSpec, pin: Path, tree: IO[bytes] | None) -> Ready:
    """Send everything but `go`, and return what the lane has prepared. Raises `CarrierError`."""
    sha256 = hash_file(pin)
    with pin.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if sha256 is None or not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise CarrierError(f"{pin} was removed meanwhile", None)
        tree_size = 0 if tree is None else tree.seek(0, os.SEEK_END)
        interval = min(_ALIVE_INTERVAL, lane.timeout / _ALIVE_SHARE)
        request = Request(
            schema=SCHEMA,
            fixture_id=spec.fixture_id,
            fixture_sha256=sha256,
            size=size,
            suffix=pin.name.removeprefix(sha256),
            command=tuple(spec.command),
            timeout=spec.timeout,
            allow_egress=lane.allow_egress,
            tree_size=tree_size,
            alive_interval=interval,
        )
        carrier.send(_chunks(request, stream, tree))
        kind, content = carrier.receive()
    if kind == "refused":
        raise CarrierError(f"it refused: {content}", None)
    if not isinstance(content, Ready):
        raise CarrierError(f"it said {kind} instead of ready", None)
    if content.egress == "open" and not lane.allow_egress:
        raise CarrierError("it has no seal, and nothing allowed that", None)
    if content.fixture_sha256 != sha256:
        raise CarrierError(f"it received bytes that hash to {content.fixture_sha256}", "truncated")
    return content


def _chunks(request: Request, pin: IO[bytes], tree: IO[bytes] | None) -> Iterator[bytes]:
    yield encode("request", request)
    for stream, size in ((pin, request.size), (tree, request.tree_size)):
        if stream is None:
            continue
        stream.seek(0)
        left = size
        while left:
            chunk = stream.read(min(CHUNK, left))
            if not chunk:
                raise CarrierError("a file that is being sent was cut short meanwhile", None)
            left -= len(chunk)
            yield chunk
