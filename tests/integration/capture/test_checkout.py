"""Two runs that a comment started: what each of them tested is what each of them checked out."""

import subprocess
import sys
from pathlib import Path

import pytest

EVENT = {"GITHUB_EVENT_NAME": "issue_comment", "GITHUB_SHA": "d" * 40}


def capture(folder: Path, commit: str | None, bundle: Path, fault: str | None) -> None:
    """Pin a sample in a work tree, and record what happened to a call after it and to the oracle."""
    folder.mkdir()
    if commit:
        (folder / ".git").mkdir()
        (folder / ".git" / "HEAD").write_text(f"{commit}\n")
    (folder / "sample.json").write_bytes(b"[1, 2]")
    record = ["transport", "--status-code", "200"] if fault is None else ["transport", "--fault", fault]
    for words in (["pin", "--id", "s", "sample.json"], [record[0], "--id", "s", *record[1:]]):
        command = [sys.executable, "-m", "freeze_gate", *words]
        subprocess.run(command, cwd=folder, env=EVENT | {"FREEZE_GATE_BUNDLE": str(bundle)}, check=True, timeout=60)


@pytest.mark.parametrize(
    ("first", "rerun", "reason"),
    [
        ("a" * 40, "a" * 40, "transport-fault"),
        ("a" * 40, "b" * 40, "commit-mismatch"),
        ("a" * 40, None, "commit-unknown"),
        (None, None, "commit-unknown"),
    ],
)
def test_a_flake_needs_the_same_checkout_on_both_sides(
    tmp_path: Path, first: str | None, rerun: str | None, reason: str
) -> None:
    """A push between two jobs that each check out the head of the pull request changes what is tested."""
    capture(tmp_path / "1", first, tmp_path / "first", "timeout")
    capture(tmp_path / "2", rerun, tmp_path / "rerun", None)
    command = [sys.executable, "-m", "freeze_gate", "classify", str(tmp_path / "first"), str(tmp_path / "rerun")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    allowed = "true" if reason == "transport-fault" else "false"
    assert f"freeze_allowed={allowed}\n" in done.stdout
    assert reason in done.stderr
