"""The client against a real server: the token, retries, limits, redirects, and answers that are not to be trusted."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from freeze_gate.github.artifacts import get_artifact, get_attempt, get_run, list_artifacts
from freeze_gate.github.client import MAX_ATTEMPTS, MAX_RESPONSE_BYTES, MUTATION_PAUSE, RESPONSE_TIMEOUT, GitHubClient
from freeze_gate.github.contents import read_file
from freeze_gate.github.errors import (
    ApiError,
    ConnectionFailed,
    Forbidden,
    NotFound,
    Operation,
    RateLimited,
    RequestRefused,
    ResourceShort,
    ServerError,
    ServerUnusable,
    Unauthorized,
    UnexpectedResponse,
)
from freeze_gate.github.issues import create_issue, get_issue, list_issues_with_label, list_newest_issues, update_body
from freeze_gate.github.labels import add_label
from freeze_gate.github.pulls import get_pull, list_open_pulls_of_branch, list_pulls_of_commit
from freeze_gate.github.session import Token
from tests.standin import Fault, Grant, Pretended, Standin
from tests.standin.rate_limit import ABUSE_DETECTION
from tests.support.exact_server import Answer, ExactServer
from tests.support.resource_limits import no_more_descriptors

REPOSITORY = "octo-org/widgets"
ROOT = Operation("reading the repository", "contents: read")
CALLS: dict[str, Callable[[GitHubClient], object]] = {
    "list_artifacts": lambda client: list_artifacts(client, 4242),
    "get_artifact": lambda client: get_artifact(client, 1),
    "get_run": lambda client: get_run(client, 4242),
    "get_attempt": lambda client: get_attempt(client, 4242, 1),
    "get_pull": lambda client: get_pull(client, 7),
    "list_open_pulls_of_branch": lambda client: list_open_pulls_of_branch(client, "octo-org", "patch"),
    "list_pulls_of_commit": lambda client: list_pulls_of_commit(client, "c" * 40),
    "list_issues_with_label": lambda client: list_issues_with_label(client, "fixture-refresh"),
    "list_newest_issues": list_newest_issues,
    "get_issue": lambda client: get_issue(client, 7),
    "create_issue": lambda client: create_issue(client, "title", "body", "fixture-refresh"),
    "update_body": lambda client: update_body(client, 7, "body"),
    "add_label": lambda client: add_label(client, 7, "freeze-request"),
}


@pytest.fixture(autouse=True)
def _repository_contents(github: Standin) -> None:
    repository = github.repository(REPOSITORY)
    repository.add_run(4242).add_artifact("first", b"zip", id=1)
    repository.add_pull(number=7)


@pytest.mark.parametrize("name", CALLS)
def test_every_call_says_who_asks_and_which_version_it_speaks(name: str, github: Standin, client: GitHubClient) -> None:
    """Token, user agent, media type and API version stand on every request, and the call succeeds."""
    CALLS[name](client)
    assert github.log
    for request in github.log:
        assert request.headers["authorization"] == f"Bearer {github.token}"
        assert request.headers["user-agent"].startswith("freeze-gate/")
        assert request.headers["accept"] == "application/vnd.github+json"
        assert request.headers["x-github-api-version"] == "2022-11-28"
    assert client.calls == len(github.log)
    assert client.remaining == github.limit.remaining


PERMANENT_FAILURES = [
    ("refuse", 500, ConnectionFailed, MAX_ATTEMPTS),
    ("reset", 500, ConnectionFailed, MAX_ATTEMPTS),
    ("cut", 500, ConnectionFailed, MAX_ATTEMPTS),
    ("status", 401, Unauthorized, 1),
    ("status", 403, Forbidden, 1),
    ("status", 404, NotFound, 1),
    ("status", 422, RequestRefused, 1),
    ("status", 500, ServerError, MAX_ATTEMPTS),
    ("status", 502, ServerError, MAX_ATTEMPTS),
]


@pytest.mark.parametrize(("kind", "status", "error", "tries"), PERMANENT_FAILURES)
@pytest.mark.parametrize("name", [name for name in CALLS if name != "get_artifact"])
def test_trouble_for_ever_ends_in_one_error(  # noqa: PLR0917 - the facts of a row
    name: str, kind: str, status: int, error: type[ApiError], tries: int, github: Standin, client: GitHubClient
) -> None:
    """Each kind of trouble ends in one error of its kind, after a bounded number of tries; a refusal is final."""
    github.fault(Fault(kind, status=status))
    with pytest.raises(ApiError) as caught:
        CALLS[name](client)
    assert type(caught.value) is error
    assert caught.value.exit_code == 3
    assert caught.value.__cause__ is None
    assert github.token not in str(caught.value)
    # a change whose answer may be lost is the caller's to repeat
    assert client.calls == (1 if name == "create_issue" else tries)


@pytest.mark.parametrize("kind", ["reset", "cut", "lost", "status"])
@pytest.mark.parametrize("name", [name for name in CALLS if name != "create_issue"])
def test_trouble_that_passes_is_waited_for(
    name: str, kind: str, github: Standin, client: GitHubClient, pretended: Pretended
) -> None:
    """Two failures, then an answer: the call succeeds, after waits that double."""
    github.fault(Fault(kind, status=502, times=2))
    CALLS[name](client)
    assert client.calls == 3
    assert pretended.slept[:2] == [1, 2]


def test_nothing_is_asked_again_once_the_budget_is_used_up(github: Standin, pretended: Pretended) -> None:
    """With two seconds to lose there is one second try; the third would have to wait too long."""
    github.fault(Fault("status", status=502))
    with (
        GitHubClient(github.url, REPOSITORY, Token(github.token), wait_seconds=2, clock=pretended.clock) as client,
        pytest.raises(ApiError),
    ):
        list_newest_issues(client)
    assert client.calls == 2
    assert pretended.slept == [1]


def test_retry_after_is_honoured(github: Standin, client: GitHubClient, pretended: Pretended) -> None:
    """The secondary limit says when to come back, and the client comes back then."""
    github.limit.strike(retry_after=17, times=2)
    list_newest_issues(client)
    assert pretended.slept == [17, 17]


@pytest.mark.parametrize("status", [403, 429])
def test_a_secondary_limit_without_a_time_is_given_a_minute(
    status: int, github: Standin, client: GitHubClient, pretended: Pretended
) -> None:
    """GitHub documents a minute as the least to wait where it names no time."""
    github.limit.strike(retry_after=None, status=status)
    list_newest_issues(client)
    assert pretended.slept == [60]


def test_the_primary_limit_is_waited_for_until_its_reset(
    github: Standin, client: GitHubClient, pretended: Pretended
) -> None:
    """The reset is a time of day; when it has come, the call succeeds."""
    github.limit.exhaust(45)
    list_newest_issues(client)
    assert sum(pretended.slept) == pytest.approx(45, abs=1)


def test_a_limit_ends_by_the_clock_of_github(github: Standin, pretended: Pretended) -> None:
    """The runner's clock is two minutes ahead and says that the hour is over: the `Date` of the response counts."""
    github.limit.exhaust(6)
    ahead = pretended.clock._replace(epoch=lambda: pretended.read() + 120)
    with GitHubClient(github.url, REPOSITORY, Token(github.token), clock=ahead) as client:
        list_newest_issues(client)
    assert (client.calls, pretended.slept) == (2, [6])


