"""Which artifacts a run has, as the client tells it."""

import pytest

from freeze_gate.evidence.models import CheckFailure
from freeze_gate.github.artifacts import (
    LISTING_RETRY_DELAYS,
    Listing,
    UnreadableArtifact,
    get_artifact,
    get_attempt,
    get_run,
    list_artifacts,
)
from freeze_gate.github.client import GitHubClient
from freeze_gate.github.errors import ApiError
from tests.standin import Fault, Pretended, Standin
from tests.standin.state import Run


@pytest.fixture
def run(github: Standin) -> Run:
    """Return a run with two attempts."""
    attempts = ("2026-11-29T08:30:00Z", "2026-11-29T08:45:00Z")
    return github.repository().add_run(4242, head_sha="d" * 40, head_branch="fix/it", attempts=attempts)


@pytest.mark.parametrize(("count", "calls"), [(0, 1), (1, 1), (100, 1), (101, 2), (131, 2), (1000, 10)])
def test_a_listing_is_read_to_its_last_page(count: int, calls: int, run: Run, client: GitHubClient) -> None:
    """Of 131 artifacts, and of 1,000, the last one is found; a call fetches a hundred."""
    for index in range(count):
        run.add_artifact(f"part-{index}", b"zip")
    listing = list_artifacts(client, 4242, is_complete=lambda _artifacts: True)
    assert {artifact.name for artifact in listing.artifacts} == {f"part-{index}" for index in range(count)}
    assert client.calls == calls


def test_an_artifact_is_described_by_what_github_says_of_it(run: Run, client: GitHubClient) -> None:
    """Every field of the value comes from the listing; none of them names an attempt."""
    stored = run.add_artifact("evidence", b"zip", id=77, created_at="2026-11-29T08:38:00Z")
    (found,) = list_artifacts(client, 4242).artifacts
    assert found == get_artifact(client, 77)
    assert found._asdict() == {
        "id": 77,
        "name": "evidence",
        "size": 3,
        "expired": False,
        "created_at": "2026-11-29T08:38:00Z",
        "digest": stored.digest,
        "run_id": 4242,
        "repository_id": run.repository.id,
        "head_repository_id": run.repository.id,
        "head_branch": "fix/it",
        "head_sha": "d" * 40,
    }


def test_newest_is_by_time_and_never_by_id(run: Run, client: GitHubClient) -> None:
    """The artifact that was created later comes first, although its id is lower."""
    run.add_artifact("evidence", b"1", id=10_338_854_604, created_at="2026-11-29T08:38:00Z")
    run.add_artifact("evidence", b"2", id=10_338_734_845, created_at="2026-11-29T08:49:00Z")
    assert [artifact.id for artifact in list_artifacts(client, 4242).artifacts] == [10_338_734_845, 10_338_854_604]


def test_a_time_is_read_to_the_second(run: Run, client: GitHubClient) -> None:
    """A server may write fractions; of two uploads in one second none is the newer."""
    run.add_artifact("evidence", b"1", created_at="2026-11-29T08:38:00.123456Z")
    run.attempts = ["2026-11-29T08:30:00.5Z"]
    assert list_artifacts(client, 4242).artifacts[0].created_at == "2026-11-29T08:38:00Z"
    assert get_attempt(client, 4242, 1).started_at == "2026-11-29T08:30:00Z"


@pytest.mark.parametrize(
    "name",
    ["", "evidence\n", "\x1b[2J", "evid\u2028ence", "e" * 1001],
    ids=["none", "a line end", "a control character", "a Unicode line end", "too long"],
)
def test_a_name_that_no_input_can_be_is_left_out(name: str, run: Run, client: GitHubClient) -> None:
    """Any job of the run may have uploaded it; asked for by its id it is an error."""
    run.add_artifact("evidence", b"zip")
    run.add_artifact(name, b"zip", id=77)
    listing = list_artifacts(client, 4242)
    assert [artifact.name for artifact in listing.artifacts] == ["evidence"]
    assert [artifact.name for artifact in listing.unreadable] == [name]
    assert client.calls == 1
    with pytest.raises(ApiError, match="name: must"):
        get_artifact(client, 77)


def test_an_old_uploader_publishes_no_digest(run: Run, client: GitHubClient) -> None:
    """A digest of null is "not said"."""
    run.add_artifact("evidence", b"zip", digest=None)
    assert list_artifacts(client, 4242).artifacts[0].digest is None


def test_an_expired_artifact_is_known_by_its_field(run: Run, client: GitHubClient) -> None:
    """It is still listed, and marked."""
    run.add_artifact("evidence", b"zip", expired=True)
    assert list_artifacts(client, 4242).artifacts[0].expired


def test_an_empty_listing_is_asked_again(run: Run, client: GitHubClient, pretended: Pretended) -> None:
    """What was uploaded a moment ago appears at the second look."""
    run.add_artifact("evidence", b"zip", listed_after=1)
    assert len(list_artifacts(client, 4242).artifacts) == 1
    assert (client.calls, pretended.slept) == (2, [LISTING_RETRY_DELAYS[0]])


