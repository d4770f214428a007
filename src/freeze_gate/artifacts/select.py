"""Which artifact is the first run's and which the rerun's, from the names, globs and ids of the inputs. Pure.

GitHub does not say which attempt of a run made an artifact. After a rerun it keeps several artifacts of one name, and
their ids are in no order. So the order is that of `created_at`, and the attempt is what the name says if it holds one,
else what the record says. Where the order and the attempts disagree, nothing is selected.
"""

import fnmatch
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from freeze_gate.errors import UsageError
from freeze_gate.evidence.abbreviation import abbreviate
from freeze_gate.evidence.checks import FIRST, RERUN
from freeze_gate.evidence.models import Artifact, CheckFailure
from freeze_gate.github.artifacts import Listing

ATTEMPT: Final = "{attempt}"
"""Stands for the number of an attempt in the name of an artifact."""

_ATTEMPT_NUMBER: Final = r"[1-9][0-9]{0,8}"
_PLACEHOLDER: Final = "\0"  # replaces {attempt} while a glob is translated; no artifact's name can hold it
_MAX_LISTED: Final = 6  # candidates in a message
_MAX_QUOTED: Final = 100  # characters of a name in a message


class ArtifactSelector(NamedTuple):
    """Which artifacts one side is made of: one by id, or those of a run by name or glob. `run_id` None: the default."""

    artifact_id: int | None
    name: str | None
    run_id: int | None


class Candidate(NamedTuple):
    """An artifact that a selector matches, with the attempt that its name says."""

    artifact: Artifact
    attempt: int | None = None


AttemptOf = Callable[[Candidate], int | None]
"""Returns the attempt that made a candidate; None if it is unknown."""


class CandidateGroup(NamedTuple):
    """The candidates of one name, newest first, for one side or for both: then the newest two attempts are selected.

    `label` is the name, with `{attempt}` for the number of the attempt. `siblings` are all artifacts of this name in
    any attempt, candidates included. `duplicate_count` counts artifacts that were left out of the candidates because
    another one has the same bytes. `named_by_id` says that the first candidate was given by its id.
    """

    label: str
    sides: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    siblings: tuple[Candidate, ...] = ()
    fault: CheckFailure | None = None
    duplicate_count: int = 0
    named_by_id: bool = False

    @property
    def to_download(self) -> tuple[Artifact, ...]:
        """The artifacts that `select` needs.

        If their names say no attempt, that is one more than there are sides: its record shows that it is of another
        attempt.
        """
        attempts_are_named = all(candidate.attempt for candidate in self.candidates)
        count = len(self.sides) if attempts_are_named else len(self.sides) + 1
        return tuple(candidate.artifact for candidate in self.candidates[:count])


class Selection(NamedTuple):
    """What was selected from a group for one side: a candidate, or the failed check."""

    side: str
    label: str
    candidate: Candidate | None = None
    fault: CheckFailure | None = None


# ---- from a name or an id to groups of candidates --------------------------------------------------------------------


def group_by_name(name: str, sides: tuple[str, ...], listing: Sequence[Artifact]) -> list[CandidateGroup]:
    """Group the artifacts that match a name or a glob by their names without the attempt.

    If an artifact has exactly this name, the name is no glob. An ending `-<run id>-<attempt>`, as the capture action
    adds it, is always taken as the attempt. If nothing matches, the only group has a fault.
    """
    if any(artifact.name == name for artifact in listing):
        matches = [(name, Candidate(one, attempt_in_name(one))) for one in listing if one.name == name]
    else:
        matches = _match_glob(name, listing)
    candidates: dict[str, list[Candidate]] = {}
    for label, candidate in matches:
        candidates.setdefault(label, []).append(candidate)
    if not candidates:
        hint = " (only * and ? are wildcards)" if "[" in name else ""
        names = abbreviate(list(dict.fromkeys(artifact.name for artifact in listing)), _MAX_LISTED, _quote)
        others = f"it has {', '.join(names)}" if names else "its jobs uploaded none, or the token lacks `actions: read`"
        detail = f"the run has no artifact named {_quote(name)}{hint}; {others}"
        return [CandidateGroup(name, sides, (), fault=_missing(detail))]
    groups = [_group(label, sides, candidates[label]) for label in sorted(candidates)]
    return _with_siblings(groups, listing)


def matches_name(name: str, artifact_name: str) -> bool:
    """Whether an artifact's name is one that a name or a glob of the inputs asks for."""
    return artifact_name == name or _pattern(name).match(artifact_name) is not None


def is_glob(name: str, listing: Sequence[Artifact]) -> bool:
    """Whether a name of the inputs may match artifacts of several names; `{attempt}` alone stands for one."""
    return ("*" in name or "?" in name) and all(artifact.name != name for artifact in listing)


