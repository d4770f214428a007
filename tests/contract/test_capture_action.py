"""The capture action: what decides whether the oracle runs, and what its steps promise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from freeze_gate.evidence.record import encode_record
from tests.support.gate_job import Capture, capture

ACTION = Path(__file__).parents[2] / ".github" / "actions" / "capture"


def _asked(bundle: Path, record: bytes | None) -> int:
    """Ask the action's program about a bundle with that record of the fixture; return its exit code."""
    (bundle / "records").mkdir(parents=True)
    if record is not None:
        (bundle / "records" / "sorted-patch.json").write_bytes(record)
    environ = {**os.environ, "FREEZE_GATE_BUNDLE": str(bundle), "FREEZE_GATE_ID": "sorted-patch"}
    command = [sys.executable, "-I", str(ACTION / "pinned_whole.py")]
    return subprocess.run(command, env=environ, check=False, timeout=60).returncode


@pytest.mark.parametrize(
    ("seen", "runs"),
    [
        (capture(), True),
        (capture(oracle=None, transport=False), True),
        (capture().changed(transport={"pin_complete": None}), True),
        (capture(oracle=None, transport=False).changed(transport={"pin_complete": False}), False),
        (capture(pin=None, oracle=None, transport=False), False),
    ],
    ids=["whole", "whole, lane dropped", "pinned by hand", "truncated sample", "nothing"],
)
def test_the_oracle_runs_on_whole_samples_only(seen: Capture, runs: bool, tmp_path: Path) -> None:
    """A truncated sample would blame the patch for the harness; a whole one deserves its verdict, whatever dropped."""
    assert _asked(tmp_path, encode_record(seen.record)) == (0 if runs else 1)


@pytest.mark.parametrize("record", [None, b"{}"], ids=["missing", "invalid"])
def test_the_oracle_does_not_run_without_a_record(record: bytes | None, tmp_path: Path) -> None:
    """A sampler that recorded nothing readable pinned nothing."""
    assert _asked(tmp_path, record) == 1


def test_evidence_is_uploaded_whatever_happened_unless_it_would_hide_that() -> None:
    """The upload comes last, and as the look before it says; its name ends as `{attempt}` expects."""
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    *before, look, upload = action["runs"]["steps"]
    assert look["if"] == "${{ always() }}"
    outcomes = [f"${{{{ steps.{step['id']}.outcome }}}}" for step in before]
    assert look["env"]["OUTCOMES"].replace("}} ", "}}\n").splitlines() == outcomes
    assert upload["if"] == "${{ always() && steps.look.outputs.upload == 'true' }}"
    assert action["outputs"]["red"]["value"] == "${{ steps.look.outputs.red }}"
    assert upload["with"]["name"] == action["outputs"]["artifact-name"]["value"]
    assert upload["with"]["name"].endswith("-${{ github.run_id }}-${{ github.run_attempt }}")


def test_no_expression_stands_in_a_script() -> None:
    """Inputs reach the shell as variables: an expression inside a script would be code."""
    steps = yaml.safe_load((ACTION / "action.yml").read_text())["runs"]["steps"]
    assert [step["name"] for step in steps if "${{" in step.get("run", "")] == []