def test_abuse_detection_is_a_limit_without_a_time(github: Standin, client: GitHubClient, pretended: Pretended) -> None:
    """GitHub's older words for the secondary limit: a minute is waited, then the label is set."""
    github.limit.strike(retry_after=None, words=ABUSE_DETECTION)
    add_label(client, 7, "freeze-request")
    assert pretended.slept[0] == 60
    assert client.calls == 2


def test_a_limit_beyond_the_budget_is_said_at_once(github: Standin, client: GitHubClient, pretended: Pretended) -> None:
    """Nobody sits through an hour: the error says which input to raise, and nothing was waited for."""
    github.limit.exhaust(3000)
    with pytest.raises(ApiError, match=r"rate limit .* `wait-seconds`") as caught:
        list_newest_issues(client)
    assert type(caught.value) is RateLimited
    assert (client.calls, pretended.slept) == (1, [])


def test_a_rate_limited_creation_is_sent_again(github: Standin, client: GitHubClient) -> None:
    """A refused creation has surely not taken place."""
    github.limit.strike(retry_after=5)
    assert create_issue(client, "title", "body", "fixture-refresh").open


def test_a_missing_permission_is_told_apart_from_a_limit(github: Standin, pretended: Pretended) -> None:
    """A 403 without quota trouble is not waited for; the sentence names the permission and the fork recipe."""
    token = github.grant("ghs_reader", Grant(issues="read", pull_requests="read"))
    with (
        GitHubClient(github.url, REPOSITORY, Token(token), clock=pretended.clock) as client,
        pytest.raises(ApiError, match=r"`issues: write` or `pull-requests: write`.*`workflow_run` recipe") as caught,
    ):
        add_label(client, 7, "freeze-request")
    assert type(caught.value) is Forbidden
    assert (client.calls, pretended.slept) == (1, [])