def test_an_incomplete_listing_is_repeated(run: Run, client: GitHubClient) -> None:
    """One side is there, the other not yet: the caller says what is enough."""
    run.add_artifact("first", b"zip")
    run.add_artifact("rerun", b"zip", listed_after=2)
    listing = list_artifacts(
        client, 4242, is_complete=lambda listed: {"first", "rerun"} <= {artifact.name for artifact in listed}
    )
    assert len(listing.artifacts) == 2
    assert client.calls == 3


def test_a_listing_with_fewer_than_its_count_is_repeated(run: Run, client: GitHubClient, github: Standin) -> None:
    """A page that is short is no reason to say that something is missing."""
    run.add_artifact("evidence", b"zip")
    github.fault(Fault("status", status=200, times=1, payload={"total_count": 1, "artifacts": []}))
    assert len(list_artifacts(client, 4242, is_complete=lambda _artifacts: True).artifacts) == 1


def test_a_listing_that_stays_short_says_by_how_many(run: Run, client: GitHubClient, github: Standin) -> None:
    """After the last repetition, what GitHub counts beyond what it lists is a number."""
    entry = github.rest.shapes.artifact(run.add_artifact("evidence", b"zip"))
    github.fault(Fault("status", status=200, payload={"total_count": 3, "artifacts": [entry]}))
    listing = list_artifacts(client, 4242)
    assert (len(listing.artifacts), listing.unlisted) == (1, 2)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"name": None}, UnreadableArtifact(None, "name: must be a name")),
        ({"size_in_bytes": "3"}, UnreadableArtifact("broken", "size_in_bytes: must be a whole number of at least 0")),
        ({"expired": "no"}, UnreadableArtifact("broken", "expired: must be true or false")),
    ],
)
def test_one_description_that_cannot_be_read_hides_no_other(
    run: Run, client: GitHubClient, github: Standin, change: dict[str, object], expected: UnreadableArtifact
) -> None:
    """It is listed apart, with its name where it has one."""
    entries = [github.rest.shapes.artifact(run.add_artifact(name, b"zip")) for name in ("broken", "evidence")]
    entries[0] |= change
    github.fault(Fault("status", status=200, payload={"total_count": 2, "artifacts": entries}))
    listing = list_artifacts(client, 4242)
    assert [artifact.name for artifact in listing.artifacts] == ["evidence"]
    assert listing.unreadable == (expected,)
    assert listing.unlisted == 0


def test_an_artifact_that_comes_on_two_pages_counts_once(run: Run, client: GitHubClient, github: Standin) -> None:
    """An upload between two pages moves an entry to the next one."""
    entry = github.rest.shapes.artifact(run.add_artifact("evidence", b"zip"))
    following = {"Link": f'<{client.root}actions/runs/4242/artifacts?page=2>; rel="next"'}
    page = {"total_count": 1, "artifacts": [entry]}
    github.fault(Fault("status", status=200, times=1, payload=page, headers=following))
    assert len(list_artifacts(client, 4242).artifacts) == 1
    assert client.calls == 2


def test_asking_again_ends(run: Run, client: GitHubClient, pretended: Pretended) -> None:
    """Nothing was uploaded: after some fourteen seconds the empty listing is the answer."""
    assert list_artifacts(client, 4242) == Listing()
    assert pretended.slept == list(LISTING_RETRY_DELAYS)


def test_no_such_run_is_an_error(client: GitHubClient) -> None:
    """A run that is not there, or that the token cannot see, is no empty listing."""
    with pytest.raises(ApiError, match="HTTP 404"):
        list_artifacts(client, 1)


def test_an_id_that_leads_nowhere_is_a_finding(client: GitHubClient, github: Standin) -> None:
    """An artifact asked for by id is missing or expired; neither ends the run."""
    missing = get_artifact(client, 5)
    github.fault(Fault("status", status=410))
    gone = get_artifact(client, 5)
    assert isinstance(missing, CheckFailure)
    assert isinstance(gone, CheckFailure)
    assert (missing.check, gone.check) == ("artifact-missing", "artifact-expired")


def test_a_run_says_how_many_attempts_it_has_and_when_each_began(run: Run, client: GitHubClient) -> None:
    """The run is described as its newest attempt; each attempt can be asked for."""
    newest, first = get_run(client, 4242), get_attempt(client, 4242, 1)
    assert (newest.attempt, newest.started_at) == (2, "2026-11-29T08:45:00Z")
    assert (first.attempt, first.started_at) == (1, "2026-11-29T08:30:00Z")
    assert (newest.head_sha, newest.head_branch, newest.event) == ("d" * 40, "fix/it", "pull_request")
    with pytest.raises(ApiError, match="HTTP 404"):
        get_attempt(client, 4242, 3)
