"""How a run ends without a verdict."""

import io
from pathlib import Path

import pytest

from freeze_gate.action.fail_closed import describe_internal_error, finish_without_verdict
from freeze_gate.action.runner import OUTPUTS, Runner
from freeze_gate.errors import FreezeGateError, NoVerdictError, UsageError
from tests.support.gate_job import read_outputs


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Return the variables of the runner's two files."""
    return {"GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}


@pytest.mark.parametrize(
    ("error", "exit_code", "advice"),
    [
        (UsageError("input `x` is wrong"), 2, "Correct it in the workflow and push that"),
        (NoVerdictError("the API is down"), 3, "press **Re-run failed jobs**"),
    ],
)
def test_the_exit_code_and_the_advice_are_those_of_the_error(
    files: dict[str, str], error: FreezeGateError, exit_code: int, advice: str
) -> None:
    """The closed lines, the closed outputs, and one annotation stand beside them."""
    log = io.StringIO()

    code = finish_without_verdict(Runner(files, log), error, io.StringIO())

    summary = Path(files["GITHUB_STEP_SUMMARY"]).read_text()
    assert code == exit_code
    assert "failure_class=unclassified\nfreeze_allowed=false\n" in summary
    assert advice in summary
    assert read_outputs(Path(files["GITHUB_OUTPUT"]).read_text()) == OUTPUTS
    assert log.getvalue().startswith("::error title=Freeze Gate::unclassified: ")


def test_an_error_after_the_verdict_changes_nothing(files: dict[str, str]) -> None:
    """The lines, the outputs and the exit code stand; the error is a warning."""
    log = io.StringIO()
    runner = Runner(files, log)
    runner.write_verdict_summary("the verdict\n", 1)

    code = finish_without_verdict(runner, NoVerdictError("the label was lost"), io.StringIO())

    assert code == 1
    assert Path(files["GITHUB_STEP_SUMMARY"]).read_text() == "the verdict\n"
    assert not Path(files["GITHUB_OUTPUT"]).exists()
    assert log.getvalue() == "::warning title=Freeze Gate::after the verdict: the label was lost\n"


def test_lines_that_cannot_be_written_are_said_on_both_streams() -> None:
    """Exit code 3 whatever the error's own: nothing was delivered."""
    log, stderr = io.StringIO(), io.StringIO()

    code = finish_without_verdict(Runner({}, log), UsageError("input `x` is wrong"), stderr)

    assert code == 3
    assert stderr.getvalue().startswith("freeze-gate gate: unclassified: GITHUB_STEP_SUMMARY is not set")
    assert "input `x` is wrong" in log.getvalue()


def test_a_bug_is_described_by_its_type_and_place_alone() -> None:
    """Its message may quote anything."""
    try:
        int("a secret")
    except ValueError as error:
        description = describe_internal_error(error)
    assert description.startswith("an error in Freeze Gate itself: ValueError at test_fail_closed.py:")
    assert "secret" not in description
