"""What an answer of 400 or above means, and what the sentence tells a person to do."""

import pytest

from freeze_gate.github.errors import (
    AlreadyExists,
    ApiError,
    Forbidden,
    Gone,
    NotFound,
    Operation,
    RateLimited,
    RequestRefused,
    ServerError,
    Unauthorized,
    error_from_response,
)

OPERATION = Operation("adding the label", "issues: write")
NOW = 1_796_000_000.0
DATE = "Mon, 30 Nov 2026 00:51:20 GMT"  # two minutes before


@pytest.mark.parametrize(
    ("status", "error_class"),
    [
        (400, RequestRefused),
        (401, Unauthorized),
        (403, Forbidden),
        (404, NotFound),
        (408, ServerError),
        (409, RequestRefused),
        (410, Gone),
        (422, RequestRefused),
        (429, RateLimited),
        (451, RequestRefused),
        (500, ServerError),
        (502, ServerError),
        (503, ServerError),
        (599, ServerError),
    ],
)
def test_each_status_has_its_kind(status: int, error_class: type[ApiError]) -> None:
    """The kind follows from the status, and the sentence names both the purpose and the status."""
    error = error_from_response(OPERATION, status, {}, None, NOW)
    assert (type(error), error.exit_code) == (error_class, 3)
    assert "adding the label" in str(error)
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
        ({}, {"message": "You have triggered an abuse detection mechanism. Please wait a few minutes."}, 60),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1796000006", "date": DATE}, None, 126),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1796000006", "date": "yesterday"}, None, 6),
    ],
)
def test_a_403_can_be_a_limit(headers: dict[str, str], payload: object, wait: float) -> None:
    """A limit is known by its headers or its message, and says how long to wait: `Retry-After`, the reset, a minute."""
    error = error_from_response(OPERATION, 403, headers, payload, NOW)
    assert (type(error), error.retry_after) == (RateLimited, wait)
    assert "`wait-seconds`" in str(error)


@pytest.mark.parametrize(
    "payload",
    [None, [], "rate limit", {"message": None}, {"message": 7}, {"message": "Resource not accessible by integration"}],
)
def test_any_other_403_is_a_missing_permission(payload: object) -> None:
    """Quota left and no word of a limit: waiting would not help, so nothing is said about it."""
    error = error_from_response(OPERATION, 403, {"x-ratelimit-remaining": "998"}, payload, NOW)
    assert (type(error), error.retry_after) == (Forbidden, None)
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
    error = error_from_response(OPERATION, 403, {"x-accepted-github-permissions": header}, None, NOW)
    assert (words or "`issues: write`") in str(error)
    assert "::" not in str(error)


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (
            {"errors": [{"resource": "Label", "field": "name", "code": "custom", "message": "name is odd"}]},
            '(HTTP 422, "Label name: name is odd")',
        ),
        ({"errors": [{"resource": "Label", "field": "name", "code": "invalid"}]}, '(HTTP 422, "Label name invalid")'),
        ({"errors": [{"resource": ["x"], "field": "name", "code": 7}]}, '(HTTP 422, "name")'),
        ({"errors": ["one", ["x"], None, "two"]}, '(HTTP 422, "one, two")'),
        ({"message": "Validation Failed", "errors": "many"}, '(HTTP 422, "Validation Failed")'),
        ({"message": 'a "b"\n::error::\u202ec'}, """(HTTP 422, "a 'b' ::error:: c")"""),
        ({"message": "x" * 500}, f'(HTTP 422, "{"x" * 199}…")'),
        ({"message": "Unprocessable Entity"}, "(HTTP 422)"),
        ({"message": " \n"}, "(HTTP 422)"),
        ({"message": 7, "errors": {}}, "(HTTP 422)"),
        ("odd", "(HTTP 422)"),
    ],
)
def test_github_s_own_words_are_quoted_on_one_line_of_limited_length(payload: object, words: str) -> None:
    """The fields that GitHub refused, or else its message; nothing in it ends the quotation or the line."""
    message = str(error_from_response(OPERATION, 422, {}, payload, NOW))
    assert words in message
    assert message.isprintable()


def test_a_thing_that_somebody_else_made_first_is_told_apart() -> None:
    """Among several problems, too; the same word in another answer means nothing."""
    payload = {"errors": ["odd", {"resource": "Label", "field": "name", "code": "already_exists"}]}
    assert type(error_from_response(OPERATION, 422, {}, payload, NOW)) is AlreadyExists
    assert type(error_from_response(OPERATION, 409, {}, payload, NOW)) is RequestRefused
