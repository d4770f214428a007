"""Thousands of fixtures in one artifact a side: memory does not grow with them, and no verdict is lost."""

import json
import sys
from pathlib import Path

from tests.bench import evidence
from tests.bench.measure import Command, spend
from tests.support.gate_job import Job

FEW, MANY = 300, 3_000
MOST = 1.5
"""KiB that a further pair may take: its id on both sides and what the table of contents keeps, with room to spare.

Both records of a pair and their place in the document are some twenty.
"""


def program(*words: str | Path) -> list[str | Path]:
    """Return the words of our command line in a fresh interpreter."""
    return [sys.executable, "-I", "-m", "freeze_gate", *words]


def test_memory_of_classify_does_not_grow_with_the_pairs(tmp_path: Path) -> None:
    """All red and with a document: all that can be kept of a pair."""
    peaks = []
    for count in (FEW, MANY):
        document = tmp_path / "v.json"
        words = program("classify", *evidence.many(tmp_path, count), "--verdict-file", document)
        peaks.append(spend(Command(words, code=1)).peak)
        assert [each["reason"] for each in verdicts(document)] == ["transport-fault"] * count
    assert (peaks[1] - peaks[0]) * 1024 / (MANY - FEW) < MOST


def test_memory_of_the_gate_does_not_grow_with_the_pairs(job: Job, tmp_path: Path) -> None:
    """From the download to the label. The stand-in runs in this process, the gate in one of its own."""
    peaks = []
    for count in (FEW, MANY):
        run = job.run
        for name, path in zip(("first", "rerun"), evidence.many(tmp_path, count), strict=True):
            run.add_artifact(f"{name}-{count}", path)
        environ = job.variables(first_artifact=f"first-{count}", rerun_artifact=f"rerun-{count}")
        peaks.append(spend(Command(program("gate"), job.workspace, environ, code=1)).peak)
        document = job.workspace / "freeze-gate-verdict.json"
        assert [each["fixture_id"] for each in verdicts(document)] == [f"fixture-{n:05}" for n in range(count)]
    assert (peaks[1] - peaks[0]) * 1024 / (MANY - FEW) < MOST


def verdicts(document: Path) -> list[dict[str, object]]:
    """Return the verdicts of a document."""
    result: list[dict[str, object]] = json.loads(document.read_bytes())["result"]["verdicts"]
    return result
