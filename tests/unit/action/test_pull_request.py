"""Which pull request a label may go to, asked of the stand-in."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from freeze_gate.action.event import Event, Head
from freeze_gate.action.pull_request import LabelTarget, find_label_target
from freeze_gate.evidence.models import Artifact, Source
from freeze_gate.github.client import GitHubClient, Token
from freeze_gate.github.errors import ApiError
from tests.standin import Fault, Standin
from tests.standin.state import Repository

HEAD = "c" * 40


class Situation(NamedTuple):
    """The stand-in, a client, our repository and a fork of it."""

    github: Standin
    client: GitHubClient
    home: Repository
    fork: Repository

    def event(self, *, number: int | None = None, fork: bool = False, branch: str | None = None) -> Event:
        """Return an event about the head."""
        source = self.fork if fork else self.home
        head = Head(HEAD, branch, source.owner if branch else None, source.id if branch else None)
        return Event("x", self.home.full_name, self.github.url, self.github.server_url, 1, 1, HEAD, number, head, fork)

    def rerun(self, *, fork: bool = False, run_id: int = 1, **said: Any) -> Source:
        """Return the rerun's artifact with what GitHub says of it, of the event's run unless it is another's."""
        head = (self.fork if fork else self.home).id
        facts = {"repository_id": self.home.id, "head_repository_id": head, "head_sha": HEAD, **said}
        return Source("b", Artifact(1, "b", 1, **facts), run_id=run_id)


@pytest.fixture
def scene() -> Iterator[Situation]:
    """Return a repository without pull requests."""
    with Standin() as github:
        home = github.repository()
        with GitHubClient(github.url, home.full_name, Token(github.token), wait_seconds=0) as client:
            yield Situation(github, client, home, github.repository("stranger/widgets", fork=True))


def test_the_input_goes_before_the_event(scene: Situation) -> None:
    """And the pull request is looked at."""
    scene.home.add_pull(number=12)
    scene.home.add_pull(number=20)
    assert find_label_target(scene.client, scene.event(number=12), 20, scene.rerun()) == LabelTarget(20)
    assert find_label_target(scene.client, scene.event(number=12), None, scene.rerun()) == LabelTarget(12)


def test_the_artifact_s_commit_goes_before_the_event_s(scene: Situation) -> None:
    """What was tested is what the evidence is about."""
    scene.home.add_pull(number=12)
    found = find_label_target(scene.client, scene.event(number=12), None, scene.rerun(head_sha="e" * 40))
    assert found.number == 12
    assert found.reason_not_labelled
    assert "is not the tested commit" in found.reason_not_labelled


def test_without_an_artifact_the_event_s_commit_counts(scene: Situation) -> None:
    """An older server says nothing of an artifact's run."""
    scene.home.add_pull(number=12)
    assert find_label_target(scene.client, scene.event(number=12), None, None) == LabelTarget(12)


def test_a_fork_is_found_by_its_branch_alone(scene: Situation) -> None:
    """With the equal head of that very repository; a namesake of ours is not it."""
    scene.home.add_pull(number=12, head_repository=scene.fork)
    scene.home.add_pull(number=13)

    event = scene.event(fork=True, branch="patch")
    assert find_label_target(scene.client, event, None, scene.rerun(fork=True)) == LabelTarget(12)
    assert any("pulls" in call for call in scene.github.asked())


def test_a_second_repository_of_the_same_owner_is_not_it(scene: Situation) -> None:
    """`owner:branch` names neither of two forks of one owner."""
    other = scene.github.repository("stranger/gadgets", fork=True)
    scene.home.add_pull(number=12, head_repository=other)
    found = find_label_target(scene.client, scene.event(fork=True, branch="patch"), None, scene.rerun(fork=True))
    assert found == LabelTarget(None, "no open pull request of the tested branch has the tested commit as its head")


@pytest.mark.parametrize("fork", [True, False])
def test_a_commit_leads_to_pull_requests_of_its_own_repository(scene: Situation, fork: bool) -> None:
    """Never for a fork: the same commit may be somebody else's head."""
    scene.home.add_pull(number=12)
    found = find_label_target(scene.client, scene.event(fork=fork), None, scene.rerun(fork=fork))
    assert found.number == (None if fork else 12)


@pytest.mark.parametrize("named", [12, None])
@pytest.mark.parametrize("of_event", [True, False])
@pytest.mark.parametrize("fork", [True, False])
def test_a_fork_that_is_not_named_leads_nowhere(
    scene: Situation, named: int | None, of_event: bool, fork: bool
) -> None:
    """Whether the event says it or the artifact, and whoever's pull request has the very commit as its head."""
    scene.home.add_pull(number=12, head_repository=scene.fork if fork else None, head_deleted=fork)
    event = scene.event()._replace(from_fork=of_event)
    rerun = scene.rerun() if of_event else scene.rerun(head_repository_id=None)

    found = find_label_target(scene.client, event, named, rerun)

    assert found.number == named
    assert found.reason_not_labelled
    assert "does not say from which repository" in found.reason_not_labelled


