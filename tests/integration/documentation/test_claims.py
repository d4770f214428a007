"""Figures and promises of the README, counted and tried."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from freeze_gate import RunRecord, classify, freeze_allowed
from freeze_gate.action.inputs import INPUTS
from freeze_gate.evidence.checks import FLAKE_CHECKS
from freeze_gate.evidence.limits import Limits
from freeze_gate.evidence.record import MAX_RECORD_BYTES, encode_record
from freeze_gate.github.client import MAX_RESPONSE_BYTES, RESPONSE_TIMEOUT
from freeze_gate.github.download import DOWNLOAD_TIMEOUT
from freeze_gate.policy.file import MAX_POLICY_BYTES
from freeze_gate.policy.freezes import LONGEST_FREEZE_DAYS, Policy
from freeze_gate.verdict.document import MAX_BYTES
from freeze_gate.verdict.plan import MAX_TICKETS
from freeze_gate.verdict.table import RULES
from tests.builders.bundle import make_capture
from tests.builders.record import OTHER_SAMPLE
from tests.standin.state import Grant
from tests.support.gate_job import GateResult, Job, api_calls
from tests.support.readme import blocks, rows, section

DROPPED, FAILED = make_capture(oracle=None, transport=False), make_capture(oracle=False)
PAIRS = {
    "miss": (FAILED, make_capture(oracle=False)),
    "split": (FAILED, make_capture()),
    "drift": (FAILED, make_capture(pin=OTHER_SAMPLE)),
    "flake": (DROPPED, make_capture()),
}
Test = Callable[[object, object], bool]
OF_DIGESTS: dict[str, Test] = {
    "one is missing": lambda a, b: None in (a, b),
    "unequal": lambda a, b: a != b,
    "equal": lambda a, b: a == b,
}
OF_ORACLES: dict[str, Test] = {
    "": lambda *_: True,
    "not comparable": lambda *_: True,
    "failed and failed": lambda a, b: (a, b) == (False, False),
    "one failed": lambda a, b: False in (a, b),
    "no recorded fail": lambda a, b: False not in (a, b),
    "unclear": lambda a, b: False not in (a, b),
}
OF_TRANSPORT: dict[str, Test] = {
    "": lambda *_: True,
    "ignored": lambda *_: True,
    "at least one fault": lambda a, b: False in (a, b),
    "no fault on record": lambda a, b: False not in (a, b),
}
"""What the words in the cells of the README's decision table mean."""

LIMITS = {row[0]: row[1] for row in rows("Limits")}


def test_the_decision_table_decides_as_the_code_does() -> None:
    """For every pair of records there can be, the first row of the README that holds has the code's class."""
    table = rows("What it decides")
    assert [re.sub(r"\[`(.*)`\].*", r"\1", row[0]) for row in table] == [rule.id for rule in RULES]
    tests = [(OF_DIGESTS[row[1]], OF_ORACLES[row[2]], OF_TRANSPORT[row[3]]) for row in table]
    records = [RunRecord(*facts) for facts in product((None, "x", "y"), (True, False, None), (True, False, None))]
    for a, b in product(records, repeat=2):
        row = next(
            row
            for row, holds in zip(table, tests, strict=True)
            if all(test(*facts) for test, facts in zip(holds, zip(a, b, strict=True), strict=True))
        )
        kind = classify(a, b)
        assert row[4] == f"`{kind}`", (a, b)
        assert row[5].startswith("true" if freeze_allowed(kind) else "false")


def test_there_are_as_many_flake_checks_as_it_says() -> None:
    """Four more."""
    assert len(FLAKE_CHECKS) == 6
    assert "Six [flake checks]" in section("What it decides")


def _size(size: int) -> str:
    """Write a size as the README does."""
    for unit, each in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= each and (unit != "GiB" or size >= 4 * each):
            return f"{size // each:,} {unit}"
    return f"{size:,}"


def test_the_limits_are_those_of_the_code() -> None:
    """Each row says the number that the code holds to."""
    limits = Limits()
    assert {name: LIMITS[name] for name in LIMITS if name != "API calls"} == {
        "download": f"`max-artifact-mb`, {_size(limits.artifact_bytes)}, and {DOWNLOAD_TIMEOUT // 60} minutes",
        "one response of GitHub's API": (
            f"{_size(MAX_RESPONSE_BYTES)}, and {RESPONSE_TIMEOUT} s from its request to its end"
        ),
        "members of an archive": f"{limits.members:,}",
        "one record": _size(MAX_RECORD_BYTES),
        "all records of an archive, and of all archives of a run": (
            f"{_size(limits.records_bytes)} and {limits.members:,}"
        ),
        "one pin": _size(limits.member_bytes),
        "all members": _size(limits.total_bytes),
        "unpacked size over packed size": f"{limits.ratio:,}, beyond {_size(limits.ratio_free_bytes)}",
        "verdict document": f"{_size(MAX_BYTES)}, else it is not written and a warning says so",
        "policy file": _size(MAX_POLICY_BYTES),
        "tickets of one run": f"{MAX_TICKETS}, the rest are named",
        "waiting": f"`wait-seconds`, {INPUTS['wait-seconds'].default} s in all",
    }


