"""The values that the evidence is made of: a source, what one side of a pair shows, the pair.

Facts only. What follows from them is said by `checks` and by the decision table, so that a stored verdict can be
computed again from the facts alone.
"""

from typing import NamedTuple

from freeze_gate.evidence.digest import ContentDigest, Sha256
from freeze_gate.evidence.record import Record


class Artifact(NamedTuple):
    """What GitHub says about one artifact. None is "not said": old uploaders publish no digest, some servers no run."""

    id: int
    name: str
    size: int
    expired: bool = False
    created_at: str | None = None
    digest: str | None = None
    run_id: int | None = None
    repository_id: int | None = None
    head_repository_id: int | None = None
    head_branch: str | None = None
    head_sha: str | None = None


class CheckFailure(NamedTuple):
    """An evidence check that failed while the evidence was gathered, before there was a record to look at."""

    check: str
    detail: str


class Source(NamedTuple):
    """One place that evidence came from: a downloaded artifact in the gate, a folder or a zip in `classify`.

    `sha256` is of the downloaded bytes. `run_id` is the run that was asked. `attempt` is the run attempt that GitHub
    names for the artifact (by its name or its time window), `newest_attempt` the run's own number; None is unknown.
    """

    label: str
    artifact: Artifact | None = None
    sha256: Sha256 | None = None
    run_id: int | None = None
    attempt: int | None = None
    newest_attempt: int | None = None
    fault: CheckFailure | None = None


class Side(NamedTuple):
    """What one run shows for one fixture id.

    `record_sha256` is of the record file's bytes. `pin` is what the bundle holds at the record's `fixture_path`, read
    to its end; None where there is no such file. `fault` is what kept the record from being read.
    """

    source: Source
    record: Record | None = None
    record_sha256: Sha256 | None = None
    pin: ContentDigest | None = None
    fault: CheckFailure | None = None

    @property
    def run_id(self) -> int | None:
        """The run that it comes from: as GitHub says it, else as the record claims it."""
        of_artifact = self.source.artifact and self.source.artifact.run_id
        return of_artifact or self.source.run_id or (self.record.run.run_id if self.record else None)

    @property
    def attempt(self) -> int | None:
        """The attempt of its run: as GitHub says it, else as the record claims it."""
        return self.source.attempt or (self.record.run.run_attempt if self.record else None)

    @property
    def faults(self) -> tuple[CheckFailure, ...]:
        """What was wrong before there was anything to check: with the record or its pin, and with the whole source."""
        return tuple(fault for fault in (self.fault, self.source.fault) if fault)


class Pair(NamedTuple):
    """The two sides of one fixture id. The id is None where an artifact as a whole could not be read."""

    fixture_id: str | None
    first: Side
    rerun: Side


class OtherAttempt(NamedTuple):
    """What another attempt of the run shows for one fixture id; the id is None where its artifact could not be read."""

    fixture_id: str | None
    side: Side
