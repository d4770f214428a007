"""A pin without a recorder: bytes that another program sampled, and the record that names them."""

from collections.abc import Iterable

from freeze_gate.capture.bundle.store import Pin, Store, conflicting_sample
from freeze_gate.capture.environment import is_same_run
from freeze_gate.capture.transport.error_body import require_answer
from freeze_gate.capture.transport.merge import has_calls, is_truncated
from freeze_gate.errors import UsageError
from freeze_gate.evidence.record import Record


def pin_sample(
    store: Store, begun: Record, payload: Iterable[bytes], suffix: str = "", *, replace: bool = False
) -> Pin:
    """Store bytes as the sample of an id, and begin its record with `begun`: the id and this run, nothing else.

    A record of this run that holds calls and no pin is kept and completed: whoever recorded the transport first loses
    nothing. Equal bytes begin anew. Raises `UsageError` for other bytes than the record names, and for a replay's
    record, unless `replace`; where those calls brought no sample; and what `Store` raises, also once an oracle has
    started.
    """
    with store.locked():
        before = store.read_unless_checked(begun.fixture_id)
        if before is not None and is_same_run(before.run, begun.run):
            require_answer(before)
        pin = store.pin(payload, suffix)
        if before is not None and not replace:
            if before.run.replay_of is not None:
                raise UsageError(f"{before.fixture_id} is a replay of the first run's pin; or pass --replace")
            if before.fixture_sha256 not in (None, pin.sha256):
                raise UsageError(f"{conflicting_sample(before.fixture_id)}; or pass --replace")
        record = begun
        if before is not None and before.fixture_sha256 is None and has_calls(before):
            record = before if is_same_run(before.run, begun.run) else begun
        transport = record.transport._replace(pin_complete=False if is_truncated(record) else None)
        store.write(record._replace(fixture_sha256=pin.sha256, fixture_path=pin.path, transport=transport))
    return pin
