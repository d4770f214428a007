"""Captures of several attempts, and the inputs that select them."""

from typing import Any

from tests.builders.bundle import Capture, make_capture
from tests.standin.state import Artifact
from tests.support.gate_job import GateResult, Job

ONE_NAME = {"first_artifact": "bundle", "rerun_artifact": "bundle"}
BY_ATTEMPT = {"first_artifact": "bundle-{attempt}", "rerun_artifact": "bundle-{attempt}"}
TWO_NAMES = {"first_artifact": "first-{attempt}", "rerun_artifact": "rerun-{attempt}"}
PLAIN = {"first_artifact": "first", "rerun_artifact": "rerun"}
GLOBS = {"first_artifact": "first-*", "rerun_artifact": "rerun-*"}


def dropped(attempt: int, **facts: Any) -> Capture:
    """Return a capture whose transport failed, so that nothing was checked."""
    return make_capture(attempt, oracle=None, transport=False, **facts)


def failed(attempt: int, **facts: Any) -> Capture:
    """Return a capture whose oracle failed."""
    return make_capture(attempt, oracle=False, **facts)


def upload(job: Job, inputs: dict[str, str], side: str, made: Capture, **facts: Any) -> Artifact:
    """Upload a capture under the name that the inputs have for its side and its attempt."""
    attempt = made.record.run.run_attempt or 0
    return job.upload(inputs[f"{side}_artifact"].replace("{attempt}", str(attempt)), made, attempt=attempt, **facts)


def shard(job: Job, side: str, number: int, *, oracle: bool | None = True, **facts: Any) -> None:
    """Upload one shard with one fixture."""
    job.upload(f"{side}-{number}", make_capture(fixture_id=f"s{number}", oracle=oracle, **facts))


def ids(first: Artifact, rerun: Artifact) -> dict[str, str]:
    """Return the inputs that name two artifacts by their ids alone."""
    given = {"first_artifact_id": str(first.id), "rerun_artifact_id": str(rerun.id)}
    return {"first_artifact": "", "rerun_artifact": "", **given}


def sides(outcome: GateResult) -> list[str]:
    """Return the ids of the first run's and the rerun's artifact, as the summary shows them."""
    (fact,) = [line for line in outcome.summary.splitlines() if line.startswith("- artifact: ")]
    first, _, rerun = fact.removesuffix(" in the rerun").partition(" in the first run, ")
    return [text.rpartition("id ")[2] for text in (first, rerun)]
