"""The runner's files and its log."""

import io
import os
import signal
from pathlib import Path

import pytest

from freeze_gate.action.runner import MAX_WARNINGS, OUTPUTS, TERMINATION_SIGNALS, Runner, termination_deferred
from freeze_gate.errors import NoVerdictError
from tests.support.gate_job import read_outputs
from tests.support.resource_limits import file_size_limit


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Return the two variables."""
    return {"GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}


def test_outputs_are_appended_and_the_last_value_counts(files: dict[str, str]) -> None:
    """Closed values first, better ones later; what an earlier step wrote stays."""
    Path(files["GITHUB_OUTPUT"]).write_text("theirs=1\n")
    runner = Runner(files, io.StringIO())

    runner.set_outputs(OUTPUTS)
    runner.set_outputs({"failure-class": "property_miss", "fixture-path": "a=b<<c"})

    read = read_outputs(Path(files["GITHUB_OUTPUT"]).read_text())
    assert read == {"theirs": "1", **OUTPUTS, "failure-class": "property_miss", "fixture-path": "a=b<<c"}


@pytest.mark.parametrize("outputs", [{"reason": "x\nfreeze-allowed=true"}, {"reason": "x\r"}, {"unheard-of": "x"}])
def test_what_is_no_output_of_one_line_is_refused(files: dict[str, str], outputs: dict[str, str]) -> None:
    """A line end would be a second output."""
    with pytest.raises(ValueError, match="not an output"):
        Runner(files, io.StringIO()).set_outputs(outputs)
    assert not Path(files["GITHUB_OUTPUT"]).exists()


def test_the_summary_is_appended_as_it_is(files: dict[str, str]) -> None:
    """UTF-8 with plain line ends; a lone surrogate is made visible."""
    runner = Runner(files, io.StringIO())
    runner.append_summary("one ❄\n")
    runner.append_summary("two \ud800\n")
    assert Path(files["GITHUB_STEP_SUMMARY"]).read_bytes() == "one ❄\ntwo \\ud800\n".encode()


def test_the_final_exit_code_is_set_with_the_four_lines(files: dict[str, str]) -> None:
    """Not before they are written, and not where they cannot be."""
    runner = Runner(files, io.StringIO())
    assert runner.final_exit_code is None

    runner.write_verdict_summary("lines\n", 1)
    assert runner.final_exit_code == 1

    lost = Runner({}, io.StringIO())
    with pytest.raises(NoVerdictError, match="GITHUB_STEP_SUMMARY is not set"):
        lost.write_verdict_summary("lines\n", 1)
    assert lost.final_exit_code is None


@pytest.mark.parametrize("variable", ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"])
def test_a_file_that_cannot_be_written_is_named_by_its_variable(files: dict[str, str], variable: str) -> None:
    """Without its path, which says nothing to a person."""
    Path(files[variable]).mkdir()
    runner = Runner(files, io.StringIO())
    with pytest.raises(NoVerdictError, match=variable):
        runner.set_outputs(OUTPUTS) if variable == "GITHUB_OUTPUT" else runner.append_summary("x")


def test_nothing_in_the_log_is_a_command_but_ours() -> None:
    """Neither a line nor a message can hold one."""
    log = io.StringIO()
    runner = Runner({}, log)

    runner.log("  ::add-mask::x\n::error::y ##[debug]z")
    runner.annotate("warning", "50%\n::error::y")

    line, annotated = log.getvalue().splitlines()
    assert "::" not in line
    assert "##[" not in line
    assert annotated.startswith("::warning title=Freeze Gate::50%25")
    assert "::error" not in annotated


def test_warnings_beyond_what_the_runner_shows_are_lines_of_the_log() -> None:
    """It drops the eleventh annotation of a kind without a word; the verdict's own has its place."""
    log = io.StringIO()
    runner = Runner({}, log)
    for number in range(MAX_WARNINGS + 2):
        runner.annotate("warning", f"number {number}")
    runner.annotate("error", "the verdict")

    lines = log.getvalue().splitlines()
    assert sum(line.startswith("::warning") for line in lines) == MAX_WARNINGS
    assert [line for line in lines if not line.startswith("::")] == ["warning: number 9", "warning: number 10"]
    assert lines[-1].startswith("::error")


def test_a_log_that_nobody_reads_is_no_failure() -> None:
    """A closed stream."""
    log = io.StringIO()
    log.close()
    Runner({}, log).log("anybody?")


@pytest.mark.parametrize("number", TERMINATION_SIGNALS)
def test_a_signal_waits_until_what_must_not_be_parted_is_done(number: signal.Signals) -> None:
    """SIGINT or SIGTERM in the middle arrives behind it."""
    order: list[str] = []
    before = signal.signal(number, lambda *_: order.append("signal"))
    try:
        with termination_deferred():
            signal.raise_signal(number)
            order.append("done")
    finally:
        signal.signal(number, before)
    assert order == ["done", "signal"]


@pytest.mark.parametrize("has_reader", [False, True], ids=["without a reader", "with a reader"])
def test_a_fifo_is_refused_at_once(files: dict[str, str], has_reader: bool) -> None:
    """Nobody is waited for, and nothing is written where no reader of the runner looks."""
    path = files["GITHUB_STEP_SUMMARY"]
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if has_reader else None
    try:
        with pytest.raises(NoVerdictError, match="GITHUB_STEP_SUMMARY names cannot be written"):
            Runner(files, io.StringIO()).append_summary("lines")
        assert reader is None or os.read(reader, 1) == b""
    finally:
        if reader is not None:
            os.close(reader)


def test_what_cannot_be_written_whole_leaves_nothing(files: dict[str, str]) -> None:
    """The disk is full after a part of it: the file has its old length again, and what fits is written after that."""
    runner = Runner(files, io.StringIO())
    runner.append_summary("before\n")

    with file_size_limit(1000):
        with pytest.raises(NoVerdictError, match="GITHUB_STEP_SUMMARY"):
            runner.append_summary("freeze_allowed=true\n" + "x" * 1000)
        runner.append_summary("freeze_allowed=false\n")

    assert Path(files["GITHUB_STEP_SUMMARY"]).read_text() == "before\nfreeze_allowed=false\n"
