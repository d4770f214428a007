"""The whole chain, as `script/demo` shows it: a sampler, the real commands of both runs, real zips, the real gate."""

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from freeze_gate.evidence.digest import Sha256
from tests.demo.scenes import SCENES
from tests.demo.stage import freeze_and_lapse, staged
from tests.support.readme import ROOT

REASONS = {
    "property_miss": "both-oracles-failed",
    "fixture_drift": "digests-differ",
    "harness_flake": "transport-fault",
    "unclassified": "split-oracle",
}


@pytest.mark.parametrize("name", SCENES)
def test_each_scene_is_what_its_name_says(name: str) -> None:
    """From the sampler to lines, outputs, exit code, label and ticket, each class comes out as itself."""
    with staged(SCENES[name]) as stage:
        ended = stage.judge()

        lines = dict(line.split("=", 1) for line in ended.summary.split("```")[1].split())
        assert lines["failure_class"] == ended.outputs["failure-class"] == name
        assert lines["freeze_allowed"] == ("true" if name == "harness_flake" else "false")
        assert ended.outputs["reason"] == REASONS[name]
        assert ended.exit_code == 1
        pinned = (stage.folder / "first" / lines["fixture_path"]).read_bytes()
        assert lines["fixture_sha256"] == Sha256.of(pinned)
        assert stage.labels == (["freeze-request"] if name == "harness_flake" else [])
        assert stage.tickets == (["#13 Refresh fixture: sorted-patch"] if name == "fixture_drift" else [])


def test_a_freeze_mutes_until_its_last_day() -> None:
    """The same flake is red without a freeze, green with one, and red again on the day after it expired."""
    with staged(SCENES["harness_flake"]) as stage:
        told = list(freeze_and_lapse(stage, datetime.now(UTC).date()))

        assert [ended.exit_code for _, ended in told] == [1, 0, 1]
        assert [ended.outputs["freeze-active"] for _, ended in told] == ["false", "true", "false"]
        assert {ended.outputs["failure-class"] for _, ended in told} == {"harness_flake"}
        assert "expired on" in told[2][1].summary


def _demo(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tests.demo", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


def test_the_demo_shows_one_scene_whole() -> None:
    """With a name it shows the summary, and what was posted."""
    done = _demo("unclassified")

    assert done.returncode == 0, done.stderr
    assert "**Why:** One oracle failed" in done.stdout
    assert "  reason:    split-oracle\n  label:     none\n  ticket:    none\n  exit code: 1\n" in done.stdout


def test_the_demo_names_its_scenes() -> None:
    """A name that it does not have is a wrong use, and it lists those that it has."""
    done = _demo("green")

    assert done.returncode == 2
    assert done.stderr == f"usage: script/demo [{'|'.join([*SCENES, 'freeze'])}]\n"
