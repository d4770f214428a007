"""Every reason has its why and its next, and next says what to press or paste."""

import pytest

from freeze_gate.evidence.checks import EVIDENCE_CHECKS, FLAKE_CHECKS, Finding
from freeze_gate.evidence.models import CheckFailure, Pair, Side, Source
from freeze_gate.policy.freezes import Policy, PolicyReading
from freeze_gate.report.advice import EXPLANATIONS, NEXT_STEPS, advise, describe_finding, explain
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.models import GREEN, Case
from freeze_gate.verdict.table import RULES
from tests.builders.evidence import DRIFT, FLAKE, FREEZE, MISS, UNPROVEN, make_case, make_pair, make_side
from tests.support.github_markdown import render

REASONS = {check.id for check in (*EVIDENCE_CHECKS, *FLAKE_CHECKS)} | {rule.id for rule in RULES} | {GREEN}


def test_each_reason_has_both_sentences_and_nothing_else_has() -> None:
    """A check or a rule that is added without its advice fails here."""
    assert set(EXPLANATIONS) == REASONS
    assert set(NEXT_STEPS) == REASONS


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_advice_is_plain_words_with_code_and_emphasis_alone(reason: str) -> None:
    """No link, no HTML and no reference in our own sentences; each ends as a sentence does."""
    for sentence in (EXPLANATIONS[reason], NEXT_STEPS[reason]):
        rendered = render(sentence)
        assert (rendered.links, rendered.html, rendered.by_itself) == ((), (), ())
        assert rendered.blocks == ("paragraph_open",)
        assert sentence.endswith(".")
        assert "  " not in sentence


def test_no_sentence_promises_the_addresses_that_an_oracle_tried_to_reach() -> None:
    """The kernel counts what found no route, and nothing more: the way on is the oracle's own output."""
    assert "counts attempts and records no address" in NEXT_STEPS["oracle-egress"]


def test_a_green_pair_has_nothing_to_mute() -> None:
    """The why of a green pair begins with these words."""
    assert explain(evaluate(make_case(make_pair())).verdict).startswith("Nothing to mute")


def test_a_failed_check_says_where_and_what_was_seen() -> None:
    """The check's own sentence is followed by the side and the detail."""
    lost = Pair("sorted-patch", make_side(1), make_side(2)._replace(pin=None))
    said = explain(evaluate(make_case(lost)).verdict)
    assert said.startswith("The pinned file is not in the bundle (the rerun: there is no fixtures/")
    assert said.endswith(").")


def test_why_is_plain_text() -> None:
    """It is shown in the log as well as in Markdown, so each place escapes it for itself."""
    assert not any(set(sentence) & set("`*_[]<>") for sentence in EXPLANATIONS.values())
    finding = Finding("artifact-missing", "first", "no [a](http://evil.example)")
    assert describe_finding(finding) == "the first run: no [a](http://evil.example)"


def _absent(newest_attempt: int | None, run_id: int = 4242) -> Pair:
    fault = CheckFailure("artifact-missing", "there is no freeze-gate-2 in run 4242")
    gone = Side(Source("freeze-gate-2", run_id=run_id, newest_attempt=newest_attempt, fault=fault))
    first = make_side(1)
    return Pair(None, first._replace(source=first.source._replace(newest_attempt=newest_attempt)), gone)


@pytest.mark.parametrize(
    ("given_pair", "words"),
    [
        (_absent(1), "press **Re-run jobs**, then **Re-run failed jobs**"),
        (_absent(2), "contains `{attempt}` on both sides"),
        (_absent(None), "`actions: read`"),
        (_absent(1, run_id=4243), "`actions: read`"),
    ],
)
def test_a_missing_artifact_in_the_first_week(given_pair: Pair, words: str) -> None:
    """One attempt yet: which button; several: keep them apart; two runs, or nothing known: both causes."""
    given_case = make_case(given_pair)
    result = evaluate(given_case)
    assert result.reason == "artifact-missing"
    assert words in advise(given_case, result)


def _policy(**changed: object) -> PolicyReading:
    return PolicyReading("read", Policy(freezes=(FREEZE._replace(**changed),)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given_case", "words"),
    [
        (make_case(FLAKE), "complete the entry below"),
        (make_case(FLAKE, policy=_policy()), "Nothing to do now"),
        (make_case(FLAKE, policy=_policy(pull_request=13)), "change the freeze that exists already"),
        (make_case(FLAKE, policy=PolicyReading("unusable")), "First fix the problem with the policy file"),
        (make_case(UNPROVEN), "nothing shows that the patch works, and a freeze would not mute this"),
        (
            make_case(FLAKE, make_pair({"transport": False}, fixture_id="b"), policy=_policy()),
            "complete the entry below",
        ),
        (make_case(MISS, policy=_policy()), "fix the patch"),
        (make_case(DRIFT), "refresh the fixture"),
    ],
)
def test_what_to_do_next_about_a_flake_depends_on_the_policy(given_case: Case, words: str) -> None:
    """Muted, about to be muted, not mutable: each has its own next step, and no other class has any of them."""
    assert words in advise(given_case, evaluate(given_case))