def describe_unknown_artifacts(listing: Listing) -> list[str]:
    """Return what a run has besides the artifacts that its listing describes. It may quote untrusted text."""
    descriptions = list(
        abbreviate(
            listing.unreadable,
            _MAX_LISTED,
            lambda artifact: (
                f"an artifact{'' if artifact.name is None else f' named {artifact.name[:_MAX_QUOTED]!r}'} whose "
                f"description cannot be read ({artifact.problem})"
            ),
        )
    )
    if listing.unlisted:
        count = "an artifact" if listing.unlisted == 1 else f"{listing.unlisted} artifacts"
        descriptions.append(f"{count} that GitHub counts and does not list")
    return descriptions


def group_of_artifact(side: str, artifact: Artifact, listing: Sequence[Artifact]) -> CandidateGroup:
    """Return the group of an artifact that was given by its id: it is the only candidate."""
    candidate = Candidate(artifact, attempt_in_name(artifact))
    group = CandidateGroup(artifact.name, (side,), (candidate,), named_by_id=True)
    return _with_siblings([group], listing)[0]


def truncate_at(group: CandidateGroup, artifact: Artifact, sides: tuple[str, ...]) -> CandidateGroup | None:
    """Return a group for both sides whose newest candidate is an artifact, or its copy; None if it is not in there."""
    ids = [candidate.artifact.id for candidate in group.candidates]
    digests = [candidate.artifact.digest for candidate in group.candidates]
    if artifact.id in ids:
        index = ids.index(artifact.id)
    elif artifact.digest and artifact.digest in digests:
        index = digests.index(artifact.digest)
    else:
        return None
    return group._replace(sides=sides, candidates=group.candidates[index:], named_by_id=True)


def attempt_in_name(artifact: Artifact) -> int | None:
    """Return the attempt in the ending that the capture action adds to an artifact's name."""
    return _split_attempt(artifact)[1]


def _match_glob(name: str, listing: Iterable[Artifact]) -> list[tuple[str, Candidate]]:
    """Match a glob, and return labels with candidates."""
    pattern = _pattern(name)
    matches = []
    for artifact in listing:
        matched = pattern.match(artifact.name)
        if matched and ATTEMPT in name:
            start, end = matched.span("attempt")
            label, attempt = artifact.name[:start] + ATTEMPT + artifact.name[end:], int(matched["attempt"])
            matches.append((label, Candidate(artifact, attempt)))
        elif matched:
            label, attempt_or_none = _split_attempt(artifact)
            matches.append((label, Candidate(artifact, attempt_or_none)))
    return matches


def _pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of a name with `*`, `?` and `{attempt}`. A bracket is only a bracket."""
    glob = name.replace("[", "[[]").replace(ATTEMPT, _PLACEHOLDER)
    return re.compile(fnmatch.translate(glob).replace(_PLACEHOLDER, f"(?P<attempt>{_ATTEMPT_NUMBER})"))


def _split_attempt(artifact: Artifact) -> tuple[str, int | None]:
    """Split `x-<run id>-<attempt>` into `x-<run id>-{attempt}` and the attempt. Other names stay as they are."""
    ending = artifact.run_id and re.fullmatch(rf"(.*-{artifact.run_id}-)({_ATTEMPT_NUMBER})", artifact.name)
    return (ending[1] + ATTEMPT, int(ending[2])) if ending else (artifact.name, None)


def _group(label: str, sides: tuple[str, ...], candidates: Sequence[Candidate]) -> CandidateGroup:
    if len(candidates) > 1 and all(candidate.artifact.expired for candidate in candidates):
        detail = f"all {len(candidates)} artifacts named {label} have expired"
        return CandidateGroup(label, sides, tuple(candidates), fault=CheckFailure("artifact-expired", detail))
    newest_first = sorted(
        candidates,
        key=lambda candidate: (candidate.attempt or 0, candidate.artifact.created_at or ""),
        reverse=True,
    )
    distinct: list[Candidate] = []
    contents: set[tuple[int | None, str]] = set()
    for candidate in newest_first:
        content = (candidate.attempt, candidate.artifact.digest or f"of artifact {candidate.artifact.id}")
        if content not in contents:  # an upload that was retried leaves two of the same bytes
            contents.add(content)
            distinct.append(candidate)
    return CandidateGroup(label, sides, tuple(distinct), duplicate_count=len(newest_first) - len(distinct))


def _with_siblings(groups: Iterable[CandidateGroup], listing: Iterable[Artifact]) -> list[CandidateGroup]:
    """Add the artifacts that have a candidate's name in any attempt, even if the input names only one attempt."""
    named: dict[str, list[Candidate]] = {}
    for artifact in listing:
        label, attempt = _split_attempt(artifact)
        named.setdefault(label, []).append(Candidate(artifact, attempt))
    with_siblings = []
    for group in groups:
        siblings = {candidate.artifact.id: candidate for candidate in group.candidates}
        for label in dict.fromkeys(_split_attempt(candidate.artifact)[0] for candidate in group.candidates):
            for sibling in named.get(label, ()):
                siblings.setdefault(sibling.artifact.id, sibling)
        with_siblings.append(group._replace(siblings=tuple(siblings.values())))
    return with_siblings


