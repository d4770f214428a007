"""The sealed oracle: one command, run on the pinned file, judged by its exit status alone.

1. The pin is hashed; without one that matches there is nothing to check.
2. The seal is made. Where it cannot be made, nothing runs.
3. The record says `false` and `crashed` before the command starts, and keeps saying so if this process is killed.
4. The command runs; then everything that it left behind is ended.
5. The pin is hashed again, and the record is written from memory: nothing that lies on disk by then is believed.
"""

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from freeze_gate.capture.oracle.outcome import ended, lowered, not_run
from freeze_gate.capture.oracle.sandbox import linux as kernel
from freeze_gate.capture.oracle.sandbox.launcher import Keeper, NotSealed, Way, prepare_open, prepare_sealed
from freeze_gate.capture.oracle.sandbox.protocol import Ending, Lost, Order
from freeze_gate.capture.oracle.sandbox.reaper import end_descendants
from freeze_gate.capture.oracle.signals import interruptible
from freeze_gate.capture.run import current_run
from freeze_gate.capture.store import Store
from freeze_gate.errors import FreezeGateError, NoVerdictError, UsageError
from freeze_gate.evidence.digest import Sha256, observe
from freeze_gate.evidence.record import Oracle, Record

FIXTURE_VARIABLE: Final = "FREEZE_GATE_FIXTURE"
FIXTURE_WORD: Final = "{fixture}"

_CURES: Final = (
    "Do one of these: let this user run `sudo -n` (hosted runners do; a job container needs `options: --privileged`);"
    " allow user namespaces with `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`;"
    " or pass --allow-egress, which leaves the network on and is recorded as `open`"
)

_KILLED: Final = 137
"""The exit code of a process that SIGKILL ended."""


class Check(NamedTuple):
    """What to run: the fixture id, the command's words, seconds it may take, the ways to seal it; None is `open`."""

    fixture_id: str
    words: Sequence[str]
    limit: float | None
    ways: Sequence[Way] | None


class Outcome(NamedTuple):
    """How it ended: the exit code for the caller, the record as it was written, and what else a person should know."""

    exit_code: int
    record: Record
    remarks: tuple[str, ...]


def run_oracle(store: Store, check: Check, environ: Mapping[str, str], now: datetime) -> Outcome:
    """Run the oracle of one fixture and record it.

    Raises `NoVerdictError`, with the cause and the cures, where it could not be run (the record then says `not_run`,
    unless an earlier run said more); `UsageError` for a record that is none; `Interrupted`.
    """
    record = store.read(check.fixture_id)
    if record is None:
        record = Record(check.fixture_id, None, None, None, None, run=current_run(environ, now))
    with interruptible():
        try:
            pin = _pinned(store, record)
            with _prepared(store, check, _order(check, environ, pin)) as keeper:
                return _judge(store, record, pin, check, keeper)
        except _NotRun as cause:
            _refuse(store, record, str(cause))


class _NotRun(Exception):
    """The oracle cannot be started, for a cause outside the tested tree."""


def _refuse(store: Store, record: Record, cause: str) -> NoReturn:
    with store.locked():
        store.write(not_run(store.read(record.fixture_id) or record))
    raise NoVerdictError(f"the oracle of {record.fixture_id} was not run: {cause}")


def _pinned(store: Store, record: Record) -> Path:
    """Find the pinned file and hash it; no part of the path that is returned is a link."""
    if not sys.platform.startswith("linux"):
        raise _NotRun("it needs Linux; run this step on a Linux runner")
    try:
        path = store.pinned_file(record)
    except UsageError as error:
        raise _NotRun(str(error)) from None
    if path is None:
        raise _NotRun("nothing is pinned under this id; run `freeze-gate pin` or `freeze-gate sample` first")
    found = _sha256(path)
    if found is None:
        raise _NotRun(f"the pinned file {record.fixture_path} is not in the bundle; sample again in a new run")
    if found != record.fixture_sha256:
        raise _NotRun(f"the pinned file hashes to {found}, not to {record.fixture_sha256}; sample again in a new run")
    return path.resolve()