def test_a_policy_has_room_for_as_many_freezes_as_it_says() -> None:
    """Some eight hundred entries like the one that the README shows, in 256 KiB."""
    (policy,) = blocks("Freezes", "yaml")
    entry = "".join(line for line in policy.splitlines(keepends=True) if line.startswith(("  - ", "    ")))
    assert 700 <= MAX_POLICY_BYTES // len(entry.encode()) <= 900


def test_the_records_have_room_for_as_many_as_it_says() -> None:
    """Some sixty thousand records of the usual size."""
    usual = len(encode_record(make_capture().record))
    assert 50_000 <= Limits().records_bytes // usual <= 70_000


@pytest.mark.parametrize(("name", "calls"), [("miss", 3), ("split", 3), ("drift", 7), ("flake", 7)])
def test_a_run_costs_as_many_calls_as_it_says(job: Job, name: str, calls: int) -> None:
    """Listing, downloads, and what is asked and posted; with a policy file, a flake costs no more."""
    job.pair(*PAIRS[name])
    job.repository.add_file(".github/freeze-gate.yml", b"schema: freeze-gate/policy/1\n")

    job.gate()

    assert len(api_calls(job.github)) <= calls
    assert f"{calls} for a {name}" in LIMITS["API calls"] or name == "split"


def test_a_drift_and_a_flake_without_a_policy_cost_all_of_it(job: Job) -> None:
    """The figures are no rounder than they are."""
    for name in ("drift", "flake"):
        job.run.artifacts.clear()
        job.github.log.clear()
        job.pair(*(one.changed(run={"capture_id": None}) for one in PAIRS[name]))
        job.gate()
        assert len(api_calls(job.github)) == 7


def test_each_further_artifact_costs_one_call(job: Job) -> None:
    """Two shards a side in place of one: two calls more."""
    for shard in "ab":
        for side, one in zip(("first", "rerun"), PAIRS["miss"], strict=True):
            job.upload(f"{side}-{shard}", one.changed(fixture_id=shard))

    job.gate(first_artifact="first-*", rerun_artifact="rerun-*")

    assert len(api_calls(job.github)) == 3 + 2


PERMISSIONS = {"actions": "read", "contents": "read", "issues": "write", "pull_requests": "read"}


def _lacking(job: Job, permission: str, pair: str, level: str = "none") -> GateResult:
    """Run the gate with the README's block but for one line."""
    job.inputs["github-token"] = job.github.grant("ghs_lacking", Grant(**{**PERMISSIONS, permission: level}))  # type: ignore[arg-type]
    job.pair(*PAIRS[pair])
    return job.gate()


def _warned(outcome: GateResult) -> str:
    return " ".join(words for level, words in outcome.annotations if level == "warning")


def test_the_block_to_paste_is_what_the_recipes_have() -> None:
    """The permissions tried here are those of the block and of the table."""
    (block,) = blocks("Permissions", "yaml")
    lines = [f"{name.replace('_', '-')}: {level}" for name, level in PERMISSIONS.items()]
    assert block.splitlines() == ["permissions:", *(f"  {line}" for line in lines)]
    assert [row[0] for row in rows("Permissions")] == [f"`{line}`" for line in lines]


def test_with_the_whole_block_everything_is_posted(job: Job) -> None:
    """The pasted block is enough for the label and for a ticket."""
    assert _lacking(job, "actions", "flake", "read").outputs["label-posted"] == "true"
    job.run.artifacts.clear()
    assert _lacking(job, "actions", "drift", "read").outputs["issue-number"] == "13"


@pytest.mark.parametrize("private", [True, False])
def test_without_actions_nothing_can_be_read(job: Job, private: bool) -> None:
    """No verdict, exit code 3, and the line that is missing is named."""
    job.repository.private = private

    outcome = _lacking(job, "actions", "flake")

    assert outcome.code == 3
    assert outcome.lines["failure_class"] == "unclassified"
    assert "`actions: read`" in outcome.log


