"""Bundles as bytes: a record with its pin, as a mapping that a test may spoil, and the files that hold them."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.builders.zip import make_zip

SAMPLE: Final = b'{"sorted": [1, 2, 3]}\n'
OUTCOMES: Final = {True: ("passed", 0), False: ("failed", 1), None: ("not_run", None)}

Files = dict[str, bytes]


def record(
    fixture_id: str = "sorted-patch",
    pin: bytes | None = SAMPLE,
    *,
    oracle_passed: bool | None = True,
    transport_ok: bool | None = True,
    attempt: int = 1,
    suffix: str = ".json",
    **changed: Any,
) -> dict[str, Any]:
    """Return a record that says these things; what is `changed` replaces a key, or is merged into a detail object."""
    sha256 = None if pin is None else hashlib.sha256(pin).hexdigest()
    outcome, exit_code = OUTCOMES[oracle_passed]
    made: dict[str, Any] = {
        "schema": "freeze-gate/record/1",
        "fixture_id": fixture_id,
        "fixture_sha256": sha256,
        "fixture_path": sha256 and f"fixtures/{sha256}{suffix}",
        "oracle_passed": oracle_passed,
        "transport_ok": transport_ok,
        "transport": {"status_code": 200, "retry_count": 0, "fault": "connection" if transport_ok is False else None},
        "oracle": {"outcome": outcome, "exit_code": exit_code, "fixture_sha256": sha256, "egress": "sealed"},
        "run": {
            "repository": "octo-org/widgets",
            "run_id": 4242,
            "run_attempt": attempt,
            "commit": "c" * 40,
            "capture_id": hashlib.sha256(f"{fixture_id} {attempt}".encode()).hexdigest()[:32],
        },
    }
    for name, value in changed.items():
        made[name] = {**made[name], **value} if isinstance(value, dict) and name in made else value
    return made


def files(*records: Mapping[str, Any], pins: tuple[bytes, ...] = (SAMPLE,), suffix: str = ".json") -> Files:
    """Return the files of a bundle, by their paths below its folder."""
    made = {f"fixtures/{hashlib.sha256(pin).hexdigest()}{suffix}": pin for pin in pins}
    for each in records:
        made[f"records/{each['fixture_id']}.json"] = json.dumps(each, indent=1).encode() + b"\n"
    return made


def write(folder: Path, made: Files) -> Path:
    """Write files below a folder."""
    for name, content in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def zipped(path: Path, made: Files, root: str = "freeze-gate/") -> Path:
    """Write files into a zip as the uploader does."""
    path.write_bytes(make_zip(made, root))
    return path
