"""The runner's environment in a record."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from freeze_gate.capture.environment import current_run, is_same_run
from freeze_gate.evidence.record import Record, Run, encode_record, read_record

NOW = datetime(2026, 11, 29, 13, 0, 5, 999, tzinfo=timezone(timedelta(hours=1)))
ENVIRON = {
    "GITHUB_REPOSITORY": "octo-org/widgets",
    "GITHUB_RUN_ID": "4242",
    "GITHUB_RUN_ATTEMPT": "1",
    "GITHUB_JOB": "agent-patch",
    "GITHUB_SHA": "0123456789abcdef0123456789abcdef01234567",
    "GITHUB_EVENT_NAME": "pull_request",
}
FIELDS = {"GITHUB_SHA": "commit", "GITHUB_EVENT_NAME": "event"}


@pytest.fixture(autouse=True)
def work_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work outside of any repository."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_the_runner_says_is_taken_over() -> None:
    """Numbers as numbers, the time in UTC to the second."""
    run = current_run(ENVIRON, NOW, replay_of="f" * 32)
    assert run._replace(capture_id=None) == Run(
        repository="octo-org/widgets",
        run_id=4242,
        run_attempt=1,
        job="agent-patch",
        commit=ENVIRON["GITHUB_SHA"],
        event="pull_request",
        replay_of="f" * 32,
        recorded_at="2026-11-29T12:00:05Z",
    )


def test_the_checkout_is_that_of_the_current_folder(work_folder: Path) -> None:
    """It is what was tested, whatever commit the event names."""
    (work_folder / ".git").mkdir()
    (work_folder / ".git" / "HEAD").write_text("c" * 40 + "\n")
    assert current_run(ENVIRON, NOW).checkout == "c" * 40


def test_every_capture_has_an_id_of_its_own() -> None:
    """One run that is uploaded twice is told from two."""
    assert len({current_run(ENVIRON, NOW).capture_id for _ in range(100)}) == 100


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("GITHUB_REPOSITORY", "widgets"),
        ("GITHUB_RUN_ID", "0"),
        ("GITHUB_RUN_ID", "-1"),
        ("GITHUB_RUN_ID", "1.0"),
        ("GITHUB_RUN_ID", "٣"),
        ("GITHUB_RUN_ID", "9" * 5000),
        ("GITHUB_RUN_ATTEMPT", "one"),
        ("GITHUB_JOB", "a\nb"),
        ("GITHUB_SHA", "0123456"),
        ("GITHUB_SHA", ""),
        ("GITHUB_EVENT_NAME", "Pull Request"),
    ],
)
def test_what_no_record_may_say_is_unknown(variable: str, text: str) -> None:
    """An odd environment makes a field null, never a record unreadable."""
    run = current_run({**ENVIRON, variable: text}, NOW)
    assert getattr(run, FIELDS.get(variable, variable.removeprefix("GITHUB_").lower())) is None
    record = Record("x", None, None, None, None, run=run)
    assert read_record(encode_record(record), "x") == record


def test_outside_a_runner_everything_but_the_capture_is_unknown() -> None:
    """A laptop is no run."""
    run = current_run({}, datetime(2026, 11, 29, tzinfo=UTC))
    assert run == Run(capture_id=run.capture_id, recorded_at="2026-11-29T00:00:00Z")


def test_runs_are_the_same_unless_something_that_both_know_differs() -> None:
    """Unknown is no difference."""
    run = current_run(ENVIRON, NOW)
    assert is_same_run(run, current_run(ENVIRON, NOW))
    assert is_same_run(run, Run())
    assert not is_same_run(run, run._replace(run_attempt=2))
    assert not is_same_run(run, run._replace(run_id=7))
    assert not is_same_run(run, run._replace(repository="octo-org/gadgets"))
