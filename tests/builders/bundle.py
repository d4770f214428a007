"""Bundles: what a capture leaves, the files of a bundle, and its zip."""

import hashlib
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from freeze_gate.evidence.record import Record, encode_record
from tests.builders.record import SAMPLE, change_record, make_record
from tests.builders.zip import make_zip

Files = dict[str, bytes]


class Capture(NamedTuple):
    """A record with the bytes that it pins; the bytes are None where it pins none."""

    record: Record
    pin: bytes | None

    def changed(self, **changes: Any) -> "Capture":
        """Return the capture with a changed record (`change_record`)."""
        return self._replace(record=change_record(self.record, **changes))


def make_capture(
    attempt: int = 1,
    *,
    fixture_id: str = "sorted-patch",
    pin: bytes | None = SAMPLE,
    oracle: bool | None = True,
    transport: bool | None = True,
    run_id: int = 4242,
) -> Capture:
    """Return what a capture of one attempt leaves; each call is another capture."""
    record = make_record(fixture_id, pin, oracle=oracle, transport=transport, attempt=attempt, run_id=run_id)
    return Capture(change_record(record, run={"capture_id": secrets.token_hex(16)}), pin)


def make_bundle(*captures: Capture, root: str = "freeze-gate/") -> bytes:
    """Zip captures as an upload step does."""
    members: Files = {}
    for record, pin in captures:
        members[f"records/{record.fixture_id}.json"] = encode_record(record)
        if pin is not None and record.fixture_path:
            members[record.fixture_path] = pin
    return make_zip(members, root)


def make_files(*records: Mapping[str, Any], pins: tuple[bytes, ...] = (SAMPLE,), suffix: str = ".json") -> Files:
    """Return the files of a bundle, by their paths below its folder."""
    files = {f"fixtures/{hashlib.sha256(pin).hexdigest()}{suffix}": pin for pin in pins}
    for record in records:
        files[f"records/{record['fixture_id']}.json"] = json.dumps(record, indent=1).encode() + b"\n"
    return files


def write_files(folder: Path, files: Files) -> Path:
    """Write files below a folder, and return the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def write_zip(path: Path, files: Files, root: str = "freeze-gate/") -> Path:
    """Write files into a zip, and return its path."""
    path.write_bytes(make_zip(files, root))
    return path
