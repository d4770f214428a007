"""The data model of the evidence: sources, sides, pairs.

It holds facts only. `checks` and the decision table draw the conclusions, so that a stored verdict can be computed
again from the facts alone.
"""

from typing import NamedTuple

from freeze_gate.evidence.digest import ContentDigest, Sha256
from freeze_gate.evidence.record import Record


class Artifact(NamedTuple):
    """One artifact, as GitHub describes it. None means unknown: old uploaders publish no digest."""

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
    """An evidence check that failed while the evidence was read, so that there may be no record to check."""

    check: str
    detail: str


class Source(NamedTuple):
    """Where evidence comes from: a downloaded artifact in the gate, a folder or a zip in `classify`.

    - `sha256`: of the downloaded bytes.
    - `run_id`: the run whose artifacts were listed.
    - `attempt`: the run attempt that made the artifact, by its name or its time window.
    - `newest_attempt`: the number of the run's latest attempt.
    - `fault`: why nothing could be read.
    - `ignored_records`: names of files beside the records that a file system of macOS adds and that are none.

    None means unknown.
    """

    label: str
    artifact: Artifact | None = None
    sha256: Sha256 | None = None
    run_id: int | None = None
    attempt: int | None = None
    newest_attempt: int | None = None
    fault: CheckFailure | None = None
    ignored_records: tuple[str, ...] = ()


class Side(NamedTuple):
    """The evidence of one run for one fixture id.

    - `record_sha256`: of the record file's bytes.
    - `pin`: of the file at the record's `fixture_path`; None if it is not in the bundle.
    - `fault`: why the record or its pin could not be read.
    """

    source: Source
    record: Record | None = None
    record_sha256: Sha256 | None = None
    pin: ContentDigest | None = None
    fault: CheckFailure | None = None

    @property
    def run_id(self) -> int | None:
        """The run that made the record, according to GitHub, else according to the record."""
        of_artifact = self.source.artifact and self.source.artifact.run_id
        return of_artifact or self.source.run_id or (self.record.run.run_id if self.record else None)

    @property
    def attempt(self) -> int | None:
        """The run attempt that made the record, according to GitHub, else according to the record."""
        return self.source.attempt or (self.record.run.run_attempt if self.record else None)

    @property
    def faults(self) -> tuple[CheckFailure, ...]:
        """What failed while the record, its pin and the whole source were read."""
        return tuple(fault for fault in (self.fault, self.source.fault) if fault)


class Pair(NamedTuple):
    """The two sides of one fixture id. The id is None if a whole artifact could not be read."""

    fixture_id: str | None
    first: Side
    rerun: Side


class OtherAttempt(NamedTuple):
    """The evidence of another run attempt for one fixture id; the id is None if its artifact could not be read."""

    fixture_id: str | None
    side: Side
