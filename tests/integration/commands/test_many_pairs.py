"""Memory with thousands of pairs: some 8 KiB a pair, and under 512 MiB for whatever a stranger uploads."""

import json
import sys
import zipfile
from pathlib import Path

from tests.bench import evidence
from tests.bench.measure import Command, spend
from tests.builders.record import make_mapping
from tests.support.gate_job import Job

FEW, MANY = 200, 1_000
KIB_A_PAIR = 8
MIB_FOR_ALL = 512
MOST_RECORDS = 50_000
"""In all archives of a run together."""

WIDE = "\U0001f600"
"""In memory, one such character makes every character of its string take four bytes; in ASCII it takes twelve."""


def program(*words: str | Path) -> list[str | Path]:
    """Return the words of our command line in a fresh interpreter."""
    return [sys.executable, "-I", "-m", "freeze_gate", *words]


def peak_of_classify(*words: str | Path, code: int = 1) -> float:
    """Return the most memory that `classify` took, in MiB."""
    return spend(Command(program("classify", *words), code=code)).peak


def test_memory_of_classify__a_pair(tmp_path: Path) -> None:
    """All pairs are red; the document takes what it is long."""
    peaks, lengths = [], []
    for count in (FEW, MANY):
        document = tmp_path / "v.json"
        sides = evidence.many(tmp_path, count)
        plain = peak_of_classify(*sides)
        peaks.append((plain, peak_of_classify(*sides, "--verdict-file", document)))
        lengths.append(document.stat().st_size)
        reasons = [verdict["reason"] for verdict in json.loads(document.read_bytes())["result"]["verdicts"]]
        assert reasons == ["transport-fault"] * count
    plain, written = (1024 * (many - few) / (MANY - FEW) for few, many in zip(*peaks, strict=True))
    assert plain < KIB_A_PAIR
    assert written < KIB_A_PAIR + 2 * (lengths[1] - lengths[0]) / 1024 / (MANY - FEW)


def test_memory_of_the_gate__a_pair(job: Job, tmp_path: Path) -> None:
    """From the download to the label. The stand-in runs in this process, the gate in one of its own."""
    peaks, lengths = [], []
    for count in (FEW, MANY):
        for name, path in zip(("first", "rerun"), evidence.many(tmp_path, count), strict=True):
            job.run.add_artifact(f"{name}-{count}", path)
        environ = job.variables(first_artifact=f"first-{count}", rerun_artifact=f"rerun-{count}")
        peaks.append(spend(Command(program("gate"), job.workspace, environ, code=1)).peak)
        lengths.append((job.workspace / "freeze-gate-verdict.json").stat().st_size)
    limit = KIB_A_PAIR + 2 * (lengths[1] - lengths[0]) / 1024 / (MANY - FEW)
    assert 1024 * (peaks[1] - peaks[0]) / (MANY - FEW) < limit


def test_memory__largest_records(tmp_path: Path) -> None:
    """As many as a run may have of 64 KiB each, with text that takes the most memory and the longest document."""
    for text, code in ((WIDE + "x" * 64_000, 1), (WIDE * 16_000, 3)):  # 3: the document would be too long
        sides = [hostile(tmp_path / f"{name}.zip", name, 500, text) for name in ("first", "rerun")]
        assert peak_of_classify(*sides, "--verdict-file", tmp_path / "v.json", code=code) < MIB_FOR_ALL


def test_memory__most_records(tmp_path: Path) -> None:
    """As many as a run may have, none of which has its like on the other side: each is a pair of its own."""
    peaks = []
    for count in (FEW, MANY):
        sides = [hostile(tmp_path / f"{name}.zip", name, count, WIDE + "x" * 600) for name in ("first", "rerun")]
        peaks.append(peak_of_classify(*sides))
    a_record = (peaks[1] - peaks[0]) / (2 * (MANY - FEW))
    document = 96  # MiB, beyond which none is written
    assert peaks[0] + a_record * MOST_RECORDS + document < MIB_FOR_ALL


def hostile(path: Path, prefix: str, count: int, text: str) -> Path:
    """Zip records that hold a long text."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(count):
            content = make_mapping(f"{prefix}-{number}", sampler={"model": text})
            payload = json.dumps(content, ensure_ascii=False)
            archive.writestr(f"records/{prefix}-{number}.json", payload)
    return path
