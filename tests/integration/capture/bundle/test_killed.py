"""Captures that die, and captures that run at the same time."""

import subprocess
import sys
from pathlib import Path

from tests.support.recording_clients import ID, bundle, record_in

KILLED = Path(__file__).parents[3] / "support" / "capture_killer.py"

FOLD = """
import sys
from pathlib import Path
from freeze_gate.cli import main
for _ in range(15):
    facts = ["--status-code", "200", "--retry-count", "1"]
    assert main(["transport", "--id", sys.argv[1], "--bundle", sys.argv[2], *facts], {}) == 0
"""


def test_a_capture_killed_at_any_moment_leaves_no_half_written_file(tmp_path: Path) -> None:
    """At each of its steps and at random: records stay readable, pins keep to their digest, later captures work."""
    done = subprocess.run(
        [sys.executable, str(KILLED), str(tmp_path)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 60


def test_no_fold_is_lost_between_processes(tmp_path: Path) -> None:
    """Three processes fold fifteen calls each into one record: the retries of all forty-five are there."""
    command = [sys.executable, "-c", FOLD, ID, str(bundle(tmp_path))]
    running = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert record_in(bundle(tmp_path)).transport.retry_count == 45
