"""The known pairs through the gate: the same document as offline, but for what only GitHub says."""

from pathlib import Path

import pytest

from freeze_gate import cli
from tests.support.gate_job import Job, zipped
from tests.support.verdict_comparison import only_evidence

GOLDEN = Path(__file__).parents[1] / "golden"
PAIRS = sorted(
    folder for folder in GOLDEN.iterdir() if (folder / "first").is_dir() and "P25" not in folder.name
)  # a record without a run is judged offline alone


@pytest.mark.parametrize("folder", PAIRS, ids=lambda folder: folder.name)
def test_gate_and_classify_agree_on_every_known_pair(
    job: Job, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Records, pins, checks, class, reason, exit code."""
    job.attempts(2)
    for attempt, side in enumerate(("first", "rerun"), 1):
        files = {
            str(path.relative_to(folder)): path.read_bytes() for path in (folder / side).rglob("*") if path.is_file()
        }
        started = job.run.attempts[attempt - 1]
        job.run.add_artifact(side, zipped(files), created_at=f"{started[:14]}10:00Z")

    outcome = job.gate(dry_run="true")
    code = cli.main(["classify", str(folder / "first"), str(folder / "rerun"), "--json"], {})

    assert code == outcome.code
    assert only_evidence(capsys.readouterr().out.encode()) == only_evidence(outcome.verdict or b"")
