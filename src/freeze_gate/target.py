"""Which pull request a label may go to: the one open one whose head is the tested commit, asked afresh."""

from collections.abc import Sequence
from typing import NamedTuple

from freeze_gate.event import Event
from freeze_gate.evidence.side import Artifact
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
    """The commit that the evidence is about, and the repository whose code it is: GitHub's word. None is not known."""

    sha: str | None
    repository_id: int | None


def find_target(api: Api, event: Event, named: int | None, artifact: Artifact | None) -> Target:
    """Find the pull request and look at it as it is now.

    The number comes from the input, else from the event or the queue's ref, else from the head's branch or commit;
    never from what the artifact holds. What GitHub says of the artifact names the tested commit. Raises `ApiError`.
    """
    tested = Tested(
        (artifact and artifact.head_sha) or event.head.sha,
        (artifact and artifact.head_repository_id) or event.head.repository_id,
    )
    number = named or event.pull_request
    if number is not None:
        return Target(number, _obstacle(get_pull(api, number), tested))
    if tested.sha is None:
        return Target(None, "no pull request is known for this run")
    fitting = [pull for pull in _candidates(api, event, tested) if _obstacle(pull, tested) is None]
    if len(fitting) == 1:
        return Target(fitting[0].number)
    if fitting:
        numbers = ", ".join(str(pull.number) for pull in fitting)
        return Target(None, f"several open pull requests have this head ({numbers}): name one with `pull-request`")
    return Target(None, "no open pull request has the tested commit as its head")


def _candidates(api: Api, event: Event, tested: Tested) -> Sequence[Pull]:
    """List by branch where the event names one (for a fork nothing else works), else by commit.

    A fork that is gone leads to nothing: the commit alone could be another pull request's head as well.
    """
    head = event.head
    if head.owner and head.branch and head.repository_id:
        pulls = open_pulls_of_branch(api, head.owner, head.branch)
        return [pull for pull in pulls if pull.head_repository_id == head.repository_id]
    if event.from_fork:
        return ()
    home = [pull for pull in pulls_of_commit(api, str(tested.sha)) if pull.head_repository_id is not None]
    return [pull for pull in home if pull.head_repository_id == (tested.repository_id or pull.base_repository_id)]


def _obstacle(pull: Pull, tested: Tested) -> str | None:
    if not pull.open:
        return f"pull request {pull.number} is not open"
    if tested.sha is None or pull.head_sha != tested.sha:
        return (
            f"the head of pull request {pull.number} is not the tested commit: it was pushed to meanwhile, "
            "or its merge was tested"
        )
    if None not in (tested.repository_id, pull.head_repository_id) and tested.repository_id != pull.head_repository_id:
        return f"the tested code is not from the repository of pull request {pull.number}"
    return None
