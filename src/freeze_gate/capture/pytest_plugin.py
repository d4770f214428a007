"""The pytest side of `freeze-gate oracle --id ID -- pytest …`: the pinned file as a fixture, and nothing else."""

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
