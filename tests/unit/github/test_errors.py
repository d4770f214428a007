"""What an answer of 400 or above means, and what the sentence tells a person to do."""

import pytest

from freeze_gate.github.errors import Purpose, refusal

PURPOSE = Purpose("add the label", "issues: write")
NOW = 1_796_000_000.0


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "refused"),
        (401, "credentials"),
        (403, "permission"),
        (404, "not-found"),
        (408, "server"),
        (409, "refused"),
        (410, "gone"),
        (422, "refused"),
        (429, "limit"),
        (451, "refused"),
        (500, "server"),
        (502, "server"),
        (503, "server"),
        (599, "server"),
    ],
)
def test_each_status_has_its_kind(status: int, kind: str) -> None:
    """The kind follows from the status, and the sentence names both the purpose and the status."""
    error = refusal(PURPOSE, status, {}, None, NOW)
    assert (error.kind, error.status, error.exit_code) == (kind, status, 3)
    assert "add the label" in str(error)
    assert f"HTTP {status}" in str(error)


@pytest.mark.parametrize(
    ("headers", "payload", "wait"),
    [
        ({"retry-after": "7"}, None, 7),
        ({"retry-after": "7", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1796000900"}, None, 7),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1796000900"}, None, 900),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1795000000"}, None, 1),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, None, 60),
        ({"x-ratelimit-remaining": "0"}, None, 60),
        ({}, {"message": "You have exceeded a secondary rate limit."}, 60),
    ],
)
def test_a_403_can_be_a_limit(headers: dict[str, str], payload: object, wait: float) -> None:
    """A limit is known by its headers or its message, and says how long to wait: `Retry-After`, the reset, a minute."""
    error = refusal(PURPOSE, 403, headers, payload, NOW)
    assert (error.kind, error.wait) == ("limit", wait)
    assert "`wait-seconds`" in str(error)


@pytest.mark.parametrize(
    "payload",
    [None, [], "rate limit", {"message": None}, {"message": 7}, {"message": "Resource not accessible by integration"}],
)
def test_any_other_403_is_a_missing_permission(payload: object) -> None:
    """Quota left and no word of a limit: waiting would not help, so nothing is said about it."""
    error = refusal(PURPOSE, 403, {"x-ratelimit-remaining": "998"}, payload, NOW)
    assert (error.kind, error.wait) == ("permission", None)
    assert "`issues: write`" in str(error)
    assert "`workflow_run` recipe" in str(error)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("issues=write; pull_requests=write", "`issues: write` or `pull-requests: write`"),
        ("contents=read,actions=read", "`contents: read` and `actions: read`"),
        ("issues=write\n::error::x", None),
        ("<img src=x>", None),
        ("", None),
    ],
)
def test_the_accepted_permissions_are_read_as_lines_of_a_workflow(header: str, words: str | None) -> None:
    """What GitHub says would do is repeated in the workflow's own words; a header of another form is not repeated."""
    error = refusal(PURPOSE, 403, {"x-accepted-github-permissions": header}, None, NOW)
    assert error.accepted == words
    assert (words or "`issues: write`") in str(error)
    assert "::" not in str(error)


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({"errors": [{"resource": "Label", "field": "name", "code": "custom"}]}, "HTTP 422, Label name custom)"),
        ({"errors": [{"resource": "::error::", "field": "name", "code": 7}]}, "HTTP 422, name)"),
        ({"errors": "many"}, "HTTP 422)"),
        ({"errors": [["x"], None]}, "HTTP 422)"),
        ("odd", "HTTP 422)"),
    ],
)
def test_a_422_names_plain_words_only(payload: object, words: str) -> None:
    """The field that GitHub refused is named; free text of the answer is not repeated."""
    assert words in str(refusal(PURPOSE, 422, {}, payload, NOW))
