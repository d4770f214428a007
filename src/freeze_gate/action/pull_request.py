"""Which pull request a label may go to: the one open one whose head is the tested commit, asked afresh."""

from typing import Final, NamedTuple

from freeze_gate.action.event import Event, Head
from freeze_gate.evidence.side import Artifact, Source
from freeze_gate.github.http import Api
from freeze_gate.github.pulls import Pull, get_pull, open_pulls_of_branch, pulls_of_commit


class Target(NamedTuple):
    """The pull request that the run is about, and why no label may go to it, where that is so.

    `failed` says that the obstacle is a call that failed, and not how things are.
    """

    number: int | None
    obstacle: str | None = None
    failed: bool = False


class Tested(NamedTuple):
    """What the evidence is about: a commit, the repository whose code it is, its branch. None is not known.

    All of it is GitHub's word. `at_home` says that it is this repository's own code, which then needs no id. A fork has
    to be known by its id: its commit may be the head of somebody else's pull request as well. `owner` is whose the
    repository is.
    """

    sha: str | None
    repository_id: int | None
    at_home: bool
    owner: str | None
    branch: str | None

    @property
    def missing(self) -> str | None:
        """What nobody can be labelled without, where GitHub does not say it."""
        if self.sha is None:
            return "GitHub does not say which commit the rerun's run tested"
        if self.repository_id is None and not self.at_home:
            return "GitHub does not say from which repository the tested code is: its fork may have been deleted"
        return None


_SILENT: Final = Artifact(id=0, name="", size=0)
"""What a server says of an artifact if it says nothing of its run."""


def find_target(api: Api, event: Event, named: int | None, rerun: Source | None) -> Target:
    """Find the pull request and look at it as it is now.

    The number comes from the input, else from the event or the queue's ref, else from the head's branch or commit;
    never from what the artifact holds. What GitHub says of the rerun's artifact names the tested commit. Raises
    `ApiError`.
    """
    tested = _tested(event, rerun)
    number = named or event.pull_request
    if tested.missing:
        return Target(number, tested.missing)
    if number is not None:
        return Target(number, _obstacle(get_pull(api, number), tested))
    return _searched(api, tested)


def is_foreign(artifact: Artifact) -> bool:
    """Whether another repository's code made the artifact, as GitHub says it; a fork that was deleted is one."""
    return artifact.repository_id is not None and artifact.head_repository_id != artifact.repository_id


def is_of_event(event: Event, rerun: Source | None) -> bool:
    """Whether the rerun is of the run that the event is about, so that what the event says holds for it."""
    return rerun is None or rerun.run_id == event.run_id


def _tested(event: Event, rerun: Source | None) -> Tested:
    """Read what was tested from the artifact, else from the event if it is about that run.

    Where the two contradict each other, no repository is known.
    """
    artifact = (rerun and rerun.artifact) or _SILENT
    of_event = is_of_event(event, rerun)
    head, from_fork = (event.head, event.from_fork) if of_event else (Head(), False)
    at_home = (of_event or artifact.repository_id is not None) and not (from_fork or is_foreign(artifact))
    repository_id = artifact.head_repository_id or head.repository_id
    if repository_id == artifact.repository_id and not at_home:
        repository_id = None
    return Tested(
        sha=artifact.head_sha or head.sha,
        repository_id=repository_id,
        at_home=at_home,
        owner=event.head.owner if repository_id == event.head.repository_id else None,  # whichever run was tested
        branch=artifact.head_branch or head.branch,
    )


def _searched(api: Api, tested: Tested) -> Target:
    """Look for the one pull request that fits, by the tested branch where its owner is known, else by the commit."""
    if tested.owner and tested.branch:  # for a fork nothing else works
        asked, pulls = "of the tested branch", open_pulls_of_branch(api, tested.owner, tested.branch)
    elif tested.at_home:
        asked, pulls = "of this repository's own branches", pulls_of_commit(api, str(tested.sha))
    else:
        return Target(None, "GitHub does not say whose fork was tested: name the pull request with `pull-request`")
    fitting = [pull for pull in pulls if _obstacle(pull, tested) is None]
    if len(fitting) == 1:
        return Target(fitting[0].number)
    if fitting:
        numbers = ", ".join(str(pull.number) for pull in fitting)
        return Target(None, f"several open pull requests have this head ({numbers}): name one with `pull-request`")
    return Target(None, f"no open pull request {asked} has the tested commit as its head")


def _obstacle(pull: Pull, tested: Tested) -> str | None:
    if not pull.open:
        return f"pull request {pull.number} is not open"
    if pull.head_sha != tested.sha:
        return (
            f"the head of pull request {pull.number} is not the tested commit: it was pushed to meanwhile, "
            "its merge was tested, or another commit was"
        )
    if pull.head_repository_id != (tested.repository_id or pull.base_repository_id):
        return f"the tested code is not from the repository of pull request {pull.number}"
    return None
