"""The sealed oracle: one command, run on the pinned file, judged by its exit status alone.

1. Hash the pin. Without one that matches its record there is nothing to check.
2. Make the seal. If that fails, nothing runs.
3. Write `false` and `crashed` to the record before the command starts; this stays if this process is killed.
4. Run the command, then end everything that it left behind.
5. Hash the pin again, and write the record from memory: by now the files on disk are not trusted.
"""

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from freeze_gate.capture.bundle.store import Store
from freeze_gate.capture.environment import current_run
from freeze_gate.capture.oracle.outcome import from_exit_status, mark_not_run, merge_run
from freeze_gate.capture.oracle.sandbox import linux
from freeze_gate.capture.oracle.sandbox.launcher import Method, SandboxProcess, SandboxUnavailable, prepare
from freeze_gate.capture.oracle.sandbox.protocol import ConnectionLost, SandboxRequest, SandboxResult
from freeze_gate.capture.oracle.sandbox.reaper import kill_descendants
from freeze_gate.capture.oracle.signals import raise_on_termination
from freeze_gate.errors import FreezeGateError, NoVerdictError, UsageError
from freeze_gate.evidence.digest import Sha256, hash_stream
from freeze_gate.evidence.record import Oracle, Record

FIXTURE_VARIABLE: Final = "FREEZE_GATE_FIXTURE"
FIXTURE_PLACEHOLDER: Final = "{fixture}"

_REMEDIES: Final = (
    "Do one of these: allow this user to run `sudo -n` (hosted runners do; a job container needs"
    " `options: --privileged`); allow user namespaces with"
    " `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`;"
    " or pass --allow-egress, which leaves the network on and is recorded as `open`"
)

_SIGKILL_EXIT_CODE: Final = 137


class OracleSpec(NamedTuple):
    """What to run: the fixture id, the command, its time limit in seconds, and the methods to try."""

    fixture_id: str
    command: Sequence[str]
    timeout: float | None
    methods: Sequence[Method]


class OracleRun(NamedTuple):
    """One finished run: the exit code for the caller, the record as it was written, and remarks for the user."""

    exit_code: int
    record: Record
    remarks: tuple[str, ...]


class _NotRun(Exception):
    """The oracle cannot be started, for a cause outside the tested tree."""


def run_oracle(store: Store, spec: OracleSpec, environ: Mapping[str, str], now: datetime) -> OracleRun:
    """Run the oracle of one fixture and record it.

    Raises `NoVerdictError`, with cause and remedies, if it could not be run (the record then says `not_run`, unless an
    earlier run said more), `UsageError` for an invalid record, and `Interrupted`.
    """
    record = store.read(spec.fixture_id)
    if record is None:
        record = Record(spec.fixture_id, None, None, None, None, run=current_run(environ, now))
    with raise_on_termination():
        try:
            pin = _verified_pin(store, record)
            request = _sandbox_request(spec, environ, pin)
            with _sandbox(store, spec, request) as sandbox:
                return _run(store, record, pin, sandbox)
        except _NotRun as cause:
            with store.locked():
                store.write(mark_not_run(store.read(record.fixture_id) or record))
            raise NoVerdictError(f"the oracle of {record.fixture_id} was not run: {cause}") from None


def _verified_pin(store: Store, record: Record) -> Path:
    """Find the pinned file and check its digest. No part of the returned path is a link."""
    if not sys.platform.startswith("linux"):
        raise _NotRun("it needs Linux; run this step on a Linux runner")
    try:
        path = store.pinned_file(record)
    except UsageError as error:
        raise _NotRun(str(error)) from None
    if path is None:
        raise _NotRun("nothing is pinned under this id; run `freeze-gate pin` or `freeze-gate sample` first")
    digest = _hash_file(path)
    if digest is None:
        raise _NotRun(f"the pinned file {record.fixture_path} is not in the bundle; sample again in a new run")
    if digest != record.fixture_sha256:
        raise _NotRun(f"the pinned file hashes to {digest}, not to {record.fixture_sha256}; sample again in a new run")
    return path.resolve()