def test_an_empty_listing_is_a_missing_artifact_that_names_the_permission(job: Job) -> None:
    """Where GitHub shows an empty list in place of a refusal, both causes are named."""
    outcome = job.gate()

    assert outcome.said == ("unclassified", False, "artifact-missing")
    assert "its jobs uploaded none" in outcome.summary
    assert "actions: read" in outcome.summary


def test_without_contents_no_freeze_counts_and_a_seal_is_required(job: Job) -> None:
    """A policy that cannot be read is no policy that allows something."""
    today = datetime.now(UTC).date()
    freeze = {
        "fixture_id": "sorted-patch",
        "fixture_sha256": DROPPED.record.fixture_sha256,
        "owner": "@octo-org/harness",
        "reason": "executor lane drops connections",
        "added": str(today),
        "expires": str(today + timedelta(days=5)),
        "unfreeze_when": "lane upgrade is out",
    }
    policy = json.dumps({"schema": "freeze-gate/policy/1", "freezes": [freeze]}).encode()
    job.repository.add_file(".github/freeze-gate.yml", policy)

    outcome = _lacking(job, "contents", "flake")
    assert (outcome.code, outcome.outputs["freeze-active"]) == (1, "false")
    assert "`contents: read`" in _warned(outcome)

    job.run.artifacts.clear()
    job.pair(DROPPED, make_capture().changed(oracle={"egress": "open"}))
    assert job.gate().said == ("unclassified", False, "oracle-unsealed")


@pytest.mark.parametrize("pair", ["flake", "drift"])
@pytest.mark.parametrize("level", ["none", "read"])
def test_without_issues_nothing_is_posted_and_the_verdict_stands(job: Job, level: str, pair: str) -> None:
    """No label and no ticket; class and exit code are the same, and a warning names the line."""
    outcome = _lacking(job, "issues", pair, level)

    assert outcome.code == 1
    assert outcome.said[0] == {"flake": "harness_flake", "drift": "fixture_drift"}[pair]
    assert "`issues: write`" in _warned(outcome)
    assert not job.pull.issue.labels
    assert [*job.repository.issues] == [12]


def test_without_pull_requests_the_label_is_not_added(job: Job) -> None:
    """Nothing shows that the head is the tested commit."""
    outcome = _lacking(job, "pull_requests", "flake")

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert outcome.code == 1
    assert "`pull-requests: read`" in _warned(outcome)
    assert not job.pull.issue.labels


@pytest.mark.parametrize("permission", ["contents", "pull_requests"])
def test_a_public_repository_shows_its_policy_and_its_pull_requests(job: Job, permission: str) -> None:
    """There neither line is missed."""
    job.repository.private = False

    outcome = _lacking(job, permission, "flake")

    assert outcome.outputs["label-posted"] == "true"
    assert not _warned(outcome)


@pytest.mark.parametrize(("fail_on", "code"), [("unfrozen", 1), ("never", 0)])
def test_never_turns_one_into_nought_and_nothing_else(job: Job, fail_on: str, code: int) -> None:
    """A verdict that blocks is let through; a bad input and a gate that cannot read are not."""
    job.pair(*PAIRS["miss"])
    assert job.gate(fail_on=fail_on).code == code
    assert job.gate(fail_on=fail_on, tickets="yes").code == 2
    job.inputs["github-token"] = job.github.grant("ghs_blind", Grant(actions="none"))
    assert job.gate(fail_on=fail_on).code == 3


def test_a_freeze_lasts_as_long_as_the_example_says() -> None:
    """What is set there is what counts where nothing is set, and the comment beside it says so."""
    (shown,) = blocks("Freezes", "yaml")
    assert f"max_freeze_days: {Policy().max_freeze_days} " in shown
    assert f"# {Policy().max_freeze_days} unless set, {LONGEST_FREEZE_DAYS} at most\n" in shown


def test_the_four_lines_are_shown_as_they_are_written(job: Job) -> None:
    """The block at the top of the README has the lines of a flake's summary, by name and in their order."""
    job.pair(*PAIRS["flake"])
    lines = job.gate().lines
    shown = dict(line.split("=", 1) for line in blocks("Freeze Gate", "")[0].split())
    assert list(shown) == list(lines)
    assert (shown["failure_class"], shown["freeze_allowed"]) == (lines["failure_class"], lines["freeze_allowed"])
    assert shown["fixture_path"] == f"fixtures/{shown['fixture_sha256']}.json"
    assert "**Why:**" in job.gate().summary
    assert "why" in section("Freeze Gate")