# ---- from a group to one artifact for each side ----------------------------------------------------------------------


def compares_attempts(first: ArtifactSelector, rerun: ArtifactSelector, *, one_run: bool) -> bool:
    """Whether the two sides are two attempts of one job. Raises `UsageError` if only one name holds `{attempt}`."""
    if not one_run or first.name is None or rerun.name is None or first.artifact_id or rerun.artifact_id:
        return False
    if (ATTEMPT in first.name) != (ATTEMPT in rerun.name):
        raise UsageError(
            f"inputs `first-artifact` and `rerun-artifact` are {first.name!r} and {rerun.name!r}; "
            "allowed: {attempt} in both names of one run, or in neither"
        )
    return first.name == rerun.name


def select(group: CandidateGroup, attempt_of: AttemptOf, latest_attempt: int | None) -> list[Selection]:
    """Select the newest attempt's candidate; for both sides, the rerun is the newest and the first the one before.

    `latest_attempt` is the number of the run's latest attempt; None if it is unknown.
    """
    if group.fault:
        return [Selection(side, group.label, fault=group.fault) for side in group.sides]
    if len(group.candidates) == 1:
        return _select_only_one(group, attempt_of, latest_attempt)
    ambiguity = _ambiguity(group.candidates[: len(group.sides) + 1], attempt_of)
    if ambiguity:
        listed = abbreviate(
            group.candidates,
            _MAX_LISTED,
            lambda candidate: f"{candidate.artifact.id} of {candidate.artifact.created_at or 'unknown time'}",
        )
        fault = CheckFailure("artifact-ambiguous", f"{ambiguity}: {', '.join(listed)}")
        return [Selection(side, group.label, fault=fault) for side in group.sides]
    newest_first = zip(reversed(group.sides), group.candidates, strict=False)
    return [Selection(side, group.label, candidate) for side, candidate in newest_first]


def _ambiguity(newest_first: Sequence[Candidate], attempt_of: AttemptOf) -> str | None:
    """Return why it is not certain that each candidate is of a later attempt than the next one."""
    attempts = [attempt_of(candidate) for candidate in newest_first]
    for (newer, attempt), (older, attempt_before) in pairwise(zip(newest_first, attempts, strict=True)):
        if attempt is None or attempt_before is None:
            return "the attempt of one of them is unknown"
        if attempt == attempt_before:
            return "two are of one attempt"
        if attempt < attempt_before:
            return "their records and their times disagree"
        times = newer.artifact.created_at, older.artifact.created_at
        if newer.attempt is None and (None in times or times[0] == times[1]):
            return "they were created in the same second"
    return None


def _select_only_one(group: CandidateGroup, attempt_of: AttemptOf, latest_attempt: int | None) -> list[Selection]:
    """Select the only candidate. For both sides it is the first run's if it is of attempt 1, else the rerun's."""
    (candidate,) = group.candidates
    if len(group.sides) == 1:
        return [Selection(group.sides[0], group.label, candidate)]
    if group.named_by_id:
        detail = f"no attempt before that of artifact {candidate.artifact.id} left one named {group.label}"
        return [Selection(FIRST, group.label, fault=_missing(detail)), Selection(RERUN, group.label, candidate)]
    attempt = attempt_of(candidate) or latest_attempt
    if attempt == 1:
        fault = _missing(_why_no_rerun(group, latest_attempt))
        return [Selection(FIRST, group.label, candidate), Selection(RERUN, group.label, fault=fault)]
    fault = _missing(_why_no_first(group, attempt))
    return [Selection(FIRST, group.label, fault=fault), Selection(RERUN, group.label, candidate)]


def _why_no_rerun(group: CandidateGroup, latest_attempt: int | None) -> str:
    if latest_attempt is None or latest_attempt == 1:
        return 'the run has only one attempt yet: press "Re-run failed jobs" for a second one to compare with'
    return (
        f"no later attempt left an artifact named {group.label}{_copies(group)}, "
        f"and the run is at attempt {latest_attempt}"
    )


def _why_no_first(group: CandidateGroup, attempt: int | None) -> str:
    which = f"attempt {attempt}" if attempt else "one attempt, which is unknown,"
    detail = f"only {which} left an artifact named {group.label}{_copies(group)}"
    if ATTEMPT in group.label:
        return detail
    return f"{detail}; to keep the earlier one, put {ATTEMPT} into the artifact's name, or rerun in a separate run"


def _copies(group: CandidateGroup) -> str:
    return f" (not counting {group.duplicate_count} more with the same bytes)" if group.duplicate_count else ""


def _quote(name: str) -> str:
    plain = name.replace("`", "'")
    return f"`{plain[:_MAX_QUOTED]}`"


def _missing(detail: str) -> CheckFailure:
    return CheckFailure("artifact-missing", detail)
