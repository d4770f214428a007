"""The README's first week: each thing that happens to a harness, made to happen, reads as its row says."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from freeze_gate.evidence.digest import Sha256
from freeze_gate.report.advice import EXPLANATIONS
from freeze_gate.verdict.table import FailureClass
from tests.demo.scenes import LANE_DROPPED, REPLAY, SCENES, Scene, oracle, sample
from tests.demo.stage import staged
from tests.support.readme import rows

NEVER_BROKEN = ("oracle", "--id", "sorted-patch", "--", "true")
ROWS = {row[0]: row[1:] for row in rows("The first week")}
HAPPENED = {
    "no answer at all, on both runs": [Scene("", (sample("silent"),), (sample("silent"),))],
    "a cut body on the first run, a fresh whole sample on the rerun": [
        Scene("", (sample("cut"),), (sample("still"), oracle()))
    ],
    "a fresh sample that differs, both whole": [
        Scene("", (sample("moving"), oracle("broken")), (sample("moving"), oracle()))
    ],
    "the executing lane dropped after a whole sample; rerun by `replay`, oracle passes": [SCENES["harness_flake"]],
    "a truncated sample was pinned, `replay` checked only that, and the oracle passed on it": [
        Scene("", (sample("cut"),), (REPLAY, NEVER_BROKEN))
    ],
    "a truncated sample was pinned, `replay` checked only that, and the oracle failed on it": [
        Scene("", (sample("cut"),), (REPLAY, oracle()))
    ],
    "`replay`, and both oracles fail": [Scene("", (sample("still"), oracle("broken")), (REPLAY, oracle("broken")))],
    "one oracle failed, the other passed, on the same bytes": [SCENES["unclassified"]],
    "no rerun yet": [Scene("", (sample("still"), oracle("broken")), ())],
    "a freeze is merged, but the sample is new": [
        Scene("", (sample("moving"), LANE_DROPPED), (sample("moving"), oracle()))
    ],
    "a freeze is merged, but the lane drops on a new sample": [
        Scene("", (sample("moving"), LANE_DROPPED), (REPLAY, oracle()))
    ],
}
STEPS = (
    "run before any assertion",
    "which bytes are right",
    "refresh the fixture",
    "its own fixture id",
    "fix the service that failed",
    "into the policy file",
    "until an answer is complete",
    "until its result is stable",
    "treat the failure as real",
    "fix the patch",
)
"""What there is to do besides pressing a button and running a command, in the words of the table and of the summary."""


def test_every_row_is_tried() -> None:
    """The table has the rows below, in their order."""
    assert list(ROWS) == list(HAPPENED)


@pytest.mark.parametrize(("what", "scene"), [(what, scene) for what, scenes in HAPPENED.items() for scene in scenes])
def test_reads_as_the_row_says(what: str, scene: Scene) -> None:
    """Class, reason, label and ticket are those of the row; row and *next* sentence tell the reader to do the same."""
    read, press = ROWS[what]
    frozen = "freeze is merged" in what
    with staged(scene) as stage:
        if frozen:
            today = datetime.now(UTC).date()
            stage.freeze(Sha256.of(b"an older sample"), today, today + timedelta(days=10))
        ended = stage.judge(wait_seconds=0)  # what is not there never comes
        labels, tickets = stage.labels, stage.tickets

    said, reason = ended.outputs["failure-class"], ended.outputs["reason"]
    flake, drift = said == FailureClass.HARNESS_FLAKE, said == FailureClass.FIXTURE_DRIFT
    named = re.findall(r"`([a-z_-]+)`", read)
    assert said in named
    assert reason in named or not {*named} & EXPLANATIONS.keys()
    assert labels == (["freeze-request"] if flake else [])
    assert tickets == (["#13 Refresh fixture: sorted-patch"] if drift else [])
    assert ended.exit_code == 1
    assert ("ticket" in read) == drift
    assert ("label" in read) == flake
    assert ("is for another digest" in ended.summary) == ("is for another digest" in read)
    (following,) = re.findall(r"^> \*\*Next:\*\* (.*)$", ended.summary, re.MULTILINE)
    assert _to_do(re.sub(r" \(.*?\)(?=[ ;:,.]|$)", "", press)) == _to_do(following) != set()


def _to_do(text: str) -> set[str]:
    """Name what a text tells its reader: buttons, commands and steps. Its brackets are the table's own."""
    buttons, commands = re.findall(r"\*\*(.*?)\*\*", text), re.findall(r"`(?:freeze-gate )?(.*?)`", text)
    return {*buttons, *commands, *(step for step in STEPS if step in text.lower())}
