"""Pull requests by number, by branch and by commit; the label that is only ever added."""

import threading

import pytest

from freeze_gate.github.client import GitHubClient
from freeze_gate.github.errors import ApiError
from freeze_gate.github.labels import add_label
from freeze_gate.github.pulls import get_pull, list_open_pulls_of_branch, list_pulls_of_commit
from freeze_gate.github.session import Token
from tests.standin import Fault, Grant, Pretended, Standin
from tests.standin.state import Repository

SHA = "d" * 40


@pytest.fixture
def repository(github: Standin) -> Repository:
    """Return the repository."""
    return github.repository()


def test_a_pull_request_is_described_as_it_is_now(repository: Repository, client: GitHubClient) -> None:
    """Number, state, head, base and labels: what decides whether a label may be added."""
    repository.add_pull(number=7, head_ref="fix", head_sha=SHA, labels=["hold"])
    assert get_pull(client, 7)._asdict() == {
        "number": 7,
        "open": True,
        "head_sha": SHA,
        "head_ref": "fix",
        "head_repository_id": repository.id,
        "base_repository_id": repository.id,
        "labels": ("hold",),
    }


def test_a_closed_pull_request_is_not_open(repository: Repository, client: GitHubClient) -> None:
    """Closed meanwhile: no label will be added to it."""
    repository.add_pull(number=7, state="closed")
    assert not get_pull(client, 7).open


def test_a_head_whose_fork_was_deleted_has_no_repository(repository: Repository, client: GitHubClient) -> None:
    """The fork is gone, the pull request stays."""
    repository.add_pull(number=7, head_deleted=True)
    assert get_pull(client, 7).head_repository_id is None


def test_a_fork_is_found_by_its_branch_and_not_by_its_commit(
    github: Standin, repository: Repository, client: GitHubClient
) -> None:
    """GitHub lists no pull request for a fork's commit, and all open ones of `owner:branch`, whichever fork that is."""
    fork = github.repository("mona/widgets", fork=True)
    repository.add_pull(number=7, head_ref="fix", head_sha=SHA, head_repository=fork)
    repository.add_pull(number=8, head_ref="fix", head_sha=SHA)
    repository.add_pull(number=9, head_ref="fix", head_repository=fork, state="closed")
    assert [(pull.number, pull.head_repository_id) for pull in list_open_pulls_of_branch(client, "mona", "fix")] == [
        (7, fork.id)
    ]
    assert [pull.number for pull in list_pulls_of_commit(client, SHA)] == [8]


def test_all_pull_requests_of_a_branch_are_listed(repository: Repository, client: GitHubClient) -> None:
    """Two open pull requests with one head are two: the caller decides that this is no match."""
    for base in ("main", "release"):
        repository.add_pull(head_sha=SHA, head_ref="fix & more", base_ref=base)
    assert len(list_open_pulls_of_branch(client, "octo-org", "fix & more")) == 2


def test_the_label_is_created_where_the_repository_has_none(repository: Repository, client: GitHubClient) -> None:
    """Adding creates it, in the colour that GitHub gives; one call."""
    repository.add_pull(number=7)
    add_label(client, 7, "freeze-request")
    label = repository.labels["freeze-request"]
    assert (label.color, label.description) == ("ededed", None)
    assert repository.issues[7].labels == ["freeze-request"]
    assert client.calls == 1


def test_a_label_that_is_there_in_another_case_will_do(repository: Repository, client: GitHubClient) -> None:
    """Names of labels ignore case."""
    repository.add_pull(number=7)
    repository.add_label("Freeze-Request")
    add_label(client, 7, "freeze-request")
    assert repository.issues[7].labels == ["Freeze-Request"]


def test_labels_of_others_stay(github: Standin, repository: Repository, client: GitHubClient) -> None:
    """Two writers at the same moment; both labels are there in the end."""
    repository.add_pull(number=7, labels=["bug"])
    github.fault(Fault("meet", method="POST", pattern="labels$", parties=2))
    writers = [threading.Thread(target=add_label, args=(client, 7, "freeze-request"))]
    with GitHubClient(github.url, "octo-org/widgets", Token(github.token)) as other:
        writers.append(threading.Thread(target=add_label, args=(other, 7, "hold")))
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
    assert sorted(repository.issues[7].labels) == ["bug", "freeze-request", "hold"]


def test_a_lost_response_to_the_label_is_repeated(
    github: Standin, repository: Repository, client: GitHubClient
) -> None:
    """Adding twice is adding once."""
    repository.add_pull(number=7)
    github.fault(Fault("lost", method="POST", times=1))
    add_label(client, 7, "freeze-request")
    assert repository.issues[7].labels == ["freeze-request"]


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("x" * 51, "Label name: name is too long (maximum is 50 characters)"),
        (" freeze-request", "Label name invalid"),
        ("\u2744\ufe0f", "Label name: name must contain more than native emoji"),
    ],
)
def test_a_label_that_github_does_not_take_is_said(
    label: str, words: str, repository: Repository, client: GitHubClient
) -> None:
    """GitHub's own words say what is wrong with the name; where it has none, the field and the code do."""
    repository.add_pull(number=7)
    with pytest.raises(ApiError) as caught:
        add_label(client, 7, label)
    assert f'HTTP 422, "{words}"' in str(caught.value)


def test_the_hundred_and_first_label_is_said(repository: Repository, client: GitHubClient) -> None:
    """A pull request holds a hundred labels."""
    repository.add_pull(number=7, labels=[f"label-{index}" for index in range(100)])
    with pytest.raises(ApiError, match="an issue can have at most 100 labels"):
        add_label(client, 7, "freeze-request")


def test_a_label_that_was_dropped_is_an_error(github: Standin, repository: Repository, client: GitHubClient) -> None:
    """Success is what the answer shows, not its status."""
    repository.add_pull(number=7)
    github.fault(Fault("status", method="POST", status=200, payload=[{"name": "hold"}]))
    with pytest.raises(ApiError, match="did not set it"):
        add_label(client, 7, "freeze-request")


def test_pull_requests_write_is_enough_for_the_label(
    github: Standin, repository: Repository, pretended: Pretended
) -> None:
    """Either of the two permissions will do."""
    repository.add_pull(number=7)
    token = github.grant("ghs_pulls", Grant(issues="none"))
    with GitHubClient(github.url, "octo-org/widgets", Token(token), clock=pretended.clock) as client:
        add_label(client, 7, "freeze-request")
    assert repository.issues[7].labels == ["freeze-request"]
