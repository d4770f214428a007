"""A container as a lane, reached with `docker exec -i`."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import PYTHON, Docker
from tests.e2e.workflow import SEALABLE
from tests.support.lane_job import LaneJob, facts, pinned_lane_job
from tests.support.waiting import wait_until

RUNNING = "import pathlib; print([p.name for p in pathlib.Path('/tmp').glob('freeze-gate-lane-*')])"


@pytest.fixture
def container(docker: Docker, image: str) -> Iterator[str]:
    """Run a container that has freeze-gate, and may make a seal."""
    options = ("--rm", "--detach", "--network", "none", *shlex.split(SEALABLE), "--entrypoint", "sleep")
    name = docker("run", *options, image, "infinity").strip()
    yield name
    if name in docker("ps", "--quiet", "--no-trunc"):
        docker("kill", name)


@pytest.fixture
def job(tmp_path: Path) -> LaneJob:
    """Return a job with one pin."""
    return pinned_lane_job(tmp_path)


def carrier(container: str) -> list[str]:
    """Return the words that lead to the lane."""
    return ["docker", "exec", "-i", container, PYTHON, "-I", "-m", "freeze_gate", "lane"]


def test_a_pass_and_a_fail_in_a_container(docker: Docker, job: LaneJob, container: str) -> None:
    """The oracle is sealed there, and leaves nothing."""
    assert job.oracle("sh", "-c", "test -s {fixture}", carrier=carrier(container)).returncode == 0
    assert facts(job.job.record()) == (True, "passed", None, None)
    assert job.job.record().oracle.egress == "sealed"
    assert job.oracle("sh", "-c", "sleep 9 & exit 5", carrier=carrier(container)).returncode == 5
    assert facts(job.job.record()) == (False, "failed", None, None)
    assert docker("exec", container, PYTHON, "-c", RUNNING) == "[]\n"
    assert "sleep 9" not in docker("top", container)


def test_a_container_that_is_gone_is_the_harness(docker: Docker, job: LaneJob, container: str) -> None:
    """It was never reached: a flake, if the rerun passes."""
    docker("kill", container)
    assert job.oracle("true", carrier=carrier(container)).returncode == 3
    assert facts(job.job.record()) == (None, "not_run", False, "connection")
    assert job.class_with_passing_rerun() == "harness_flake"


def test_a_container_that_dies_with_the_patch_is_no_flake(docker: Docker, job: LaneJob, container: str) -> None:
    """The oracle had started."""
    with job.start("sleep", job.mark, carrier=carrier(container)) as process:
        wait_until(lambda: job.mark in docker("top", container))
        docker("kill", container)
        process.communicate(timeout=60)
    assert facts(job.job.record()) == (None, "unreported", False, "connection")
    assert job.class_with_passing_rerun() == "unclassified"
