"""What one record says: pinned whole or not, the failure explained or not."""

from pathlib import Path

import pytest

from freeze_gate.capture.bundle.status import read_status, status_of
from freeze_gate.capture.bundle.store import Store
from freeze_gate.errors import UsageError
from freeze_gate.evidence.record import encode_record
from tests.builders.bundle import Capture, make_capture

_ID = "sorted-patch"
_DROPPED = make_capture(oracle=None, transport=False)


@pytest.mark.parametrize(
    ("captured", "pinned"),
    [
        (make_capture(), True),
        (_DROPPED, True),
        (make_capture().changed(transport={"pin_complete": None}), True),
        (_DROPPED.changed(transport={"pin_complete": False}), False),
        (make_capture(pin=None, oracle=None, transport=False), False),
        (make_capture().changed(transport_ok=False), False),
    ],
    ids=["complete", "complete, lane dropped", "pinned by hand", "truncated", "nothing", "contradiction"],
)
def test_is_pinned_whole(captured: Capture, pinned: bool) -> None:
    """A truncated sample would blame the patch for the harness; a complete one deserves its verdict."""
    assert status_of(captured.record).is_pinned_whole is pinned


@pytest.mark.parametrize(
    ("captured", "explained"),
    [
        (make_capture(), False),
        (make_capture(transport=None), False),
        (make_capture(oracle=False), True),
        (make_capture(transport=False), True),
        (make_capture(oracle=None), True),
        (make_capture().changed(transport_ok=False), False),
    ],
    ids=["green", "transport unknown", "a fail", "a fault", "no verdict", "contradiction"],
)
def test_is_failure_explained(captured: Capture, explained: bool) -> None:
    """By a fault, by a fail, or because no oracle gave a verdict; a record that contradicts itself explains nothing."""
    assert status_of(captured.record).is_failure_explained is explained


def test_read_status__state(tmp_path: Path) -> None:
    """A record is missing, usable, or unusable: invalid, or in contradiction to itself."""
    store = Store(tmp_path / "freeze-gate")
    assert read_status(store, _ID).state == "missing"

    path = store.record_file(_ID)
    path.parent.mkdir(parents=True)
    path.write_bytes(encode_record(make_capture().record))
    assert read_status(store, _ID).state == "usable"

    path.write_bytes(encode_record(make_capture().changed(transport_ok=False).record))
    contradicted = read_status(store, _ID)
    assert contradicted.state == "unusable"
    assert contradicted.problems

    path.write_bytes(b"{}")
    invalid = read_status(store, _ID)
    assert (invalid.state, invalid.record) == ("unusable", None)
    assert "is not a record" in invalid.problems[0]
    assert not invalid.is_pinned_whole
    assert not invalid.is_failure_explained


def test_read_status__an_id_that_is_not_allowed(tmp_path: Path) -> None:
    """That is the caller's mistake, and no state of a record."""
    with pytest.raises(UsageError, match="not allowed"):
        read_status(Store(tmp_path), "../x")
