"""Which pull request the freeze label goes to: the one open one whose head is the tested commit, looked up anew."""

from typing import Final, NamedTuple

from freeze_gate.action.event import Event, Head
from freeze_gate.evidence.models import Artifact, Source
from freeze_gate.github.client import GitHubClient
from freeze_gate.github.pulls import Pull, get_pull, list_open_pulls_of_branch, list_pulls_of_commit


class LabelTarget(NamedTuple):
    """The pull request that the run is about; `reason_not_labelled` says why it may not get the label.

    `lookup_failed` says that the reason is a failed API call.
    """

    number: int | None
    reason_not_labelled: str | None = None
    lookup_failed: bool = False


class TestedCommit(NamedTuple):
    """The tested commit, according to GitHub. None means unknown.

    `same_repository` says that it is this repository's own code, so that no `repository_id` is needed. A fork must be
    known by its id, because the same commit may be the head of somebody else's pull request. `owner` owns the
    repository of the commit.
    """

    sha: str | None
    repository_id: int | None
    same_repository: bool
    owner: str | None
    branch: str | None

    @property
    def reason_not_labelled(self) -> str | None:
        """What GitHub does not say, and without which no pull request may be labelled."""
        if self.sha is None:
            return "GitHub does not say which commit the rerun's run tested"
        if self.repository_id is None and not self.same_repository:
            return "GitHub does not say from which repository the tested code is: its fork may have been deleted"
        return None


_NO_METADATA: Final = Artifact(id=0, name="", size=0)
"""What a server says about an artifact if it does not name its run."""


def find_label_target(
    client: GitHubClient, event: Event, pull_request: int | None, rerun: Source | None
) -> LabelTarget:
    """Find the pull request and check its present state.

    The number comes from the input (`pull_request`), else from the event or the merge queue's ref, else from the
    branch or commit of the head; never from a record. The tested commit is what GitHub says about the rerun's
    artifact. Raises `ApiError`.
    """
    tested = _tested_commit(event, rerun)
    number = pull_request or event.pull_request
    if tested.reason_not_labelled:
        return LabelTarget(number, tested.reason_not_labelled)
    if number is not None:
        return LabelTarget(number, _mismatch(get_pull(client, number), tested))
    return _search(client, tested)


def is_from_fork(artifact: Artifact) -> bool:
    """Whether another repository's code made the artifact, according to GitHub. A deleted fork counts as one."""
    return artifact.repository_id is not None and artifact.head_repository_id != artifact.repository_id


def is_of_event(event: Event, rerun: Source | None) -> bool:
    """Whether the rerun is of the run that the event is about, so that the event's facts hold for it."""
    return rerun is None or rerun.run_id == event.run_id


def _tested_commit(event: Event, rerun: Source | None) -> TestedCommit:
    """Return what the artifact says, else what the event says if it is about the artifact's run.

    If the two contradict each other, the repository is unknown.
    """
    artifact = (rerun and rerun.artifact) or _NO_METADATA
    of_event = is_of_event(event, rerun)
    head, from_fork = (event.head, event.from_fork) if of_event else (Head(), False)
    has_repository = of_event or artifact.repository_id is not None
    same_repository = has_repository and not from_fork and not is_from_fork(artifact)
    repository_id = artifact.head_repository_id or head.repository_id
    if repository_id == artifact.repository_id and not same_repository:
        repository_id = None
    return TestedCommit(
        sha=artifact.head_sha or head.sha,
        repository_id=repository_id,
        same_repository=same_repository,
        owner=event.head.owner if repository_id == event.head.repository_id else None,  # even if it is another run's
        branch=artifact.head_branch or head.branch,
    )


def _search(client: GitHubClient, tested: TestedCommit) -> LabelTarget:
    """Find the one open pull request, by the tested branch if its owner is known, else by the commit."""
    if tested.owner and tested.branch:  # GitHub lists no pull requests for a fork's commit
        where, pulls = "of the tested branch", list_open_pulls_of_branch(client, tested.owner, tested.branch)
    elif tested.same_repository:
        where, pulls = "of this repository's own branches", list_pulls_of_commit(client, str(tested.sha))
    else:
        reason = "GitHub does not say which fork was tested: name the pull request in the input `pull-request`"
        return LabelTarget(None, reason)
    matching = [pull for pull in pulls if _mismatch(pull, tested) is None]
    if len(matching) == 1:
        return LabelTarget(matching[0].number)
    if matching:
        numbers = ", ".join(str(pull.number) for pull in matching)
        reason = f"several open pull requests have this head ({numbers}): name one in the input `pull-request`"
        return LabelTarget(None, reason)
    return LabelTarget(None, f"no open pull request {where} has the tested commit as its head")


def _mismatch(pull: Pull, tested: TestedCommit) -> str | None:
    """Return why a pull request is not the tested one."""
    if not pull.open:
        return f"pull request {pull.number} is not open"
    if pull.head_sha != tested.sha:
        return (
            f"the head of pull request {pull.number} is not the tested commit: new commits were pushed, or the run "
            "tested the merge or another commit"
        )
    if pull.head_repository_id != (tested.repository_id or pull.base_repository_id):
        return f"the tested code is not from the repository of pull request {pull.number}"
    return None