@pytest.mark.parametrize("fork", [True, False])
def test_a_pull_request_whose_fork_is_gone_gets_no_label(scene: Situation, fork: bool) -> None:
    """Its repository can no longer be compared."""
    scene.home.add_pull(number=12, head_deleted=True)
    found = find_label_target(scene.client, scene.event(number=12), None, scene.rerun(fork=fork))
    assert found.reason_not_labelled == "the tested code is not from the repository of pull request 12"


def test_a_server_that_names_no_repository_means_our_own(scene: Situation) -> None:
    """Unless the event says that the code is a fork's; a fork's pull request is not it."""
    scene.home.add_pull(number=12)
    scene.home.add_pull(number=13, head_repository=scene.fork)
    assert find_label_target(scene.client, scene.event(), 12, None) == LabelTarget(12)
    assert find_label_target(scene.client, scene.event(), 13, None).reason_not_labelled


@pytest.mark.parametrize(("state", "sha"), [("closed", HEAD), ("open", "e" * 40)])
def test_what_does_not_fit_is_not_found_by_its_commit(scene: Situation, state: str, sha: str) -> None:
    """Closed, or moved on."""
    scene.home.add_pull(number=12, state=state, head_sha=sha)
    assert find_label_target(scene.client, scene.event(), None, scene.rerun()).number is None


def test_two_that_fit_are_none_and_named(scene: Situation) -> None:
    """The input settles it."""
    for number in (12, 20):
        scene.home.add_pull(number=number)
    found = find_label_target(scene.client, scene.event(), None, scene.rerun())
    assert found.number is None
    assert (
        found.reason_not_labelled
        == "several open pull requests have this head (20, 12): name one in the input `pull-request`"
    )


SILENT = dict.fromkeys(("repository_id", "head_repository_id", "head_sha"))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (SILENT, "GitHub does not say which commit the rerun's run tested"),
        ({**SILENT, "head_sha": HEAD}, "GitHub does not say from which repository the tested code is"),
    ],
    ids=["nothing", "the commit"],
)
@pytest.mark.parametrize("named", [12, None])
def test_what_the_event_says_is_not_about_another_run(
    scene: Situation, said: dict[str, Any], words: str, named: int | None
) -> None:
    """The server must say itself what that run tested."""
    scene.home.add_pull(number=12)
    assert find_label_target(scene.client, scene.event(number=12), named, scene.rerun(**said)) == LabelTarget(12)

    found = find_label_target(scene.client, scene.event(number=12), named, scene.rerun(run_id=77, **said))

    assert found.number == 12
    assert found.reason_not_labelled
    assert words in found.reason_not_labelled


@pytest.mark.parametrize("fork", [True, False])
def test_another_run_s_pull_request_is_looked_for_by_that_run_s_branch(scene: Situation, fork: bool) -> None:
    """Of the event only the owner counts, and that only for the repository of which it says it."""
    source = scene.fork if fork else scene.home
    scene.home.add_pull(number=12, head_ref="patch", head_repository=source, head_sha="e" * 40)
    scene.home.add_pull(number=20, head_ref="other", head_repository=source)
    event = scene.event(fork=fork, branch="patch")
    event = event._replace(head=event.head._replace(sha="e" * 40))

    found = find_label_target(scene.client, event, None, scene.rerun(fork=fork, run_id=77, head_branch="other"))

    assert found == LabelTarget(20)


@pytest.mark.parametrize(
    ("fork", "words"),
    [
        (True, "GitHub does not say which fork was tested: name the pull request in the input `pull-request`"),
        (False, "no open pull request of this repository's own branches has the tested commit as its head"),
    ],
)
def test_where_nothing_is_found_it_is_said_where_was_looked(scene: Situation, fork: bool, words: str) -> None:
    """An owner of another repository than the tested one leads to nothing."""
    scene.home.add_pull(number=12, head_repository=scene.home if fork else scene.fork)
    event = scene.event(fork=not fork, branch="patch")
    assert find_label_target(scene.client, event, None, scene.rerun(fork=fork, run_id=77)) == LabelTarget(None, words)


def test_what_the_server_says_of_another_run_is_enough(scene: Situation) -> None:
    """Also where the event is a fork's, and the other run is not."""
    scene.home.add_pull(number=12)
    event = scene.event(fork=True)._replace(commit="e" * 40, head=Head("e" * 40))
    assert find_label_target(scene.client, event, 12, scene.rerun(run_id=77)) == LabelTarget(12)


def test_without_a_commit_nothing_is_asked(scene: Situation) -> None:
    """There is nothing to ask for."""
    event = scene.event()._replace(head=Head())
    assert find_label_target(scene.client, event, None, None) == LabelTarget(
        None, "GitHub does not say which commit the rerun's run tested"
    )
    assert not scene.github.log


def test_trouble_is_raised_and_not_taken_for_none(scene: Situation) -> None:
    """The caller says that the call failed."""
    scene.github.fault(Fault("status", status=500))
    with pytest.raises(ApiError):
        find_label_target(scene.client, scene.event(number=12), None, scene.rerun())
