"""Many exchanges, one record: groups attempts into calls, and brings the record on disk up to date after each."""

import hashlib
import threading

from freeze_gate.capture.bundle.store import Pin, Store, conflicting_sample, pin_of
from freeze_gate.capture.environment import is_same_run
from freeze_gate.capture.transport.error_body import require_sample
from freeze_gate.capture.transport.length_checks import NO_CHECKS, BodyChecks
from freeze_gate.capture.transport.merge import RequestKey, has_calls, is_truncated, merge_calls
from freeze_gate.capture.transport.observer import Answer, Exchange
from freeze_gate.capture.transport.selection import select_text
from freeze_gate.capture.transport.tracked_call import PinnedSample, TrackedCall, trace_pin
from freeze_gate.errors import UsageError
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import LengthChecks, Record, Run, Sampler


class Recorder:
    """Keeps the record of one fixture id for one process.

    `run` goes into a record that is begun. `pointer` names the string in the answer that is the sample. Every method
    raises what `Store` raises, and `UsageError` for a record that an oracle has started on, for a replay's, and for
    another run's. Safe to be used from several threads.

    The record is what other processes left of it (`_base`) with the calls of this one merged in. `_written` is what
    this process wrote last: if the file differs from it, another process wrote in between, and its record is the new
    base.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the checks, the suffix and the pointer are what is declared
        self,
        store: Store,
        fixture_id: str,
        run: Run,
        checks: BodyChecks = NO_CHECKS,
        suffix: str = "",
        pointer: str | None = None,
    ) -> None:
        self._pointer = pointer
        self._store, self._id, self._run, self._checks, self._suffix = store, fixture_id, run, checks, suffix
        self._mutex = threading.RLock()
        self._calls: list[TrackedCall] = []
        self._answers: list[Answer] = []
        self._pinned: PinnedSample | None = None
        self._partial_pin: Pin | None = None
        self._is_writing = self._is_write_pending = False
        self._base = self._written = self._read()

    def begin(self, key: RequestKey) -> Exchange:
        """Start to observe an attempt. Once something is pinned, the declared checks hold for no answer any more."""
        with self._mutex:
            self._read()
            is_sampling = self._explicit_pin() is None
            checks = self._checks if is_sampling else NO_CHECKS
            exchange = Exchange(checks, self._on_finish, keep=is_sampling)
            self._answers.append(exchange.answer)
            if not (self._calls and self._calls[-1].absorb(key, exchange)):
                self._calls.append(TrackedCall(key, exchange))
            return exchange

    @property
    def latest(self) -> Exchange | None:
        """The attempt that began last."""
        return self._calls[-1].exchange if self._calls else None

    def add_retries(self, exchange: Exchange, count: int | None) -> None:
        """Count attempts that were made where they could not be observed; None where nobody knows how many."""
        with self._mutex:
            next(call for call in self._calls if call.exchange is exchange).add_retries(count)

    def save(self) -> Record:
        """Bring the record on disk up to date, and return it."""
        with self._mutex, self._store.locked():
            self._reload()
            return self._write()

    def pin(self, payload: bytes, suffix: str | None = None, *, replace: bool = False) -> Pin:
        """Store the sample and name it in the record.

        Raises `UsageError` where the record names other bytes already, unless `replace` is set, and for bytes that
        `require_sample` refuses.
        """
        with self._mutex, self._store.locked():
            self._reload()
            before = self._explicit_pin()
            if before is None or before.sha256 != Sha256.of(payload):
                require_sample(self._id, payload, self._answers, self._base)
                self._require_selected(payload)
            pin = self._store.pin(payload, self._suffix if suffix is None else suffix)
            if before is not None and before.sha256 != pin.sha256:
                if not replace:
                    raise UsageError(conflicting_sample(self._id))
                self._base = self._pinned = None
            if self._explicit_pin() is None:
                self._pinned = trace_pin(pin, payload, self._calls, self.select)
            self._write()
            return pin

    def select(self, body: bytes | bytearray) -> bytes | bytearray | None:
        """Return the sample in a body; None where the pointer finds no string."""
        return body if self._pointer is None else select_text(bytes(body), self._pointer)

    def _on_finish(self) -> None:
        """Write the end of an exchange; if the garbage collector ended it within a write of this thread, once more."""
        with self._mutex:
            if self._is_writing:
                self._is_write_pending = True
            else:
                self.save()

    def _read(self) -> Record | None:
        record = self._store.read_unless_checked(self._id)
        if record is not None:
            require_same_run(record, self._run)
        return record

    def _reload(self) -> None:
        """Take what another process wrote meanwhile as the base, with those of our calls that it already holds."""
        record = self._read()
        if record is not None and record != self._written:
            self._base = record
            self._calls = [call for call in self._calls if not call.is_written]

    def _require_selected(self, payload: bytes) -> None:
        if self._pointer and not any(call.has_produced(payload, self.select) for call in self._calls):
            raise UsageError(
                f"{self._id}: no answer has these bytes as its string at {self._pointer}; nothing is pinned"
            )

    def _explicit_pin(self) -> Pin | None:
        """Return what the user pinned, and not what a failed call left."""
        if self._pinned:
            return self._pinned.pin
        pin = self._base and pin_of(self._base)
        return None if pin == self._partial_pin else pin

    def _write(self) -> Record:
        self._is_writing = True
        try:
            record = self._write_once()
            while self._is_write_pending:
                record = self._write_once()
        finally:
            self._is_writing = False
        return record

    def _write_once(self) -> Record:
        self._is_write_pending = False
        ended = [call for call in self._calls if call.exchange.outcome]
        record = self._merged_record()
        self._store.write(record)
        self._written = record
        for call in ended:
            call.is_written = True
        return record

    def _merged_record(self) -> Record:
        base = self._base or Record(self._id, None, None, None, None, run=self._run)
        sampler = self._sampler_call()
        position = self._calls.index(sampler) if sampler in self._calls else 0
        ok, transport = merge_calls(self._base, [call.call for call in self._calls], position)
        pin, complete = self._sample()
        declared = self._checks.to_record()
        checks = base.transport.checks if declared == LengthChecks() else declared
        return base._replace(
            fixture_sha256=pin and pin.sha256,
            fixture_path=pin and pin.path,
            transport_ok=ok,
            transport=transport._replace(pin_complete=complete, checks=checks),
            sampler=self._describe(sampler) if sampler and base.sampler == Sampler() else base.sampler,
        )

    def _describe(self, call: TrackedCall) -> Sampler:
        described = call.key.sampler
        if self._pointer is None or not call.exchange.has_sample_body:
            return described
        answer = Sha256(hashlib.sha256(call.exchange.body).hexdigest())
        return described._replace(selected=self._pointer, answer_sha256=answer)

    def _sampler_call(self) -> TrackedCall | None:
        """Find the call that the sample came from: the one that shows, else the last before the pin, else the first."""
        if self._pinned and self._pinned.calls:
            return self._pinned.source or self._pinned.calls[-1]
        return self._calls[0] if self._calls else None

    def _sample(self) -> tuple[Pin | None, bool | None]:
        """Return the pin and its `pin_complete`: the user's, else the one on disk, else what a failed call left."""
        if self._pinned and self._pinned.calls:
            return self._pinned.pin, self._pinned.complete
        if self._pinned:  # no call of this process produced it; an earlier one may have left a truncated sample
            return self._pinned.pin, False if self._base and is_truncated(self._base) else None
        pin = self._base and pin_of(self._base)
        if self._base and pin:
            is_first_truncated = bool(self._calls) and self._calls[0].complete is False
            if is_first_truncated and not has_calls(self._base):
                return pin, False
            return pin, self._base.transport.pin_complete
        for call in self._calls:
            if call.has_partial_body and (sample := self.select(call.exchange.body)) is not None:
                self._partial_pin = self._store.pin(bytes(sample), self._suffix)
                return self._partial_pin, call.complete
        return None, None


def require_same_run(record: Record, run: Run) -> None:
    """Raise `UsageError` for a record that no call of this run belongs to."""
    if record.run.replay_of is not None:
        raise UsageError(f"{record.fixture_id} is a replay: it made no call, and only an oracle can go on with it")
    if not is_same_run(record.run, run):
        raise UsageError(f"the record of {record.fixture_id} belongs to another run: delete the bundle folder first")
