"""Evidence in bulk: zips with one huge pin, and zips with thousands of small ones."""

import hashlib
import json
import random
import zlib
from pathlib import Path
from typing import Final, NamedTuple

from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import encode_record
from tests.builders.bundle import Capture, make_bundle, make_capture
from tests.builders.zip import Member, craft

ATTEMPTS: Final = (("first", 1), ("rerun", 2))


class Sides(NamedTuple):
    """The two sides of one comparison, on disk."""

    first: Path
    rerun: Path


def flake(attempt: int, fixture_id: str = "sorted-patch", pin: bytes = b'{"order": [1, 2, 3]}\n') -> Capture:
    """Return a capture whose first run lost its executing lane, and whose rerun passed."""
    made = make_capture(attempt, fixture_id=fixture_id, pin=pin, oracle=attempt > 1 or None, transport=attempt > 1)
    return made.changed(run={"run_id": 4242, "run_attempt": 1})


def huge(folder: Path, megabytes: int) -> Sides:
    """Zip one pin of that many MB a side: JSON that deflate shrinks to some two fifths, as real samples."""
    block = _json(1_000_000)
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = deflate.compress(block) + deflate.flush(zlib.Z_FULL_FLUSH)  # ends on a byte: it may be repeated
    digest, crc = hashlib.sha256(), 0
    for _ in range(megabytes):
        digest.update(block)
        crc = zlib.crc32(block, crc)
    sha256 = Sha256(digest.hexdigest())
    paths = []
    for name, attempt in ATTEMPTS:
        record = flake(attempt).changed(oracle={"fixture_sha256": sha256}).record
        record = record._replace(fixture_sha256=sha256, fixture_path=f"fixtures/{sha256}.json")
        pin = Member(
            f"freeze-gate/fixtures/{sha256}.json",
            raw=packed * megabytes + deflate.copy().flush(),
            crc=crc,
            size=megabytes * len(block),
        )
        payload = craft(Member("freeze-gate/records/sorted-patch.json", encode_record(record)), pin)
        paths.append(_stored(folder / f"{name}-{megabytes}MB.zip", payload))
    return Sides(*paths)


def many(folder: Path, pairs: int) -> Sides:
    """Zip that many records with a pin of 2 KB each, as `upload-artifact/merge` leaves them."""
    pins = [_json(2_000, seed) for seed in range(pairs)]
    return Sides(
        *(
            _stored(
                folder / f"{name}-{pairs}.zip",
                make_bundle(*(flake(attempt, f"fixture-{number:05}", pin) for number, pin in enumerate(pins))),
            )
            for name, attempt in ATTEMPTS
        )
    )


def _json(size: int, seed: int = 0) -> bytes:
    """Return JSON of that many bytes, padded with spaces."""
    dice = random.Random(seed)  # noqa: S311 - the same content every time
    rows: list[dict[str, object]] = []
    length = 0
    while length < size - 200:
        rows.append({"id": len(rows), "text": f"{dice.getrandbits(200):x}", "score": dice.random()})
        length += len(json.dumps(rows[-1])) + 2
    return json.dumps(rows).encode().ljust(size)


def _stored(path: Path, payload: bytes) -> Path:
    path.write_bytes(payload)
    return path