def _sha256(path: Path) -> Sha256 | None:
    """Hash an ordinary file; None where there is none. What was put in its place is not followed or waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor
            return observe(stream).sha256 if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except OSError:
        return None


def _order(check: Check, environ: Mapping[str, str], pin: Path) -> Order:
    umask = os.umask(0)
    os.umask(umask)
    return Order(
        words=[word.replace(FIXTURE_WORD, str(pin)) for word in check.words],
        folder=str(Path.cwd()),
        environ={**environ, FIXTURE_VARIABLE: str(pin)},
        umask=umask,
        groups=os.getgroups(),
        limit=check.limit,
        seal=None,
    )


@contextlib.contextmanager
def _prepared(store: Store, check: Check, order: Order) -> Iterator[Keeper]:
    kernel.adopt_orphans()
    try:
        if check.ways is None:
            keeper = prepare_open(order)
        else:
            keeper = prepare_sealed(order, store.folder.resolve(), check.ways)
    except NotSealed as error:
        raise _NotRun(f"{error}. {_CURES}") from None
    kernel.set_readable(readable=False)  # nor may an oracle without a seal change what this process remembers
    try:
        yield keeper
    finally:
        keeper.close()
        kernel.set_readable(readable=True)


def _judge(store: Store, record: Record, pin: Path, check: Check, keeper: Keeper) -> Outcome:
    egress = "open" if check.ways is None else "sealed"
    under_way = lowered(record, Oracle("crashed", None, record.fixture_sha256, egress))
    with store.locked():
        if store.read(record.fixture_id) != record or _sha256(pin) != record.fixture_sha256:
            raise UsageError(f"another process captured or checked {record.fixture_id} meanwhile; do one at a time")
        store.write(under_way)
    try:
        ending = keeper.run(check.limit)
    except Lost:
        end_descendants()
        return Outcome(_KILLED, under_way, ("what kept the oracle was ended from outside, or by the oracle itself",))
    return _recorded(store, record, under_way, ending, _sha256(pin))


def _recorded(store: Store, record: Record, under_way: Record, ending: Ending, after: Sha256 | None) -> Outcome:
    """Write the record from what this process remembers; what lies on disk by now can only spoil the run."""
    verdict = ended(ending.status)
    with store.locked():
        remarks = _spoils(store, record, under_way, after)
        final = lowered(
            record,
            verdict._replace(
                outcome="failed" if remarks and verdict.outcome == "passed" else verdict.outcome,
                fixture_sha256=after,
                egress=under_way.oracle.egress,
                egress_attempts=ending.attempts,
                seconds=round(ending.seconds, 3),
            ),
        )
        store.write(final)
    code = verdict.exit_code or 0
    return Outcome(max(1, code) if remarks else code, final, (*remarks, *_leftovers(ending)))


def _spoils(store: Store, record: Record, under_way: Record, after: Sha256 | None) -> list[str]:
    """Say what the oracle did to its own evidence, and make room for the record where something odd took its place."""
    remarks = []
    if after != record.fixture_sha256:
        remarks.append("the pinned file changed while it ran: the run is spoiled; let the check work on a copy")
    try:
        seen = store.read(record.fixture_id)
    except FreezeGateError:
        seen = None
        _make_room(store.record_file(record.fixture_id))
    if seen != under_way:
        remarks.append("its record changed while it ran: the run is spoiled")
    return remarks


def _make_room(file: Path) -> None:
    for path in (file.parent, file):
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            path.unlink(missing_ok=True)
    if file.is_dir():
        shutil.rmtree(file)


def _leftovers(ending: Ending) -> list[str]:
    remarks = []
    if ending.attempts:
        remarks.append(f"{ending.attempts} attempts to leave the seal were refused: no freeze comes of this run")
    if ending.left:
        remarks.append(f"{ending.left} processes with another user's rights could not be ended")
    return remarks
