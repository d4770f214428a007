"""What the client refuses before it asks anybody."""

import pytest

from freeze_gate.errors import UsageError
from freeze_gate.github.client import GitHubClient, parse_payload
from freeze_gate.github.errors import ApiError, Operation, UnexpectedResponse
from freeze_gate.github.session import Token
from freeze_gate.validation.readers import integer

SECRET = "ghs_0123456789"


@pytest.mark.parametrize(
    "base",
    [
        "",
        "api.github.com",
        "ftp://api.github.com",
        "https://",
        "https://user:secret@api.github.com",
        "https://api.github.com?x=1",
        "https://api.github.com#x",
        "https://[::1",
        "https://api.github.com:port",
        "https://api.github .com",
    ],
)
def test_what_cannot_be_the_address_of_the_api_is_refused(base: str) -> None:
    """The address comes from the environment; a wrong one ends the run with a sentence that names the variable."""
    with pytest.raises(UsageError, match="GITHUB_API_URL: must be the address"):
        GitHubClient(base, "octo-org/widgets", Token(SECRET))


@pytest.mark.parametrize(
    "repository", ["", "widgets", "a/b/c", "../widgets", "octo-org/..", "octo org/widgets", "a/b?"]
)
def test_what_cannot_be_a_repository_is_refused(repository: str) -> None:
    """The repository becomes part of every path."""
    with pytest.raises(UsageError, match="GITHUB_REPOSITORY: must be owner/name"):
        GitHubClient("https://api.github.com", repository, Token(SECRET))


def test_a_path_in_front_of_the_api_is_kept() -> None:
    """An enterprise server has its API below a path; a slash at its end changes nothing."""
    with GitHubClient("https://github.example.com/api/v3/", "octo-org/widgets", Token(SECRET)) as client:
        assert client.root == "https://github.example.com/api/v3/repos/octo-org/widgets/"


def test_a_bundle_of_certificates_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong path is a wrong input: the variable is named, and nothing is tried again."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/bundle.pem")
    with (
        GitHubClient("https://127.0.0.1:9", "octo-org/widgets", Token(SECRET)) as client,
        pytest.raises(UsageError, match="REQUESTS_CA_BUNDLE: must be a file"),
    ):
        client.get("issues", Operation("listing the issues", "issues: read"))
    assert client.calls == 1


def test_an_answer_of_another_shape_is_an_error_that_quotes_nothing() -> None:
    """What is wrong is named by its address, the value stays unsaid."""
    with pytest.raises(
        ApiError, match="not have the documented shape while counting: must be a whole number"
    ) as caught:
        parse_payload(integer(1), "::error::x", Operation("counting", "actions: read"))
    assert type(caught.value) is UnexpectedResponse
    assert "::" not in str(caught.value)
