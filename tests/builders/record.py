"""Records: as the values that the code works with, and as the JSON that a test may spoil."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Oracle, Record, Run, Transport, encode_record

SAMPLE: Final = b'{"sorted": [1, 2, 3]}\n'
OTHER_SAMPLE: Final = b'{"sorted": [1, 3, 2]}\n'
REPOSITORY: Final = "octo-org/widgets"
COMMIT: Final = "d" * 40
"""The merge commit that was tested: on a pull request it is not the head."""

_OUTCOMES: Final = {True: ("passed", 0), False: ("failed", 1), None: ("not_run", None)}


def make_record(
    fixture_id: str = "sorted-patch",
    pin: bytes | Sha256 | None = SAMPLE,
    *,
    oracle: bool | None = True,
    transport: bool | None = True,
    attempt: int = 1,
    run_id: int = 4242,
    suffix: str = ".json",
) -> Record:
    """Return a whole and honest record of one attempt; `pin` is the pinned bytes or their digest."""
    sha256 = Sha256.of(pin) if isinstance(pin, bytes) else pin
    outcome, exit_code = _OUTCOMES[oracle]
    return Record(
        fixture_id=fixture_id,
        fixture_sha256=sha256,
        fixture_path=f"fixtures/{sha256}{suffix}" if sha256 else None,
        oracle_passed=oracle,
        transport_ok=transport,
        transport=Transport(status_code=200, fault="connection" if transport is False else None, pin_complete=True),
        oracle=Oracle(outcome, exit_code, sha256, egress="sealed", egress_attempts=0, runs=1),
        run=Run(
            repository=REPOSITORY,
            run_id=run_id,
            run_attempt=attempt,
            job="agent-patch",
            commit=COMMIT,
            capture_id=hashlib.sha256(f"{fixture_id} {run_id} {attempt}".encode()).hexdigest()[:32],
        ),
    )


def change_record(record: Record, **changes: Any) -> Record:
    """Change fields of a record; a mapping changes fields of one of its detail objects."""
    for name, value in changes.items():
        new = getattr(record, name)._replace(**value) if isinstance(value, Mapping) else value
        record = record._replace(**{name: new})
    return record


def make_mapping(
    fixture_id: str = "sorted-patch",
    pin: bytes | None = SAMPLE,
    *,
    oracle_passed: bool | None = True,
    transport_ok: bool | None = True,
    attempt: int = 1,
    suffix: str = ".json",
    **changes: Any,
) -> dict[str, Any]:
    """Return a record as the mapping that its JSON holds. A change replaces a key, or part of a detail object."""
    record = make_record(fixture_id, pin, oracle=oracle_passed, transport=transport_ok, attempt=attempt, suffix=suffix)
    mapping: dict[str, Any] = json.loads(encode_record(record))
    for name, value in changes.items():
        mapping[name] = {**mapping[name], **value} if isinstance(value, dict) and name in mapping else value
    return mapping
