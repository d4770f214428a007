"""What the summary says of the policy file, and the entry that it offers."""

import re
from datetime import date
from typing import Any

import pytest
import yaml

from freeze_gate.evidence.models import Pair
from freeze_gate.policy.file import read_policy
from freeze_gate.policy.freezes import STATES, Policy, PolicyReading
from freeze_gate.report.freezes import render_freezes
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.models import Case
from tests.builders.evidence import (
    CONTEXT,
    DRIFT,
    FLAKE,
    FREEZE,
    MISS,
    SPLIT,
    TODAY,
    UNPROVEN,
    X,
    Y,
    make_case,
    make_pair,
)
from tests.support.github_markdown import plain_words, render


def part(given: Case) -> str:
    """Return the policy part of a case's summary."""
    return "\n".join(render_freezes(given, evaluate(given), CONTEXT))


def with_freeze(given: Pair = FLAKE, **changed: Any) -> str:
    """Return what is said where the policy holds one entry."""
    policy = Policy(freezes=(FREEZE._replace(**changed),))
    return part(make_case(given, policy=PolicyReading("read", policy, "b" * 40)))


def test_an_active_freeze_names_owner_reason_last_day_and_condition() -> None:
    """Whoever sees a muted flake can ask somebody, and nothing is offered to paste."""
    said = with_freeze()
    words = plain_words(said)
    for fact in ("@octo-org/harness", "executor lane drops connections", "2026-12-10", "lane upgrade is out", "muted"):
        assert fact in words
    assert "```" not in said
    assert render(said).by_itself == ()


def test_where_there_is_no_policy_file_the_whole_file_is_offered() -> None:
    """What the link opens empty is complete when the text is pasted and the reviewer's fields are filled in."""
    text = part(make_case(FLAKE, policy=PolicyReading("absent")))
    assert "as `.github/freeze-gate.yml`, which is not there yet, on the default branch" in text
    filled = render(text).fences[0]
    for field, value in (("owner", '"@octo"'), ("reason", "lane"), ("expires", "2026-12-10"), ("unfreeze_when", "up")):
        filled = re.sub(rf"({field}:) +#.*", rf"\1 {value}", filled)
    reading = read_policy(filled.encode(), "policy", TODAY)
    assert reading.problems == ()
    assert [freeze.fixture_sha256 for freeze in reading.policy.freezes] == [X]


@pytest.mark.parametrize(
    ("state", "changed", "words", "offered"),
    [
        ("expired", {"expires": date(2026, 11, 28)}, "expired on 2026-11-28, owner @octo-org/harness", True),
        ("other_digest", {"fixture_sha256": Y}, f"is for another digest ({Y})", True),
        ("not_yet", {"added": date(2026, 11, 30)}, "counts from 2026-11-30 on", False),
        ("too_long", {"added": date(2026, 11, 1)}, "is longer than max_freeze_days allows", False),
        ("other_pull_request", {"pull_request": 13}, "is only for pull request 13", False),
    ],
)
def test_the_nearest_entry_that_mutes_nothing_is_named(
    state: str, changed: dict[str, Any], words: str, offered: bool
) -> None:
    """Each way to miss is said; a new entry is offered only where it would not overlap the one that is there."""
    assert state in STATES
    said = with_freeze(**changed)
    assert words in plain_words(said)
    assert ("```yaml" in said) is offered


def test_an_entry_is_ready_to_paste_and_open_where_a_reviewer_decides() -> None:
    """It is YAML with id, digest and today; owner, reason, expires and unfreeze_when are empty."""
    (entry,) = yaml.safe_load(render(part(make_case(FLAKE, policy=PolicyReading("read")))).fences[0])
    assert entry == {
        "fixture_id": "sorted-patch",
        "fixture_sha256": X,
        "added": TODAY,
        "owner": None,
        "reason": None,
        "expires": None,
        "unfreeze_when": None,
    }


@pytest.mark.parametrize("fixture_id", ["null", "1e5", "0x1f", "2026-11-29", "yes", "12345"])
def test_an_id_that_yaml_would_take_for_something_else_stays_a_string(fixture_id: str) -> None:
    """The pasted id is the fixture's id, whatever it looks like."""
    given = make_case(make_pair({"oracle": None, "transport": False}, fixture_id=fixture_id))
    assert yaml.safe_load(render(part(given)).fences[0])[0]["fixture_id"] == fixture_id


def test_without_a_passing_oracle_nothing_is_offered() -> None:
    """Nothing shows that the patch works, so no freeze would mute it, with an entry or without."""
    for said in (part(make_case(UNPROVEN)), with_freeze(UNPROVEN)):
        assert "nothing shows that the patch works, and a freeze would not mute it" in said
        assert "```" not in said


@pytest.mark.parametrize("given", [MISS, DRIFT, SPLIT, make_pair()])
def test_no_other_class_has_anything_to_do_with_a_freeze(given: Pair) -> None:
    """The policy file is silent about a miss, a drift, a split and a green pair."""
    assert with_freeze(given) == ""


def test_a_policy_that_was_not_readable_is_loud_and_names_the_permission() -> None:
    """In the gate, without a blob, the cure is `contents: read`."""
    reading = PolicyReading("unusable", problems=("GitHub refused to let the token read it (HTTP 403)",))
    said = part(make_case(FLAKE, policy=reading))
    assert said.startswith("**`.github/freeze-gate.yml` could not be used")
    assert "HTTP 403" in said
    assert "`contents: read`" in said
    assert "```" not in said


def test_a_malformed_policy_is_loud_and_names_its_problems() -> None:
    """There is a blob, so reading was allowed: the problems are in the file, and may quote whoever wrote it."""
    reading = PolicyReading("unusable", sha="b" * 40, problems=("line 4: freezes[0].owner: <img> @octocat",) * 30)
    said = part(make_case(MISS, policy=reading))
    assert "line 4" in said
    assert "contents: read" not in said
    assert "`freeze-gate check`" in said
    assert (render(said).html, render(said).by_itself) == ((), ())


def test_many_flakes_are_counted() -> None:
    """Twenty entries are offered, the rest is a number."""
    flakes = [make_pair({"oracle": None, "transport": False}, fixture_id=f"f{place:03}") for place in range(50)]
    said = part(make_case(*flakes))
    assert len(yaml.safe_load(render(said).fences[0])) == 20
    assert "Without an entry so far: 30 more flakes." in said
