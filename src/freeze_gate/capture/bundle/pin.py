"""A pin without a recorder: bytes that another program sampled, and the record that names them."""

from collections.abc import Iterable

from freeze_gate.capture.bundle.store import Pin, Store
from freeze_gate.capture.environment import same_run
from freeze_gate.capture.transport.merge import called, cut
from freeze_gate.capture.transport.recorder import second_sample
from freeze_gate.errors import UsageError
from freeze_gate.evidence.record import Record, Run


def pin_sample(
    store: Store, begun: Record, payload: Iterable[bytes], suffix: str = "", *, replace: bool = False
) -> Pin:
    """Store bytes as the sample of an id, and begin its record with `begun`: the id and this run, nothing else.

    A record of this run that holds calls and no pin is kept and completed: whoever recorded the transport first loses
    nothing. Equal bytes begin anew. Raises `UsageError` for other bytes than the record names, and for a replay's
    record, unless `replace`; and what `Store` raises, also once an oracle has started.
    """
    with store.locked():
        before = store.read_before_oracle(begun.fixture_id)
        pin = store.pin(payload, suffix)
        if before is not None and not replace:
            _refuse_other(before, pin)
        record = before if before is not None and _awaits_pin(before, begun.run) else begun
        whole = False if cut(record) else None
        transport = record.transport._replace(pin_complete=whole)
        store.write(record._replace(fixture_sha256=pin.sha256, fixture_path=pin.path, transport=transport))
    return pin


def _refuse_other(before: Record, pin: Pin) -> None:
    if before.run.replay_of is not None:
        raise UsageError(f"{before.fixture_id} is a replay of the first run's pin: pass --replace to let it go")
    if before.fixture_sha256 not in (None, pin.sha256):
        raise UsageError(f"{second_sample(before.fixture_id)}; or pass --replace")


def _awaits_pin(before: Record, run: Run) -> bool:
    return before.fixture_sha256 is None and called(before) and same_run(before.run, run)
