"""What one record says about its capture: whether a complete sample is pinned, and whether a failure is explained."""

from typing import Literal, NamedTuple

from freeze_gate.capture.bundle.store import Store
from freeze_gate.errors import FreezeGateError
from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.record import Record


class RecordStatus(NamedTuple):
    """The status of one record.

    `state`: `usable`, `missing`, or `unusable` for one that the gate could not use; `problems` says why. `record` is
    None unless it could be read.
    """

    state: Literal["usable", "missing", "unusable"]
    record: Record | None = None
    problems: tuple[str, ...] = ()

    @property
    def is_pinned_whole(self) -> bool:
        """Whether a sample is pinned and not known to be truncated: an oracle's verdict on it is about the patch."""
        record = self.record if self.state == "usable" else None
        pinned = record is not None and record.fixture_sha256 is not None
        return record is not None and pinned and record.transport.pin_complete is not False

    @property
    def is_failure_explained(self) -> bool:
        """Whether the record explains a failed job: by a transport fault, a failed oracle, or no oracle result."""
        record = self.record if self.state == "usable" else None
        return record is not None and (record.oracle_passed is not True or record.transport_ok is False)


def status_of(record: Record) -> RecordStatus:
    """Return the status of a record that could be read."""
    problems = tuple(map(str, contradictions(record)))
    return RecordStatus("unusable" if problems else "usable", record, problems)


def read_status(store: Store, fixture_id: str) -> RecordStatus:
    """Read the status of the record of an id. Raises `UsageError` only for an id that is not allowed."""
    store.record_file(fixture_id)
    try:
        record = store.read(fixture_id)
    except FreezeGateError as error:
        return RecordStatus("unusable", problems=(str(error),))
    return RecordStatus("missing") if record is None else status_of(record)
