"""Every reason has its why and its next, and next says what to press or paste."""

from collections.abc import Callable

import pytest

from freeze_gate.evidence.checks import EVIDENCE_CHECKS, FLAKE_CHECKS, Finding
from freeze_gate.evidence.models import CheckFailure, Pair, Side, Source
from freeze_gate.policy.freezes import Policy, PolicyReading
from freeze_gate.report.advice import EXPLANATIONS, NEXT_STEPS, advise, describe_finding, explain, merge_findings
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.models import GREEN, Case
from freeze_gate.verdict.table import RULES
from tests.builders.evidence import (
    CONTEXT,
    DRIFT,
    FLAKE,
    FREEZE,
    MISS,
    SPLIT,
    UNPROVEN,
    Y,
    make_case,
    make_pair,
    make_side,
)
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
    assert explain(make_pair(), evaluate(make_case(make_pair())).verdict).startswith("Nothing to mute")


def test_a_failed_check_says_where_and_what_was_seen() -> None:
    """The check's own sentence is followed by the side and the detail."""
    lost = Pair("sorted-patch", make_side(1), make_side(2)._replace(pin=None))
    said = explain(lost, evaluate(make_case(lost)).verdict)
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


def _ended(exit_code: int | None, *, oracle: bool | None = False, **transport: object) -> Callable[[int], Side]:
    """Return a maker of a side whose oracle ended with this exit code."""

    def make(attempt: int) -> Side:
        side = make_side(attempt, oracle=oracle)
        assert side.record
        record = side.record._replace(
            oracle=side.record.oracle._replace(exit_code=exit_code),
            transport=side.record.transport._replace(**transport),
        )
        return side._replace(record=record)

    return make


def _next(pair: Pair) -> str:
    case = make_case(pair)
    return advise(case, evaluate(case))


@pytest.mark.parametrize(
    ("first", "rerun", "meaning"),
    [
        (127, 127, "exit code 127, the command was not found"),
        (126, 127, "exit code 126, the command cannot be executed; exit code 127, the command was not found"),
        (4, 4, "exit code 4, for pytest a wrong option or a missing file"),
        (5, 5, "exit code 5, for pytest no test collected"),
    ],
)
def test_a_command_or_tests_that_were_not_found_send_the_reader_to_the_set_up(
    first: int, rerun: int, meaning: str
) -> None:
    """The class stays a miss, and the next step begins with what is most often wrong in the first hour."""
    pair = Pair("sorted-patch", _ended(first)(1), _ended(rerun)(2))
    assert evaluate(make_case(pair)).reason == "both-oracles-failed"
    assert _next(pair).startswith(
        f"First check the set-up of the job: the oracle's command or its tests were not found ({meaning})."
    )


@pytest.mark.parametrize("exits", [(1, 127), (127, 1), (None, 127), (1, 1)])
def test_one_oracle_that_ran_is_no_missing_command(exits: tuple[int | None, int | None]) -> None:
    """Where an oracle failed for another cause, that failure is read first."""
    pair = Pair("sorted-patch", _ended(exits[0])(1), _ended(exits[1])(2))
    assert "set-up" not in _next(pair)


def _replayed(side: Side) -> Side:
    assert side.record
    run = side.record.run._replace(replay_of="1".rjust(32, "0"))
    return side._replace(record=side.record._replace(transport_ok=None, run=run))


@pytest.mark.parametrize("oracle", [True, False])
def test_a_replayed_truncated_sample_is_named_before_anything_else(oracle: bool) -> None:
    """Where oracles failed on a sample that was cut off, the reader samples again before blaming code or chance."""
    cut = _ended(1, pin_complete=False, fault="truncated")(1)
    assert cut.record
    first = cut._replace(record=cut.record._replace(transport_ok=False))
    pair = Pair("sorted-patch", first, _replayed(_ended(0 if oracle else 1, oracle=oracle, pin_complete=False)(2)))
    assert evaluate(make_case(pair)).reason == ("split-oracle" if oracle else "both-oracles-failed")
    assert _next(pair).startswith("First sample again until an answer is complete")
    assert "The sample was cut off" in _next(pair)


def test_a_whole_sample_of_the_same_bytes_is_not_called_cut_off() -> None:
    """A fresh sample that arrived whole shows that the bytes are all there."""
    pair = Pair("sorted-patch", _ended(1, pin_complete=False)(1), _ended(0, oracle=True)(2))
    assert "cut off" not in _next(pair)


@pytest.mark.parametrize(
    ("first", "rerun", "words"),
    [
        (False, True, "The sample of the first run was cut off, so do not use its bytes. If those of the rerun"),
        (True, False, "The sample of the rerun was cut off, so do not use its bytes. If those of the first run"),
        (False, False, "Both samples were cut off"),
    ],
)
def test_a_drift_from_a_truncated_sample_names_the_bytes_that_are_not_right(
    first: bool,
    rerun: bool,
    words: str,
) -> None:
    """Nobody is told to replay or to keep a sample that was cut off."""
    other = make_side(2, pin=Y)
    assert other.record
    transport = other.record.transport._replace(pin_complete=rerun)
    side = other._replace(record=other.record._replace(transport=transport))
    text = _next(Pair("sorted-patch", _ended(1, pin_complete=first)(1), side))
    assert text.startswith(words)
    assert "replay" not in text


def test_one_oracle_without_a_second_result_is_not_called_chance() -> None:
    """Where the other oracle gave no result, a second result on the same bytes decides."""
    text = _next(make_pair({"oracle": False}, {"oracle": None}))
    assert "let it run on the same bytes" in text
    assert "deterministic" not in text
    assert "not deterministic" in _next(SPLIT)


@pytest.mark.parametrize(
    ("pair", "why", "runs"),
    [
        (SPLIT, "(the first run: failed, exit code 1; the rerun: passed, exit code 0).", (1,)),
        (MISS, "(both runs: failed, exit code 1).", (1, 2)),
        (FLAKE, "(the first run: connection).", (1,)),
        (make_pair(None, {"pin": None, "oracle": None}), "(the rerun: nothing pinned, transport ok).", (2,)),
        (
            make_pair(None, {"oracle": None}),
            "(the first run: oracle passed, exit code 0, transport ok; the rerun: oracle not run, transport ok).",
            (2,),
        ),
    ],
)
def test_both_sentences_name_the_run_and_the_recorded_cause(pair: Pair, why: str, runs: tuple[int, ...]) -> None:
    """Why says what was recorded where; next links to the runs whose logs the reader opens."""
    case = make_case(pair)
    result = evaluate(case)
    assert explain(pair, result.verdict).endswith(why)
    text = advise(case, result, CONTEXT)
    linked = tuple(run for run in (1, 2) if f"/attempts/{run})" in text)
    assert linked == runs
    assert "{run}" not in text


def test_what_a_check_says_of_both_runs_is_said_once() -> None:
    """Two findings in the same words are one, and it names both runs."""
    both = [Finding("artifact-missing", side, "none") for side in ("first", "rerun")]
    (merged,) = merge_findings(both)
    assert describe_finding(merged) == "both runs: none"
    assert len(merge_findings([both[0], both[1]._replace(detail="other")])) == 2


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_every_next_step_names_runs_and_leaves_no_blank(reason: str) -> None:
    """What is filled in is the run, and nothing else of these sentences is a pattern."""
    assert "{" not in NEXT_STEPS[reason].replace("{run}", "").replace("`{attempt}`", "").replace("`{fixture}`", "")
