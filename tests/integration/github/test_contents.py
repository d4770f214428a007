"""The policy file over the API: found, absent, or not readable, which must not be mistaken for absent."""

import pytest

from freeze_gate.errors import UsageError
from freeze_gate.github.client import GitHubClient
from freeze_gate.github.contents import read_file
from freeze_gate.github.session import Token
from tests.standin import Fault, Grant, Pretended, Standin
from tests.standin.serializers import blob_sha
from tests.standin.state import Repository

PATH = ".github/freeze-gate.yml"
TEXT = "schema: freeze-gate/policy/1\n# für alle\n".encode() * 40


@pytest.fixture
def repository(github: Standin) -> Repository:
    """Return the repository."""
    return github.repository()


def test_a_file_is_read_byte_for_byte_in_one_call(repository: Repository, client: GitHubClient) -> None:
    """The bytes come as they are, with the id that git gives them."""
    repository.add_file(PATH, TEXT)
    found = read_file(client, PATH)
    assert (found.state, found.payload, found.sha, found.problem) == ("found", TEXT, blob_sha(TEXT), None)
    assert client.calls == 1


def test_the_default_branch_counts(repository: Repository, client: GitHubClient) -> None:
    """A policy on another branch, the patch's own or its base, is not read."""
    repository.default_branch = "trunk"
    repository.add_file("README.md", b"trunk")
    repository.add_file(PATH, TEXT, branch="main")
    assert read_file(client, PATH).state == "absent"
    repository.add_file(PATH, b"trunk's own")
    assert read_file(client, PATH).payload == b"trunk's own"


def test_absent_is_said_only_where_the_root_can_be_listed(repository: Repository, client: GitHubClient) -> None:
    """404 twice would be a token that cannot read; here the root answers, so there is no policy."""
    assert repository.files
    assert read_file(client, PATH).state == "absent"
    assert client.calls == 2


def test_a_token_that_cannot_read_is_not_an_absent_policy(github: Standin, pretended: Pretended) -> None:
    """The file is there, the token does not see it: not readable, with the permission that is missing."""
    github.repository().add_file(PATH, TEXT)
    token = github.grant("ghs_blind", Grant(contents="none"))
    with GitHubClient(github.url, "octo-org/widgets", Token(token), clock=pretended.clock) as client:
        found = read_file(client, PATH)
    assert found.state == "unreadable"
    assert "`contents: read`" in (found.problem or "")


def test_an_empty_repository_is_not_readable(repository: Repository, client: GitHubClient) -> None:
    """Not even the root can be listed, so nothing is known."""
    repository.files.clear()
    assert read_file(client, PATH).state == "unreadable"


@pytest.mark.parametrize("status", [401, 403, 500, 502])
@pytest.mark.parametrize("first", [1, 2])
def test_trouble_at_either_call_is_not_an_absent_policy(
    first: int, status: int, github: Standin, client: GitHubClient
) -> None:
    """Whether the file or the root cannot be asked for: not readable, with the status."""
    github.fault(Fault("status", pattern="contents", first=first, status=status))
    found = read_file(client, PATH)
    assert found.state == "unreadable"
    assert f"HTTP {status}" in (found.problem or "")


@pytest.mark.parametrize(
    "payload",
    [
        [],
        {"type": "dir", "sha": "0" * 40},
        {"type": "symlink", "sha": "0" * 40, "target": "x"},
        {"type": "file", "sha": "0" * 40, "encoding": "none", "content": ""},
        {"type": "file", "sha": "0" * 40, "encoding": "base64", "content": "%%%"},
        {"type": "file", "sha": "0" * 40, "encoding": "base64", "content": "ünicode"},
        {"type": "file", "sha": "main", "encoding": "base64", "content": ""},
    ],
    ids=range(7),
)
def test_anything_but_a_file_is_not_readable(payload: object, github: Standin, client: GitHubClient) -> None:
    """A folder, a link, a file that is too large, content that is no base64."""
    github.fault(Fault("status", status=200, payload=payload))
    assert read_file(client, PATH).state == "unreadable"


def test_a_folder_of_that_name_is_not_readable(repository: Repository, client: GitHubClient) -> None:
    """The path leads to a folder."""
    repository.add_file(f"{PATH}/x", TEXT)
    assert read_file(client, PATH).state == "unreadable"


def test_a_file_of_more_than_a_megabyte_is_not_readable(repository: Repository, client: GitHubClient) -> None:
    """GitHub sends no content of such a file."""
    repository.add_file(PATH, bytes(1_100_000))
    assert read_file(client, PATH).state == "unreadable"


def test_a_path_with_odd_characters_is_quoted(repository: Repository, client: GitHubClient) -> None:
    """A question mark in a name does not end the path."""
    repository.add_file("a b/c?d#e%41.yml", TEXT)
    assert read_file(client, "a b/c?d#e%41.yml").payload == TEXT


@pytest.mark.parametrize("path", ["", "/x", "x/", "a//b", "../x", "a/../b", "./x", "a/."])
def test_a_path_that_could_lead_elsewhere_is_refused(path: str, client: GitHubClient) -> None:
    """It would change which call is made."""
    with pytest.raises(UsageError, match="policy: must be a path below the repository's root"):
        read_file(client, path)
    assert client.calls == 0
