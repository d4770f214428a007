"""The sealed oracle: one command, run on the pinned file, judged by its exit status alone.

1. Hash the pin. Without one that matches its record there is nothing to check.
2. Prepare the command: make the seal here, or reach the lane. If that fails, nothing runs.
3. Write `false` and `crashed` to the record before the command starts; this stays if this process is killed.
4. Run the command, then end everything that it left behind.
5. Hash the pin again, and write the record from memory: by now the files on disk are not trusted.
"""

import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from freeze_gate.capture.bundle.store import Store
from freeze_gate.capture.environment import current_run
from freeze_gate.capture.oracle.local import hash_file
from freeze_gate.capture.oracle.outcome import (
    add_lane_fault,
    add_lane_retries,
    from_exit_status,
    mark_not_run,
    merge_run,
)
from freeze_gate.capture.oracle.process import NotRun, OracleProcess, OracleSpec, Prepare, ResultLost
from freeze_gate.capture.oracle.sandbox.protocol import SandboxResult
from freeze_gate.capture.oracle.signals import raise_on_termination
from freeze_gate.errors import FreezeGateError, NoVerdictError, UsageError
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Oracle, Record

_SIGKILL_EXIT_CODE: Final = 137


class OracleRun(NamedTuple):
    """One finished run: its exit code and outcome, the record as it was written, and remarks for the user.

    The record's outcome is another one where an earlier run did not pass.
    """

    exit_code: int
    outcome: str
    record: Record
    remarks: tuple[str, ...]


def run_oracle(
    store: Store, spec: OracleSpec, prepare: Prepare, environ: Mapping[str, str], now: datetime
) -> OracleRun:
    """Run the oracle of one fixture where `prepare` prepares it, and record it.

    Raises `NoVerdictError`, with cause and remedies, if it could not be run (the record then says `not_run`, unless an
    earlier run said more), `UsageError` for an invalid record, and `Interrupted`.
    """
    record = store.read(spec.fixture_id)
    if record is None:
        record = Record(spec.fixture_id, None, None, None, None, run=current_run(environ, now))
    with raise_on_termination():
        try:
            pin = _verified_pin(store, record)
            with prepare(spec, pin) as process:
                return _run(store, record, pin, process)
        except NotRun as cause:
            with store.locked():
                latest = store.read(record.fixture_id) or record
                not_run = mark_not_run(latest, cause.lane)
                if cause.fault is not None and not_run is not latest:
                    not_run = add_lane_fault(not_run, cause.fault, cause.lane_retries)
                store.write(not_run)
            raise NoVerdictError(f"the oracle of {record.fixture_id} was not run: {cause}") from None


def _verified_pin(store: Store, record: Record) -> Path:
    """Find the pinned file and check its digest. No part of the returned path is a link."""
    try:
        path = store.pinned_file(record)
    except UsageError as error:
        raise NotRun(str(error)) from None
    if path is None:
        raise NotRun("nothing is pinned under this id; run `freeze-gate pin` or `freeze-gate sample` first")
    digest = hash_file(path)
    if digest is None:
        raise NotRun(f"the pinned file {record.fixture_path} is not in the bundle; sample again in a new run")
    if digest != record.fixture_sha256:
        raise NotRun(f"the pinned file hashes to {digest}, not to {record.fixture_sha256}; sample again in a new run")
    return path.resolve()


def _run(store: Store, record: Record, pin: Path, process: OracleProcess) -> OracleRun:
    provisional = merge_run(record, Oracle("crashed", None, record.fixture_sha256, process.egress, lane=process.lane))
    with store.locked():
        if store.read(record.fixture_id) != record or hash_file(pin) != record.fixture_sha256:
            raise UsageError(f"another process captured or checked {record.fixture_id} meanwhile; run one at a time")
        store.write(provisional)
    record = add_lane_retries(record, process.lane_retries)
    try:
        result = process.run()
    except ResultLost as loss:
        unreported = Oracle("unreported", None, record.fixture_sha256, process.egress, lane=process.lane)
        final = add_lane_fault(merge_run(record, unreported), loss.fault)
        with store.locked():
            store.write(final)
        return OracleRun(NoVerdictError.exit_code, "unreported", final, (f"its result was lost: {loss}",))
    if result.process is None:
        remark = "the sandbox supervisor was killed, from outside or by the oracle"
        return OracleRun(_SIGKILL_EXIT_CODE, "crashed", provisional, (remark,))
    return _write_result(store, record, provisional, result.process, result.fixture_sha256)


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
            lane=provisional.oracle.lane,
            egress_attempts=result.egress_attempts,
            seconds=round(result.seconds, 3),
        )
        final = merge_run(record, oracle)
        store.write(final)
    if result.egress_attempts:
        remarks.append(f"{result.egress_attempts} network attempts were blocked; this run cannot justify a freeze")
    if result.survivors:
        remarks.append(f"{result.survivors} processes with another user's rights could not be killed")
    return OracleRun(exit_code, oracle.outcome or "crashed", final, tuple(remarks))


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
