"""A GitHub on the loopback, and a clock that waits without waiting."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from freeze_gate.github.client import GitHubClient
from freeze_gate.github.session import Token
from tests.standin import Pretended, Standin
from tests.support.gate_job import Job

REPOSITORY = "octo-org/widgets"


@pytest.fixture
def pretended() -> Pretended:
    """Return the time by which the stand-in's limits expire and the client's waits pass."""
    return Pretended()


@pytest.fixture
def github(pretended: Pretended) -> Iterator[Standin]:
    """Run a stand-in with one private repository, `octo-org/widgets`."""
    with Standin(epoch=pretended.read) as standin:
        standin.repository(REPOSITORY)
        yield standin


@pytest.fixture
def client(github: Standin, pretended: Pretended) -> Iterator[GitHubClient]:
    """Return a client of that repository that may wait for two minutes."""
    with GitHubClient(github.url, REPOSITORY, Token(github.token), clock=pretended.clock) as github_client:
        yield github_client


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    """Return a job that runs the gate, against a stand-in of its own in real time."""
    with Standin() as standin:
        yield Job(tmp_path, standin)
