"""What the other attempts of the runs recorded, for the check `earlier-fail`: a fail cannot be rerun away.

GitHub does not say which job or attempt an artifact comes from. So before a flake is said, two steps look for a fail:

1. Every artifact that has the name of a selected one is read, whatever its attempt: `{attempt}` and the ending that the
   capture action adds (`-<run id>-<attempt>`) stand for any attempt. One that cannot be read counts like a fail.
2. An attempt that left no record under one of these names may have used another name. So everything that it left is
   read, and every artifact whose attempt is unknown. A record counts, and so does what has expired or is over a limit,
   and what GitHub counts without listing or describing it. What is no readable archive is a log or a build, unless its
   name has the ending of the capture action.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from freeze_gate.artifacts.attempts import RunAttempts
from freeze_gate.artifacts.cache import ArtifactCache
from freeze_gate.artifacts.select import (
    Candidate,
    CandidateGroup,
    Selection,
    attempt_in_name,
    describe_unknown_artifacts,
)
from freeze_gate.evidence.bundle import SourceRecords
from freeze_gate.evidence.models import Artifact, OtherAttempt, Side, Source
from freeze_gate.evidence.pairing import merge_sources
from freeze_gate.github.artifacts import Listing


class UnopenedArtifacts(NamedTuple):
    """The artifacts of the runs besides the selected ones, which a verdict other than a flake does not need.

    `siblings` have the name of a selected artifact; no copy of a selected one is among them. `listings` has what each
    run lists.
    """

    siblings: tuple[Artifact, ...]
    selected: tuple[Artifact, ...]
    groups: tuple[CandidateGroup, ...]
    listings: Mapping[int, Listing]


def unopened_artifacts(
    groups: Sequence[CandidateGroup], selections: Iterable[Selection], listings: Mapping[int, Listing]
) -> UnopenedArtifacts:
    """Return what was not selected."""
    selected = tuple(selection.candidate.artifact for selection in selections if selection.candidate)
    siblings = {sibling.artifact.id: sibling.artifact for group in groups for sibling in group.siblings}
    return UnopenedArtifacts(tuple(_unselected(siblings.values(), selected)), selected, tuple(groups), listings)


def read_other_attempts(unopened: UnopenedArtifacts, cache: ArtifactCache, attempts: RunAttempts) -> list[OtherAttempt]:
    """Read what the other attempts left, in the two steps above. Raises `NoVerdictError`."""
    cache.fetch(unopened.siblings)
    siblings = [cache.read(artifact) for artifact in unopened.siblings]
    with_records = {artifact.id for artifact in unopened.selected} | {
        artifact.id for artifact, reading in zip(unopened.siblings, siblings, strict=True) if _evidence(reading)
    }
    unnamed: list[Artifact] = []
    unknown: list[OtherAttempt] = []
    for run_id, listing in unopened.listings.items():
        complete = _complete_attempts(unopened, run_id, with_records, attempts)
        if len(complete) == attempts.latest(run_id):
            continue
        unnamed += _of_other_attempts(unopened, run_id, complete, attempts)
        unknown += [
            OtherAttempt(None, Side(Source(description, run_id=run_id)))
            for description in describe_unknown_artifacts(listing)
        ]
    cache.fetch(unnamed)
    others = [reading for reading in map(cache.read, unnamed) if not _is_log_or_build(reading)]
    return [*unknown, *(other for reading in (*siblings, *others) for other in _evidence(reading))]


def _complete_attempts(
    unopened: UnopenedArtifacts, run_id: int, with_records: Collection[int], attempts: RunAttempts
) -> set[int | None]:
    """Return the attempts of a run that left a record under every name; an only attempt has no other one.

    `with_records` has the ids of the named artifacts with a record.
    """
    latest = attempts.latest(run_id)
    complete: set[int | None] = set(range(1, latest + 1))
    if latest == 1:
        return complete
    listed = {artifact.id for artifact in unopened.listings[run_id].artifacts}
    for group in unopened.groups:
        siblings = [sibling for sibling in group.siblings if sibling.artifact.id in listed]
        if siblings:
            complete &= {attempts.attempt_of(one, run_id) for one in siblings if one.artifact.id in with_records}
    return complete


def _of_other_attempts(
    unopened: UnopenedArtifacts, run_id: int, complete: Collection[int | None], attempts: RunAttempts
) -> list[Artifact]:
    """Return what the second step reads of a run."""
    named = {artifact.id for artifact in unopened.siblings}
    return [
        artifact
        for artifact in _unselected(unopened.listings[run_id].artifacts, unopened.selected)
        if artifact.id not in named
        and attempts.attempt_of(Candidate(artifact, attempt_in_name(artifact)), run_id) not in complete
    ]


def _unselected(artifacts: Iterable[Artifact], selected: Sequence[Artifact]) -> list[Artifact]:
    """Leave out the selected artifacts and their copies."""
    ids = {artifact.id for artifact in selected}
    digests = {artifact.digest for artifact in selected if artifact.digest}
    return [artifact for artifact in artifacts if artifact.id not in ids and artifact.digest not in digests]


def _is_log_or_build(reading: SourceRecords) -> bool:
    artifact, fault = reading.source.artifact, reading.source.fault
    is_no_archive = fault is not None and fault.check == "archive-invalid"
    return is_no_archive and not (artifact and attempt_in_name(artifact))


def _evidence(reading: SourceRecords) -> list[OtherAttempt]:
    """Return the records of an artifact, or one entry without an id if it cannot be read."""
    fault = reading.source.fault
    if fault and fault.check != "record-missing":
        return [OtherAttempt(None, Side(reading.source))]
    return [OtherAttempt(fixture_id, side) for fixture_id, side in merge_sources([reading]).sides.items()]