def _hash_file(path: Path) -> Sha256 | None:
    """Hash a regular file; None if there is none. Links are not followed, and a FIFO is not waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor
            return hash_stream(stream).sha256 if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except OSError:
        return None


def _sandbox_request(spec: OracleSpec, environ: Mapping[str, str], pin: Path) -> SandboxRequest:
    umask = os.umask(0)
    os.umask(umask)
    return SandboxRequest(
        command=[argument.replace(FIXTURE_PLACEHOLDER, str(pin)) for argument in spec.command],
        folder=str(Path.cwd()),
        environ={**environ, FIXTURE_VARIABLE: str(pin)},
        umask=umask,
        groups=os.getgroups(),
        timeout=spec.timeout,
        isolation=None,
    )


@contextlib.contextmanager
def _sandbox(store: Store, spec: OracleSpec, request: SandboxRequest) -> Iterator[SandboxProcess]:
    linux.set_child_subreaper()
    try:
        sandbox = prepare(request, store.folder.resolve(), spec.methods)
    except SandboxUnavailable as error:
        raise _NotRun(f"{error}. {_REMEDIES}") from None
    linux.set_dumpable(dumpable=False)  # an oracle without a seal must not be able to change this process's memory
    try:
        yield sandbox
    finally:
        sandbox.close()
        linux.set_dumpable(dumpable=True)


def _run(store: Store, record: Record, pin: Path, sandbox: SandboxProcess) -> OracleRun:
    egress = "sealed" if sandbox.is_sealed else "open"
    provisional = merge_run(record, Oracle("crashed", None, record.fixture_sha256, egress))
    with store.locked():
        if store.read(record.fixture_id) != record or _hash_file(pin) != record.fixture_sha256:
            raise UsageError(f"another process captured or checked {record.fixture_id} meanwhile; run one at a time")
        store.write(provisional)
    try:
        result = sandbox.run()
    except ConnectionLost:
        kill_descendants()
        remark = "the sandbox supervisor was killed, from outside or by the oracle"
        return OracleRun(_SIGKILL_EXIT_CODE, provisional, (remark,))
    return _write_result(store, record, provisional, result, _hash_file(pin))


def _write_result(
    store: Store, record: Record, provisional: Record, result: SandboxResult, digest_after: Sha256 | None
) -> OracleRun:
    """Write the record from memory; tampering with the files on disk can only turn the result into a fail."""
    oracle = from_exit_status(result.exit_status)
    exit_code = oracle.exit_code or 0
    with store.locked():
        remarks = _tampering(store, record, provisional, digest_after)
        if remarks:
            exit_code = max(1, exit_code)
            if oracle.outcome == "passed":
                oracle = oracle._replace(outcome="failed")
        oracle = oracle._replace(
            fixture_sha256=digest_after,
            egress=provisional.oracle.egress,
            egress_attempts=result.egress_attempts,
            seconds=round(result.seconds, 3),
        )
        final = merge_run(record, oracle)
        store.write(final)
    if result.egress_attempts:
        remarks.append(f"{result.egress_attempts} network attempts were blocked; this run cannot justify a freeze")
    if result.survivors:
        remarks.append(f"{result.survivors} processes with another user's rights could not be killed")
    return OracleRun(exit_code, final, tuple(remarks))


def _tampering(store: Store, record: Record, provisional: Record, digest_after: Sha256 | None) -> list[str]:
    """Say what the oracle did to the pin and the record, and make the record's path writable again."""
    remarks = []
    if digest_after != record.fixture_sha256:
        remarks.append("the pinned file was modified, so this run counts as failed; make the test work on a copy")
    try:
        on_disk = store.read(record.fixture_id)
    except FreezeGateError:
        on_disk = None
        _clear_path(store.record_file(record.fixture_id))
    if on_disk != provisional:
        remarks.append("its record was modified, so this run counts as failed")
    return remarks


def _clear_path(file: Path) -> None:
    """Remove what is not a folder or a regular file from the path of a record."""
    for path in (file.parent, file):
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            path.unlink(missing_ok=True)
    if file.is_dir():
        shutil.rmtree(file)
