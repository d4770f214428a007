"""What the runner's variables and the event's payload say."""

import json
from pathlib import Path
from typing import Any

import pytest

from freeze_gate.action.event import Event, Head, read_event
from freeze_gate.errors import UsageError

VARIABLES = {
    "GITHUB_REPOSITORY": "octo-org/widgets",
    "GITHUB_RUN_ID": "4242",
    "GITHUB_RUN_ATTEMPT": "2",
    "GITHUB_SHA": "a" * 40,
    "GITHUB_REF": "refs/heads/main",
}
PULL = {
    "number": 12,
    "head": {"sha": "c" * 40, "ref": "patch", "user": {"login": "octo-org"}, "repo": {"id": 1}},
    "base": {"repo": {"id": 1}},
}
RUN = {
    "id": 77,
    "run_attempt": 3,
    "head_sha": "c" * 40,
    "head_branch": "patch",
    "repository": {"id": 1},
    "head_repository": {"id": 2, "owner": {"login": "stranger"}},
    "pull_requests": [],
}


def read(tmp_path: Path, name: str = "", payload: Any = None, **variables: str) -> Event:
    """Read an event with this payload."""
    path = tmp_path / "event.json"
    path.write_text(json.dumps(payload))
    return read_event({**VARIABLES, "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(path), **variables})


def test_addresses_are_github_s_unless_the_runner_says_others(tmp_path: Path) -> None:
    """An enterprise server has its own."""
    event = read(tmp_path)
    assert (event.api_url, event.server_url) == ("https://api.github.com", "https://github.com")

    event = read(tmp_path, GITHUB_API_URL="https://ghe.example/api/v3", GITHUB_SERVER_URL="https://ghe.example")
    assert (event.api_url, event.server_url) == ("https://ghe.example/api/v3", "https://ghe.example")


def test_a_pull_request_of_the_repository_itself(tmp_path: Path) -> None:
    """Its head is that of the event, not the merge commit that is tested."""
    event = read(tmp_path, "pull_request", {"pull_request": PULL})

    assert (event.run_id, event.run_attempt, event.pull_request) == (4242, 2, 12)
    assert event.head == Head("c" * 40, "patch", "octo-org", 1)
    assert not event.from_fork


@pytest.mark.parametrize("repository", [{"id": 2}, None, {}])
def test_a_pull_request_of_another_repository_or_of_none_is_a_fork_s(tmp_path: Path, repository: Any) -> None:
    """Null once the fork is deleted."""
    pull = {**PULL, "head": {**PULL["head"], "repo": repository}}  # type: ignore[dict-item]
    assert read(tmp_path, "pull_request", {"pull_request": pull}).from_fork


def test_after_another_run_that_run_is_looked_at(tmp_path: Path) -> None:
    """`workflow_run`: its id, its attempt, its head; the fork has no pull request in the payload."""
    event = read(tmp_path, "workflow_run", {"workflow_run": RUN})

    assert (event.run_id, event.run_attempt, event.commit) == (77, 3, "c" * 40)
    assert event.head == Head("c" * 40, "patch", "stranger", 2)
    assert event.pull_request is None
    assert event.from_fork


@pytest.mark.parametrize(
    ("pulls", "number"),
    [
        ([{"number": 12, "base": {"repo": {"id": 1}}}], 12),
        ([{"number": 12, "base": {"repo": {"id": 9}}}], None),
        ([{"number": 12, "base": {"repo": {"id": 1}}}, {"number": 13, "base": {"repo": {"id": 1}}}], None),
        ([{"number": 12}], None),
        (["12"], None),
        (12, None),
        (None, None),
    ],
)
def test_a_listed_pull_request_counts_if_it_is_the_only_one_of_this_repository(
    tmp_path: Path, pulls: Any, number: int | None
) -> None:
    """Pull requests of other bases may be listed as well."""
    run = {**RUN, "pull_requests": pulls}
    assert read(tmp_path, "workflow_run", {"workflow_run": run}).pull_request == number


@pytest.mark.parametrize("base", ["main", "release/2.0", "pr-7-x"])
def test_a_merge_queue_names_the_pull_request_in_its_ref(tmp_path: Path, base: str) -> None:
    """The last part counts: a base branch may hold slashes."""
    event = read(tmp_path, "merge_group", {}, GITHUB_REF=f"refs/heads/gh-readonly-queue/{base}/pr-12-{'b' * 40}")

    assert event.pull_request == 12
    assert event.head == Head("a" * 40)


@pytest.mark.parametrize("ref", ["refs/heads/main", "refs/heads/gh-readonly-queue/main/pr-12-short", ""])
def test_other_branches_name_none(tmp_path: Path, ref: str) -> None:
    """The commit is all that is known."""
    event = read(tmp_path, "push", {}, GITHUB_REF=ref)
    assert (event.pull_request, event.head) == (None, Head("a" * 40))


@pytest.mark.parametrize("name", ["push", "workflow_dispatch", "schedule", "pull_request", "workflow_run", ""])
def test_a_branch_that_is_called_like_a_queue_s_names_none(tmp_path: Path, name: str) -> None:
    """Whoever may push can call a branch so; only the queue's own event is believed."""
    event = read(tmp_path, name, {}, GITHUB_REF=f"refs/heads/gh-readonly-queue/main/pr-12-{'b' * 40}")
    assert event.pull_request is None


@pytest.mark.parametrize("sha", ["", "main", "A" * 40, "a" * 41, "../../x"])
def test_what_is_no_commit_is_none(tmp_path: Path, sha: str) -> None:
    """It would become part of an address."""
    assert read(tmp_path, "push", {}, GITHUB_SHA=sha).commit is None


@pytest.mark.parametrize("payload", [None, [], "x", {"pull_request": None}, {"pull_request": {"number": True}}])
def test_an_odd_payload_is_an_event_without_a_pull_request(tmp_path: Path, payload: Any) -> None:
    """Never an error: the verdict needs no event."""
    assert read(tmp_path, "pull_request", payload).pull_request is None


def test_a_payload_that_is_not_there_is_an_empty_one(tmp_path: Path) -> None:
    """Neither the variable nor the file."""
    assert read_event(VARIABLES).pull_request is None
    assert read_event({**VARIABLES, "GITHUB_EVENT_PATH": str(tmp_path / "none")}).pull_request is None


@pytest.mark.parametrize("name", ["GITHUB_REPOSITORY", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"])
@pytest.mark.parametrize("value", [None, "", "0", "x y", "1\n"])
def test_a_variable_that_must_be_there_is_named(name: str, value: str | None) -> None:
    """The command runs as a step of a workflow."""
    variables = {key: found for key, found in {**VARIABLES, name: value}.items() if found is not None}
    with pytest.raises(UsageError, match=name):
        read_event(variables)
