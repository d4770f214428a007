"""The pytest side of `freeze-gate oracle --id ID -- pytest …`: the pinned file as a fixture, and one warning."""

import os
from pathlib import Path

import pytest

_VARIABLE = "FREEZE_GATE_FIXTURE"


@pytest.fixture(scope="session")  # one file for the whole run; and Hypothesis refuses function-scoped fixtures
def pinned_fixture() -> Path:
    """Name the pinned file that this run checks: an absolute `pathlib.Path`. Fails where there is no pin."""
    name = os.environ.get(_VARIABLE)
    if not name:
        pytest.fail("no pinned file: run the tests with `freeze-gate oracle --id ID -- pytest …`", pytrace=False)
    path = Path(name)
    if not path.is_file():
        pytest.fail(f"no pinned file: {_VARIABLE} names {name!a}, which is not there", pytrace=False)
    return path


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Warn of an oracle that ran failed tests again: `rerun` is what pytest-rerunfailures calls such an attempt."""
    attempts = len(terminalreporter.stats.get("rerun", ()))
    if attempts and os.environ.get(_VARIABLE):
        terminalreporter.write_line(
            f"freeze-gate: warning: failed attempts that pytest ran again: {attempts}. Only the last attempt of a test"
            " counts, so a property that fails now and then can pass. Run the oracle without reruns.",
            yellow=True,
        )
