"""What tests read workflows with says what GitHub would."""

from typing import Any

import pytest

from tests.support.actions_expressions import fill, says_when

CONTEXTS = {
    "github": {"run_id": 4242, "run_attempt": 2, "event": {"head": {"full_name": "stranger/widgets"}}},
    "needs": {
        "first": {"result": "failure", "outputs": {"artifact-id": "7"}},
        "rerun": {"result": "skipped", "outputs": {}},
    },
}
FUNCTIONS = {"always": lambda: True, "cancelled": lambda: False}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("first-${{ github.run_id }}-{attempt}", "first-4242-{attempt}"),
        ("${{ needs.first.outputs.artifact-id }}", "7"),
        ("${{ needs.rerun.outputs.artifact-id }}", None),
        ("x${{ needs.rerun.outputs.artifact-id }}y", "xy"),
        ("${{ needs.rerun.outputs.artifact-id == '' }}", True),
        ("${{ needs.first.result == 'FAILURE' }}", True),
        ("${{ needs.first.result != 'success' || github.run_attempt > 1 }}", True),
        ("${{ github.run_attempt > 2 }}", False),
        ("${{ github.run_attempt >= 2 && !cancelled() }}", True),
        ("${{ contains(needs.*.result, 'skipped') }}", True),
        ("${{ contains(needs.*.result, 'cancelled') || always() }}", True),
        ("${{ contains(needs.*.result, 'cancelled') }}", False),
        ("${{ contains(needs.*.outputs.artifact-id, '7') }}", True),
        ("${{ needs.first.result == 'failure' && 'red' || 'green' }}", "red"),
        ("${{ (needs.first.result == 'success' && 'green') || 'it''s red' }}", "it's red"),
        ("${{ startsWith(github.event.head.full_name, 'Stranger/') }}", True),
        ("${{ github.event.workflow_run.head != 'x' }}", True),
        (">\n ${{ true }}", ">\n true"),
    ],
)
def test_reads_expressions_as_github_does(text: str, value: Any) -> None:
    """Loose comparison, null for what is not there, operands as results, filters over a mapping."""
    assert fill(text, CONTEXTS, FUNCTIONS) == value


def test_refuses_what_it_does_not_know() -> None:
    """A form that is not read is an error, and no quiet false."""
    with pytest.raises((ValueError, KeyError)):
        fill("${{ fromJSON('{}') ~ 1 }}", CONTEXTS, FUNCTIONS)


@pytest.mark.parametrize(
    ("condition", "says"), [("always()", True), ("!cancelled() && x", True), ("x == 'always'", False)]
)
def test_knows_conditions_that_name_a_status(condition: str, says: bool) -> None:
    """Only those are looked at after something failed."""
    assert says_when(condition) == says