def test_an_archived_repository_is_said_in_the_words_of_github(
    github: Standin, client: GitHubClient, pretended: Pretended
) -> None:
    """A 403 has several causes, so GitHub's own words come first, and the usual causes after them."""
    github.repository(REPOSITORY).archived = True
    with pytest.raises(ApiError) as caught:
        add_label(client, 7, "freeze-request")
    assert type(caught.value) is Forbidden
    assert '(HTTP 403, "Repository was archived so is read-only.")' in str(caught.value)
    assert "`issues: write` or `pull-requests: write`" in str(caught.value)
    assert (client.calls, pretended.slept) == (1, [])


def test_what_the_token_cannot_see_is_not_found(github: Standin) -> None:
    """A private repository does not say 403: the sentence names both causes."""
    token = github.grant("ghs_blind", Grant(actions="none"))
    with (
        GitHubClient(github.url, REPOSITORY, Token(token)) as client,
        pytest.raises(ApiError, match=r"does not exist, or the token cannot see it.*`actions: read`") as caught,
    ):
        list_artifacts(client, 4242)
    assert type(caught.value) is NotFound


def test_netrc_neither_replaces_the_token_nor_adds_one(
    github: Standin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `.netrc` in a `HOME` that other steps share names both hosts; the API still sees the token."""
    netrc = tmp_path / ".netrc"
    netrc.write_text(
        "machine 127.0.0.1 login mallory password s3cret\nmachine localhost login mallory password s3cret\n"
    )
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))
    with GitHubClient(github.url, REPOSITORY, Token(github.token)) as client:
        list_newest_issues(client)
    assert [request.headers["authorization"] for request in github.log] == [f"Bearer {github.token}"]


def test_a_proxy_of_the_environment_is_used(github: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    """`HTTP_PROXY` leads to the stand-in, which then is asked for a host that does not exist."""
    monkeypatch.setenv("HTTP_PROXY", github.server_url)
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("no_proxy", "")
    with GitHubClient("http://github.invalid", REPOSITORY, Token(github.token)) as client:
        list_newest_issues(client)
    assert [request.headers["host"] for request in github.log] == ["github.invalid"]


def test_an_enterprise_server_is_reached_below_its_path(pretended: Pretended) -> None:
    """The API's address may have a path, and the links of its listings keep it."""
    with Standin(prefix="/api/v3") as github:
        run = github.repository(REPOSITORY).add_run(4242)
        for index in range(131):
            run.add_artifact(f"part-{index}", b"zip")
        with GitHubClient(github.url, REPOSITORY, Token(github.token), clock=pretended.clock) as client:
            assert len(list_artifacts(client, 4242).artifacts) == 131
    assert {request.path for request in github.log} == {f"/api/v3/repos/{REPOSITORY}/actions/runs/4242/artifacts"}


def test_connections_are_used_again(github: Standin, client: GitHubClient) -> None:
    """Ten calls, one connection."""
    for _ in range(10):
        list_newest_issues(client)
    assert len({request.peer for request in github.log}) == 1


def test_several_threads_may_ask_at_once(github: Standin, client: GitHubClient) -> None:
    """Eight threads share one client: all are answered, every call is counted."""
    threads = [threading.Thread(target=lambda: [list_newest_issues(client) for _ in range(5)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.calls == len(github.log) == 40


def test_a_redirect_inside_the_api_is_followed(github: Standin, client: GitHubClient) -> None:
    """A renamed repository answers 301; the token may go there."""
    target = f"{github.url}/repos/{REPOSITORY}/pulls/7"
    github.fault(Fault("status", pattern="pulls/8", status=301, headers={"Location": target}))
    assert get_pull(client, 8).number == 7


@pytest.mark.parametrize("location", ["http://localhost:{port}/x", "https://127.0.0.1:{api}/x", "//[", "", "ftp://x/y"])
def test_a_redirect_out_of_the_api_is_refused(location: str, github: Standin, client: GitHubClient) -> None:
    """The token goes to no other host, port or scheme, whatever the API says."""
    port, own = github.storage.address.rpartition(":")[2], github.url.rpartition(":")[2]
    location = location.format(port=port, api=own)
    github.fault(Fault("status", pattern="pulls/8", status=302, headers={"Location": location}))
    with pytest.raises(ApiError, match="leads to another server"):
        get_pull(client, 8)
    assert github.asked("blob") == []


@pytest.mark.parametrize("name", [name for name in CALLS if name != "get_artifact"])
def test_a_repository_that_was_renamed_is_reached_by_its_old_name(
    name: str, github: Standin, client: GitHubClient
) -> None:
    """Every call is answered as before: GitHub redirects it, and query, method and body are kept."""
    plain = request_of(name, github, client)
    github.rename(REPOSITORY, "octo-org/gadgets")
    assert request_of(name, github, client) == plain
    assert len(github.log) == 3


def request_of(name: str, github: Standin, client: GitHubClient) -> tuple[str, dict[str, str], bytes, str]:
    """Make the call, and return what its last request was, but for the path."""
    CALLS[name](client)
    request = github.log[-1]
    return request.method, request.query, request.body, request.headers["authorization"]


def test_the_artifacts_of_a_renamed_repository_are_found(github: Standin, client: GitHubClient) -> None:
    """First the redirect of the repository, then that to the storage, which is not followed with the token."""
    github.rename(REPOSITORY, "octo-org/gadgets")
    assert client.get_redirect("actions/artifacts/1/zip", ROOT).startswith(github.storage.address)


@pytest.mark.parametrize("location", ["http://localhost:{port}/x", "https://127.0.0.1:{api}/x"])
def test_a_change_is_not_sent_to_another_server(location: str, github: Standin, client: GitHubClient) -> None:
    """Neither token nor body leave the API."""
    port, own = github.storage.address.rpartition(":")[2], github.url.rpartition(":")[2]
    headers = {"Location": location.format(port=port, api=own)}
    github.fault(Fault("status", method="POST", status=307, headers=headers))
    with pytest.raises(ApiError, match="leads to another server"):
        add_label(client, 7, "freeze-request")
    assert github.asked("blob") == []
    assert client.calls == 1


@pytest.mark.parametrize("name", ["add_label", "create_issue"])
def test_a_label_that_somebody_else_makes_at_the_same_moment_is_set(
    name: str, github: Standin, client: GitHubClient
) -> None:
    """GitHub says `already_exists` of the label that it was about to make: the change is sent once more."""
    github.repository(REPOSITORY).label_races = 1
    CALLS[name](client)
    assert client.calls == 2
    assert [issue.labels for issue in github.repository(REPOSITORY).issues.values() if issue.labels]


def test_what_is_always_said_to_exist_already_is_said(github: Standin, client: GitHubClient) -> None:
    """Once more, and no more: the second refusal is the error."""
    payload = {"errors": [{"resource": "Label", "field": "name", "code": "already_exists"}]}
    github.fault(Fault("status", method="POST", status=422, payload=payload))
    with pytest.raises(ApiError, match="Label name already_exists"):
        add_label(client, 7, "freeze-request")
    assert client.calls == 2


def test_a_circle_of_redirects_ends(github: Standin, client: GitHubClient) -> None:
    """Four redirects are too many."""
    location = {"Location": f"{github.url}/repos/{REPOSITORY}/pulls/8"}
    github.fault(Fault("status", pattern="pulls/8", status=307, headers=location))
    with pytest.raises(ApiError, match="in a circle"):
        get_pull(client, 8)
    assert client.calls == 4


def test_a_change_is_not_redirected(github: Standin, client: GitHubClient) -> None:
    """An issue that was moved to another repository is not ours any more."""
    location = {"Location": f"{github.url}/repos/{REPOSITORY}/issues/7"}
    github.fault(Fault("status", method="PATCH", status=301, headers=location))
    with pytest.raises(ApiError, match="has moved"):
        update_body(client, 8, "body")


def test_the_next_page_is_not_fetched_from_elsewhere(github: Standin, client: GitHubClient) -> None:
    """A `Link` header is followed within the API only."""
    headers = {"Link": f'<{github.storage.address}/next>; rel="next"'}
    github.fault(Fault("status", status=200, payload=[], headers=headers))
    with pytest.raises(ApiError, match="leads to another server"):
        list_issues_with_label(client, "fixture-refresh")
    assert github.asked("blob") == []


def test_a_listing_without_an_end_ends(github: Standin, client: GitHubClient) -> None:
    """A server that always names a next page is left after a hundred."""
    headers = {"Link": f'<{github.url}/repos/{REPOSITORY}/issues>; rel="next"'}
    github.fault(Fault("status", status=200, payload=[], headers=headers))
    with pytest.raises(ApiError, match="does not end after 100 pages"):
        list_issues_with_label(client, "fixture-refresh")
    assert client.calls == 100


LISTINGS = {"list_open_pulls_of_branch", "list_pulls_of_commit", "list_issues_with_label", "list_newest_issues"}
ODD_ARTIFACT = {
    "total_count": 1,
    "artifacts": [{"id": "1", "name": 7, "size_in_bytes": True, "expired": "no"}],
}
UNEXPECTED_PAYLOADS: list[Any] = [
    {},
    [],
    [[]],
    [None],
    ["text"],
    [{}],
    7,
    "text",
    True,
    {"total_count": -1, "artifacts": []},
    ODD_ARTIFACT,
    {"total_count": 1, "artifacts": {"0": {}}},
    {"number": True, "state": "ajar", "labels": 7, "head": None, "base": []},
    [{"number": 1, "html_url": "javascript:x", "state": "open", "labels": [{"name": None}], "user": []}],
    {"id": 1, "run_attempt": 0, "event": "push", "head_sha": "C" * 40},
    {"id": 10**400, "name": "\n", "created_at": "today", "workflow_run": {"id": {}}},
]


@pytest.mark.parametrize("name", CALLS)
def test_an_answer_of_another_shape_is_one_error(name: str, github: Standin, client: GitHubClient) -> None:
    """Whatever JSON arrives, it is read as documented or refused in one sentence; nothing else is raised."""
    for payload in UNEXPECTED_PAYLOADS:
        github.faults.clear()
        github.fault(Fault("status", status=200, payload=payload))
        if name == "update_body" or (payload == [] and name in LISTINGS):
            CALLS[name](client)  # a change is done once GitHub says so, and an empty listing is one
            continue
        if name == "list_artifacts" and payload == ODD_ARTIFACT:
            assert len(list_artifacts(client, 4242).unreadable) == 1  # an odd artifact is noted
            continue
        with pytest.raises(ApiError) as caught:
            CALLS[name](client)
        assert type(caught.value) is (RequestRefused if (name, payload) == ("add_label", []) else UnexpectedResponse)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"\xff\xfe", b"[" * 100_000, b'{"a":', b"9" * 5_000, b"null"], ids=range(7)
)
def test_a_body_that_is_no_json_is_a_broken_connection(body: bytes, github: Standin, client: GitHubClient) -> None:
    """A proxy's page, half an answer, a number of 5,000 digits: asked again a few times, then one error."""
    github.fault(Fault("status", status=200, payload=body))
    with pytest.raises(ApiError) as caught:
        list_newest_issues(client)
    assert (type(caught.value), client.calls) == (ConnectionFailed, MAX_ATTEMPTS)


def test_an_answer_that_is_too_long_is_not_read(github: Standin, client: GitHubClient) -> None:
    """Eight megabytes are enough for a page; the rest stays in the wire."""
    github.fault(Fault("status", status=200, payload=b" " * (MAX_RESPONSE_BYTES + 1)))
    with pytest.raises(ApiError, match="too long") as caught:
        list_newest_issues(client)
    assert (type(caught.value), client.calls) == (UnexpectedResponse, 1)


@pytest.mark.parametrize("kind", ["drip", "drip-head", "drip-chunk", "continue"])
@pytest.mark.parametrize("by_proxy", [False, True], ids=["direct", "proxy"])
def test_an_answer_that_does_not_end_is_given_up(
    kind: str, by_proxy: bool, github: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A byte now and then keeps no run alive, wherever it comes: from request to end, an answer has a minute."""
    github.fault(Fault(kind, seconds=0.001))
    if by_proxy:
        use_proxy(github.server_url, monkeypatch)
    pretended = Pretended()
    ticking = pretended.clock._replace(monotonic=lambda: pretended.sleep(RESPONSE_TIMEOUT / 3) or pretended.read())
    with (
        GitHubClient(
            "http://github.invalid" if by_proxy else github.url, REPOSITORY, Token(github.token), clock=ticking
        ) as client,
        pytest.raises(ApiError, match="did not answer in time"),
    ):
        list_newest_issues(client)


def test_a_proxy_that_does_not_end_its_own_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tunnel that a proxy opens belongs to the request: its head has to come by the deadline as well."""
    pretended = Pretended()
    ticking = pretended.clock._replace(monotonic=lambda: pretended.sleep(RESPONSE_TIMEOUT / 3) or pretended.read())
    with ExactServer(Answer([b"H", *[b"TTP/1.1 100 Continue\r\n\r\nH"] * 500])) as proxy:
        use_proxy(proxy.url.removesuffix("/v1/sample"), monkeypatch)
        with (
            GitHubClient("https://github.invalid", REPOSITORY, Token("ghs_x"), clock=ticking) as client,
            pytest.raises(ApiError, match="did not answer"),
        ):
            list_newest_issues(client)
    assert proxy.requests[0][0].startswith(b"CONNECT github.invalid:443")


def use_proxy(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the environment name a proxy for every address."""
    for name in ("NO_PROXY", "HTTP_PROXY", "HTTPS_PROXY"):
        for spelling in (name, name.lower()):
            monkeypatch.setenv(spelling, "" if name == "NO_PROXY" else url)


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    "proxy",
    [
        *["socks5://127.0.0.1:1080", "http://:3128", "http://[::1", "ftp://127.0.0.1:21", "http://127.0.0.1:99999"],
        *["http://s3cret:word@127.0.0.1:port", "http://a b:3128", "http://proxy..localhost:3128"],
    ],
)
def test_a_proxy_address_that_cannot_be_used_is_said_at_once(
    proxy: str, scheme: str, pretended: Pretended, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would fail on any day: one call, one sentence with the variables and what is allowed, without the address."""
    use_proxy(proxy, monkeypatch)
    with (
        GitHubClient(f"{scheme}://github.invalid", REPOSITORY, Token("ghs_x"), clock=pretended.clock) as client,
        pytest.raises(ApiError, match=r"`ALL_PROXY` cannot be used: it must be http://host:port") as caught,
    ):
        list_newest_issues(client)
    assert (type(caught.value), caught.value.exit_code) == (ServerUnusable, 2)
    assert "s3cret" not in str(caught.value)
    assert (client.calls, pretended.slept) == (1, [])


def test_a_server_that_speaks_no_http_is_said_at_once(
    github: Standin, client: GitHubClient, pretended: Pretended
) -> None:
    """The address leads to another kind of server, and will tomorrow."""
    github.fault(Fault("no-http"))
    with pytest.raises(ApiError, match="GitHub does not speak HTTP: its address, or the proxy's") as caught:
        list_newest_issues(client)
    assert (type(caught.value), caught.value.exit_code) == (ServerUnusable, 2)
    assert (client.calls, pretended.slept) == (1, [])


@pytest.mark.parametrize("piece", [b"", b"HTT", b"HTTP/1.1 2"])
def test_a_status_line_that_is_cut_short_is_a_broken_connection(piece: bytes, pretended: Pretended) -> None:
    """It began as HTTP begins, so it is asked again."""
    with (
        ExactServer(Answer([piece])) as server,
        GitHubClient(server.url, REPOSITORY, Token("ghs_x"), clock=pretended.clock) as client,
        pytest.raises(ApiError) as caught,
    ):
        list_newest_issues(client)
    assert (type(caught.value), client.calls) == (ConnectionFailed, MAX_ATTEMPTS)


def test_descriptors_that_are_used_up_are_named(client: GitHubClient, pretended: Pretended) -> None:
    """Neither GitHub nor the network is to blame, and no second try is made."""
    with no_more_descriptors(), pytest.raises(ApiError, match="This process may open no more files") as caught:
        list_newest_issues(client)
    assert (type(caught.value), client.calls, pretended.slept) == (ResourceShort, 1, [])


def test_changes_are_a_second_apart(github: Standin, client: GitHubClient, pretended: Pretended) -> None:
    """GitHub asks for a second between two changes; questions need no pause."""
    for _ in range(3):
        list_newest_issues(client)
        update_body(client, 7, "body")
    assert pretended.slept == [MUTATION_PAUSE] * 2


def test_the_policy_reader_reports_what_the_api_does(github: Standin, client: GitHubClient) -> None:
    """Reading the policy raises nothing: trouble becomes the reason why it could not be read."""
    github.fault(Fault("status", status=500))
    found = read_file(client, ".github/freeze-gate.yml")
    assert found.state == "unreadable"
    assert "HTTP 500" in (found.problem or "")
