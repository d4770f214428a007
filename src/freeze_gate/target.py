"""Which pull request a label may go to: the one open one whose head is the tested commit, asked afresh."""

from collections.abc import Sequence
from typing import NamedTuple

from freeze_gate.event import Event
from freeze_gate.evidence.side import Artifact
from freeze_gate.github.http import Api
from freeze_gate.github.pulls import Pull, get_pull, open_pulls_of_branch, pulls_of_commit


class Target(NamedTuple):
    """The pull request that the run is about, and why no label may go to it, where that is so."""

    number: int | None
    obstacle: str | None = None


def find_target(api: Api, event: Event, named: int | None, artifact: Artifact | None) -> Target:
    """Find the pull request and look at it as it is now.

    The number comes from the input, else from the event or the queue's ref, else from the head's branch or commit;
    never from what the artifact holds. What GitHub says of the artifact names the tested commit. Raises `ApiError`.
    """
    tested = (artifact and artifact.head_sha) or event.head.sha
    number = named or event.pull_request
    if number is not None:
        return Target(number, _obstacle(get_pull(api, number), tested))
    if tested is None:
        return Target(None, "no pull request is known for this run")
    fitting = [pull for pull in _candidates(api, event, tested) if _obstacle(pull, tested) is None]
    if len(fitting) == 1:
        return Target(fitting[0].number)
    if fitting:
        numbers = ", ".join(str(pull.number) for pull in fitting)
        return Target(None, f"several open pull requests have this head: {numbers}; name one with the input `pull-request`")
    return Target(None, "no open pull request has this head")


def _candidates(api: Api, event: Event, tested: str) -> Sequence[Pull]:
    """List by branch where the event names one (for a fork nothing else works), else by commit."""
    if event.head.owner and event.head.branch:
        pulls = open_pulls_of_branch(api, event.head.owner, event.head.branch)
        return [pull for pull in pulls if pull.head_repository_id == event.head.repository_id]
    return pulls_of_commit(api, tested)


def _obstacle(pull: Pull, tested: str | None) -> str | None:
    if not pull.open:
        return f"pull request {pull.number} is not open"
    if tested is None or pull.head_sha != tested:
        return f"the head of pull request {pull.number} is not the tested commit: it was pushed to, or a merge was tested"
    return None
