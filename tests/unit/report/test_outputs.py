"""Four lines, always four, always in this order."""

import pytest
from hypothesis import given

from freeze_gate.evidence.models import Pair
from freeze_gate.report.outputs import FAIL_CLOSED_LINES, format_four_lines
from freeze_gate.verdict.evaluate import evaluate
from tests.builders.evidence import DRIFT, FLAKE, MISS, SPLIT, X, make_case, make_pair, make_side
from tests.support.github_markdown import hostile

NAMES = ["fixture_sha256", "failure_class", "freeze_allowed", "fixture_path"]


@pytest.mark.parametrize(
    ("given_pair", "failure_class", "allowed"),
    [
        (MISS, "property_miss", "false"),
        (DRIFT, "fixture_drift", "false"),
        (FLAKE, "harness_flake", "true"),
        (SPLIT, "unclassified", "false"),
        (make_pair(), "unclassified", "false"),
    ],
)
def test_the_lines_of_each_class(given_pair: Pair, failure_class: str, allowed: str) -> None:
    """The digest and the path are the first run's; the class and its permission are the run's."""
    assert format_four_lines(evaluate(make_case(given_pair))) == (
        f"fixture_sha256={X}\nfailure_class={failure_class}\nfreeze_allowed={allowed}\nfixture_path=fixtures/{X}.json\n"
    )


def test_what_is_not_there_is_missing() -> None:
    """Without a first run that can be trusted, its digest and its path are `missing`."""
    unpinned = Pair("sorted-patch", make_side(1)._replace(pin=None), make_side(2))
    assert format_four_lines(evaluate(make_case(unpinned))) == FAIL_CLOSED_LINES


def test_the_closed_lines() -> None:
    """Where no verdict was reached, nothing is known and nothing is allowed."""
    assert FAIL_CLOSED_LINES == (
        "fixture_sha256=missing\nfailure_class=unclassified\nfreeze_allowed=false\nfixture_path=missing\n"
    )


@given(hostile())
def test_no_path_forges_a_line(path: str) -> None:
    """Even a path that no record may hold stays on its own line."""
    result = evaluate(make_case(MISS))
    forged = result._replace(verdicts=(result.verdict._replace(fixture_path=path),))
    lines = format_four_lines(forged).split("\n")
    assert [line.partition("=")[0] for line in lines] == [*NAMES, ""]
    assert lines[2] == "freeze_allowed=false"
