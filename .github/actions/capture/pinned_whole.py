"""Ends with 0 if the sampler pinned a whole sample: a truncated one would blame the patch for the harness."""

import os
import sys
from pathlib import Path

from freeze_gate.evidence.record import RecordInvalid, read_record


def pinned_whole(bundle: Path, fixture_id: str) -> bool:
    """Whether the record of the fixture names a pin, and does not say that the pin is only a part."""
    try:
        record = read_record((bundle / "records" / f"{fixture_id}.json").read_bytes(), fixture_id)
    except (FileNotFoundError, RecordInvalid):
        return False
    return record.fixture_sha256 is not None and record.transport.pin_complete is not False


if __name__ == "__main__":
    sys.exit(not pinned_whole(Path(os.environ["FREEZE_GATE_BUNDLE"]), os.environ["FREEZE_GATE_ID"]))
