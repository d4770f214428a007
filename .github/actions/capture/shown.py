"""Prints what the record on disk shows: `red`, `green`, or `unreadable`. Where it prints nothing, green is assumed."""

import os
import sys
from pathlib import Path

from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.record import Record, RecordInvalid, read_record


def shown(record: Record) -> str:
    """Say whether a record explains a red job: by a fault, by a fail, or because no oracle gave a verdict."""
    if contradictions(record):
        return "unreadable"
    return "green" if record.oracle_passed is True and record.transport_ok is not False else "red"


def shown_on_disk(bundle: Path, fixture_id: str) -> str:
    """Say what the record of the fixture shows; one that is missing or that the gate could not use is unreadable."""
    try:
        return shown(read_record((bundle / "records" / f"{fixture_id}.json").read_bytes(), fixture_id))
    except (OSError, RecordInvalid):
        return "unreadable"


if __name__ == "__main__":
    sys.stdout.write(shown_on_disk(Path(os.environ["FREEZE_GATE_BUNDLE"]), os.environ["FREEZE_GATE_ID"]))
