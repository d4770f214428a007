"""The evidence of both runs: list their artifacts, select, download, verify, read."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from freeze_gate.artifacts.attempts import RunAttempts
from freeze_gate.artifacts.cache import ArtifactCache
from freeze_gate.artifacts.other_attempts import UnopenedArtifacts, read_other_attempts, unopened_artifacts
from freeze_gate.artifacts.select import (
    ATTEMPT,
    ArtifactSelector,
    Candidate,
    CandidateGroup,
    Selection,
    compares_attempts,
    describe_unknown_artifacts,
    group_by_name,
    group_of_artifact,
    is_glob,
    matches_name,
    select,
    truncate_at,
)
from freeze_gate.errors import NoVerdictError, UsageError
from freeze_gate.evidence.abbreviation import abbreviate
from freeze_gate.evidence.bundle import SourceRecords
from freeze_gate.evidence.checks import FIRST, RERUN
from freeze_gate.evidence.models import Artifact, CheckFailure, OtherAttempt, Source
from freeze_gate.evidence.pairing import RunEvidence, merge_sources
from freeze_gate.github.artifacts import Listing, get_artifact, list_artifacts
from freeze_gate.github.client import GitHubClient

Listings = dict[int, Listing]
"""What runs list, by the id of the run."""


class CollectedEvidence(NamedTuple):
    """The evidence of both runs, and the artifacts that were not needed for it.

    `notes` are sentences for the reader, which may quote untrusted text.
    """

    first: RunEvidence
    rerun: RunEvidence
    unopened: UnopenedArtifacts
    notes: tuple[str, ...] = ()


class Collector:
    """Collects the evidence for one gate.

    `run_id` is the run of a selector that names none, `latest_attempt` the number of its latest attempt; None if it has
    to be asked for.
    """

    def __init__(self, client: GitHubClient, cache: ArtifactCache, run_id: int, latest_attempt: int | None) -> None:
        self._client = client
        self._cache = cache
        self._run_id = run_id
        self._attempts = RunAttempts(client, {run_id: latest_attempt} if latest_attempt else {})

    def collect(self, first: ArtifactSelector, rerun: ArtifactSelector) -> CollectedEvidence:
        """Collect both sides. Raises `UsageError`, and `NoVerdictError` if GitHub cannot be asked."""
        listings = self._list(first, rerun)
        groups = self._group(first, rerun, listings)
        self._check_listings(first, rerun, groups, listings)
        self._cache.fetch(artifact for group in groups for artifact in group.to_download)
        runs = {FIRST: self._run_of(first), RERUN: self._run_of(rerun)}
        selections = [selection for group in groups for selection in self._select(group, runs[group.sides[0]])]
        return CollectedEvidence(
            self._read(FIRST, selections, runs[FIRST]),
            self._read(RERUN, selections, runs[RERUN]),
            unopened_artifacts(groups, selections, listings),
            (*self._describe_older_attempts(groups, selections), *_describe_left_out(listings)),
        )

    def read_other_attempts(self, unopened: UnopenedArtifacts) -> Sequence[OtherAttempt]:
        """Read what other attempts left. Raises `NoVerdictError`."""
        return read_other_attempts(unopened, self._cache, self._attempts)

    def _run_of(self, selector: ArtifactSelector) -> int:
        return selector.run_id or self._run_id

    def _list(self, first: ArtifactSelector, rerun: ArtifactSelector) -> Listings:
        """List both runs at the same time, or the one run once."""
        selectors: dict[int, list[ArtifactSelector]] = {}
        for selector in (first, rerun):
            selectors.setdefault(self._run_of(selector), []).append(selector)
        both = compares_attempts(first, rerun, one_run=len(selectors) == 1)
        for run_id in selectors:
            if both or run_id == self._run_id:
                self._attempts.latest(run_id)

        def list_run(run_id: int) -> Listing:
            minimum = min(self._attempts.known_latest(run_id) or 1, 2 if both else 1)
            return list_artifacts(
                self._client, run_id, lambda listing: self._is_complete(listing, run_id, selectors[run_id], minimum)
            )

        with ThreadPoolExecutor(len(selectors)) as pool:
            return dict(zip(selectors, pool.map(list_run, selectors), strict=True))

    def _is_complete(
        self, listing: Sequence[Artifact], run_id: int, selectors: Sequence[ArtifactSelector], minimum: int
    ) -> bool:
        """Whether a listing has enough candidates of each name, the newest ones of the run's latest attempt.

        A name that fits a given id, or says one attempt, is not asked for the latest attempt.
        """
        names = [str(selector.name) for selector in selectors if not selector.artifact_id]
        groups = [group for name in names for group in group_by_name(name, (FIRST,), listing)]
        if any(len(group.candidates) < minimum for group in groups):
            return False
        ids = {selector.artifact_id for selector in selectors}
        latest = self._attempts.known_latest(run_id)
        for group in groups:
            newest = group.candidates[0]
            fits_id = any(candidate.artifact.id in ids for candidate in group.candidates)
            says_one_attempt = newest.attempt and ATTEMPT not in group.label
            if latest is None or fits_id or says_one_attempt:
                continue
            if self._attempts.attempt_of(newest, run_id) not in (None, latest):
                return False
        return True

    def _group(self, first: ArtifactSelector, rerun: ArtifactSelector, listings: Listings) -> list[CandidateGroup]:
        """Group the candidates of both sides.

        If the rerun is given by its id and has the first's name, the first is the newest attempt before it.
        """
        one_run = self._run_of(first) == self._run_of(rerun)
        if compares_attempts(first, rerun, one_run=one_run):
            return group_by_name(str(first.name), (FIRST, RERUN), listings[self._run_of(first)].artifacts)
        rerun_groups = self._group_side(RERUN, rerun, listings)
        first_groups = self._group_side(FIRST, first, listings)
        if rerun.artifact_id and not first.artifact_id and len(first_groups) == 1 and rerun_groups[0].candidates:
            artifact = rerun_groups[0].candidates[0].artifact
            if (artifact.run_id or self._run_of(rerun)) == self._run_of(first):
                both = truncate_at(first_groups[0], artifact, (FIRST, RERUN))
                if both:
                    return [both]
        return [*first_groups, *rerun_groups]

    def _check_listings(
        self,
        first: ArtifactSelector,
        rerun: ArtifactSelector,
        groups: Iterable[CandidateGroup],
        listings: Listings,
    ) -> None:
        """Refuse a listing that may lack what an input asks for: it is no evidence of absence.

        Raises `NoVerdictError`. What may be another attempt's evidence is the matter of `read_other_attempts`.
        """
        for side, selector in ((FIRST, first), (RERUN, rerun)):
            run_id = self._run_of(selector)
            listing = listings[run_id]
            if selector.artifact_id or not selector.name or not (listing.unlisted or listing.unreadable):
                continue
            names = [artifact.name for artifact in listing.unreadable]
            if not listing.unlisted and not any(name is None or matches_name(selector.name, name) for name in names):
                continue
            if is_glob(selector.name, listing.artifacts) or not all(
                self._has_newest_attempts(group, run_id) for group in groups if side in group.sides
            ):
                raise NoVerdictError(
                    f"run {run_id} has {' and '.join(describe_unknown_artifacts(listing))}, which may "
                    f"be what input `{side}-artifact` asks for; run this again in some minutes"
                )

    def _has_newest_attempts(self, group: CandidateGroup, run_id: int) -> bool:
        """Whether the candidates that count are those of the run's newest attempts, so that none can be newer."""
        newest = self._attempts.latest(run_id)
        candidates = group.candidates[: len(group.sides)]
        attempts = [self._attempts.attempt_of(candidate, run_id) for candidate in candidates]
        return attempts == [newest - index for index in range(len(group.sides))]

    def _group_side(self, side: str, selector: ArtifactSelector, listings: Listings) -> list[CandidateGroup]:
        run_id = self._run_of(selector)
        if selector.artifact_id is None:
            return group_by_name(str(selector.name), (side,), listings[run_id].artifacts)
        artifact = self._find_by_id(selector.artifact_id, run_id, listings)
        if isinstance(artifact, CheckFailure):
            return [CandidateGroup(f"artifact {selector.artifact_id}", (side,), (), fault=artifact)]
        if selector.run_id and artifact.run_id and artifact.run_id != selector.run_id:
            raise UsageError(
                f"inputs `{side}-artifact-id` and `{side}-run-id` are {artifact.id} and {selector.run_id}; "
                f"allowed: an artifact of that run, but this one is of run {artifact.run_id}"
            )
        return [group_of_artifact(side, artifact, listings[artifact.run_id or run_id].artifacts)]

    def _find_by_id(self, artifact_id: int, run_id: int, listings: Listings) -> Artifact | CheckFailure:
        """Return an artifact from the listing of its run, else ask for it and add it there. Raises `ApiError`."""
        for artifact in listings[run_id].artifacts:
            if artifact.id == artifact_id:
                return artifact
        artifact_or_fault = get_artifact(self._client, artifact_id)
        if isinstance(artifact_or_fault, Artifact):
            run_id = artifact_or_fault.run_id or run_id
            if run_id not in listings:  # no input names its run, but its other attempts count too
                listings[run_id] = list_artifacts(self._client, run_id)
            listing = listings[run_id]
            if all(artifact.id != artifact_id for artifact in listing.artifacts):
                listings[run_id] = listing._replace(
                    artifacts=(*listing.artifacts, artifact_or_fault), unlisted=max(0, listing.unlisted - 1)
                )
        return artifact_or_fault

    def _select(self, group: CandidateGroup, run_id: int) -> list[Selection]:
        def attempt_of(candidate: Candidate) -> int | None:
            attempt = candidate.attempt or self._cache.read(candidate.artifact).attempt
            return attempt or self._attempts.attempt_at(run_id, candidate.artifact.created_at)

        return select(group, attempt_of, self._attempts.known_latest(run_id))

    def _describe_older_attempts(
        self, groups: Iterable[CandidateGroup], selections: Sequence[Selection]
    ) -> Iterator[str]:
        """Say which attempts are compared where a newer one left nothing under the name that an input asks for."""
        candidates: dict[str, list[Candidate]] = {}
        for selection in selections:
            if selection.candidate:
                candidates.setdefault(selection.label, []).append(selection.candidate)
        labels: dict[tuple[int, int, str], list[str]] = {}
        for group in groups:
            selected = candidates.get(group.label, [])
            run_id = selected[0].artifact.run_id if selected else None
            newest = self._attempts.known_latest(run_id) if run_id else None
            says_one_attempt = ATTEMPT not in group.label and any(candidate.attempt for candidate in selected)
            if not run_id or not newest or group.named_by_id or says_one_attempt:
                continue
            attempts = {self._attempts.attempt_of(candidate, run_id) for candidate in selected}
            compared = sorted(attempt for attempt in attempts if attempt)
            if compared and compared[-1] < newest:
                noun = "attempt" if len(compared) == 1 else "attempts"
                names_of = labels.setdefault((newest, run_id, f"{noun} {' and '.join(map(str, compared))}"), [])
                names_of.append(group.label)
        for (newest, run_id, compared_attempts), names in labels.items():
            yield (
                f"Attempt {newest} of run {run_id} left no artifact named {', '.join(abbreviate(names))}: what "
                f"{compared_attempts} left was compared."
            )

    def _read(self, side: str, selections: Iterable[Selection], run_id: int) -> RunEvidence:
        return merge_sources(self._read_selection(one, run_id) for one in selections if one.side == side)

    def _read_selection(self, selection: Selection, run_id: int) -> SourceRecords:
        """Return what was read, with what GitHub says about its run."""
        if selection.candidate is None:
            latest = self._attempts.known_latest(run_id)
            source = Source(selection.label, run_id=run_id, newest_attempt=latest, fault=selection.fault)
            return SourceRecords(source)
        reading = self._cache.read(selection.candidate.artifact)
        run_id = selection.candidate.artifact.run_id or run_id
        source = reading.source._replace(
            label=selection.label,
            run_id=run_id,
            attempt=self._attempts.attempt_of(selection.candidate, run_id),
            newest_attempt=self._attempts.known_latest(run_id),
        )
        return reading.with_source(source)


def _describe_left_out(listings: Listings) -> Iterator[str]:
    for run_id, listing in listings.items():
        descriptions = describe_unknown_artifacts(listing)
        if descriptions:
            yield f"Run {run_id} has {' and '.join(descriptions)}: left out."
