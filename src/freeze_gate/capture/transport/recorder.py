"""Many exchanges, one record: groups attempts into calls, and brings the record on disk up to date after each."""

import threading
from typing import Final

from freeze_gate.capture.bundle.store import Pin, Store, pin_of
from freeze_gate.capture.environment import same_run
from freeze_gate.capture.transport.length_checks import Declared
from freeze_gate.capture.transport.merge import Asked, called, cut, folded
from freeze_gate.capture.transport.observer import Exchange
from freeze_gate.capture.transport.tracked_call import Followed, Pinned, pinned_from
from freeze_gate.errors import UsageError
from freeze_gate.evidence.record import Record, Run, Sampler

NOTHING: Final = Declared()


class Recorder:
    """Keeps the record of one fixture id for one process.

    `run` goes into a record that is begun. Every method raises what `Store` raises, and `UsageError` for a record that
    an oracle has started on, for a replay's, and for another run's. Safe to be used from several threads.
    """

    def __init__(self, store: Store, fixture_id: str, run: Run, declared: Declared = NOTHING, suffix: str = "") -> None:
        self._store, self._id, self._run, self._declared, self._suffix = store, fixture_id, run, declared, suffix
        self._mutex = threading.RLock()
        self._calls: list[Followed] = []
        self._pinned: Pinned | None = None
        self._stump: Pin | None = None
        self._writing = self._late = False
        self._base = self._written = self._on_disk()

    def begin(self, asked: Asked) -> Exchange:
        """Start to follow an attempt. Once something is pinned, what was declared binds no answer any more."""
        with self._mutex:
            self._on_disk()
            sampling = self._users_pin() is None
            exchange = Exchange(self._declared if sampling else NOTHING, self._ended, keep=sampling)
            if not (self._calls and self._calls[-1].take(asked, exchange)):
                self._calls.append(Followed(asked, exchange))
            return exchange

    @property
    def latest(self) -> Exchange | None:
        """The attempt that began last."""
        return self._calls[-1].exchange if self._calls else None

    def add_retries(self, exchange: Exchange, count: int | None) -> None:
        """Count attempts that were made where they could not be followed; None where nobody knows how many."""
        with self._mutex:
            next(followed for followed in self._calls if followed.exchange is exchange).add_retries(count)

    def save(self) -> Record:
        """Bring the record on disk up to date, and return it."""
        with self._mutex, self._store.locked():
            self._take_in()
            return self._write()

    def pin(self, payload: bytes, suffix: str | None = None, *, replace: bool = False) -> Pin:
        """Store the sample and name it in the record.

        Raises `UsageError` where the record names other bytes already, unless `replace` lets them go.
        """
        with self._mutex, self._store.locked():
            self._take_in()
            before = self._users_pin()
            pin = self._store.pin(payload, self._suffix if suffix is None else suffix)
            if before is not None and before.sha256 != pin.sha256:
                if not replace:
                    raise UsageError(second_sample(self._id))
                self._base = self._pinned = None
            if before is None or self._users_pin() is None:
                self._pinned = pinned_from(pin, payload, self._calls)
            self._write()
            return pin

    def _ended(self) -> None:
        """Write the end of an exchange; if the garbage collector ended it within a write of this thread, once more."""
        with self._mutex:
            if self._writing:
                self._late = True
            else:
                self.save()

    def _on_disk(self) -> Record | None:
        record = self._store.read_before_oracle(self._id)
        if record is not None:
            refuse_strange(record, self._run)
        return record

    def _take_in(self) -> None:
        """Take what another process folded in meanwhile as given, with those of our calls that it already holds."""
        current = self._on_disk()
        if current is not None and current != self._written:
            self._base = current
            self._calls = [followed for followed in self._calls if not followed.written]

    def _users_pin(self) -> Pin | None:
        if self._pinned:
            return self._pinned.pin
        given = self._base and pin_of(self._base)
        return None if given == self._stump else given

    def _write(self) -> Record:
        self._writing = True
        try:
            record = self._write_once()
            while self._late:
                record = self._write_once()
        finally:
            self._writing = False
        return record

    def _write_once(self) -> Record:
        self._late = False
        ended = [followed for followed in self._calls if followed.exchange.outcome]
        record = self._composed()
        self._store.write(record)
        self._written = record
        for followed in ended:
            followed.written = True
        return record

    def _composed(self) -> Record:
        base = self._base or Record(self._id, None, None, None, None, run=self._run)
        sampler = self._sampler()
        position = self._calls.index(sampler) if sampler in self._calls else 0
        ok, transport = folded(self._base, [followed.call for followed in self._calls], position)
        pin, whole = self._sample()
        checks = base.transport.checks if self._declared == NOTHING else self._declared.recorded
        return base._replace(
            fixture_sha256=pin and pin.sha256,
            fixture_path=pin and pin.path,
            transport_ok=ok,
            transport=transport._replace(pin_complete=whole, checks=checks),
            sampler=sampler.asked.sampler if sampler and base.sampler == Sampler() else base.sampler,
        )

    def _sampler(self) -> Followed | None:
        """Find the call that the sample came from: the one that shows, else the last before the pin, else the first."""
        if self._pinned and self._pinned.calls:
            return self._pinned.source or self._pinned.calls[-1]
        return self._calls[0] if self._calls else None

    def _sample(self) -> tuple[Pin | None, bool | None]:
        """Say what is pinned and whether it arrived whole: the user's, else what is there, else what a fault left."""
        if self._pinned:
            return self._pinned.pin, self._pinned.whole if self._pinned.calls else self._unless_cut()
        given = self._base and pin_of(self._base)
        if self._base and given:
            first_cut = not called(self._base) and bool(self._calls) and self._calls[0].whole is False
            return given, False if first_cut else self._base.transport.pin_complete
        for followed in self._calls:
            if followed.stump:
                self._stump = self._store.pin(bytes(followed.exchange.body), self._suffix)
                return self._stump, followed.whole
        return None, None

    def _unless_cut(self) -> bool | None:
        """Judge bytes that no call of this process brought: a stump, if an earlier call left one."""
        return False if self._base and cut(self._base) else None


def refuse_strange(record: Record, run: Run) -> None:
    """Raise `UsageError` for a record that no call of this run belongs to."""
    if record.run.replay_of is not None:
        raise UsageError(f"{record.fixture_id} is a replay: it made no call, and only an oracle goes on with it")
    if not same_run(record.run, run):
        raise UsageError(f"the record of {record.fixture_id} is another run's: remove the bundle's folder first")


def second_sample(fixture_id: str) -> str:
    """Refuse other bytes under an id that has its pin."""
    return f"{fixture_id} has its pin already, and these are other bytes: a second sample needs its own fixture id"
