"""The runner's environment in a record."""

from datetime import UTC, datetime, timedelta, timezone

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
}


def test_what_the_runner_says_is_taken_over() -> None:
    """Numbers as numbers, the time in UTC to the second."""
    run = current_run(ENVIRON, NOW, replay_of="f" * 32)
    assert run._replace(capture_id=None) == Run(
        "octo-org/widgets", 4242, 1, "agent-patch", ENVIRON["GITHUB_SHA"], None, "f" * 32, "2026-11-29T12:00:05Z"
    )


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
    ],
)
def test_what_no_record_may_say_is_unknown(variable: str, text: str) -> None:
    """An odd environment makes a field null, never a record unreadable."""
    run = current_run({**ENVIRON, variable: text}, NOW)
    assert getattr(run, {"GITHUB_SHA": "commit"}.get(variable, variable.removeprefix("GITHUB_").lower())) is None
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
