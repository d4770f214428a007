"""One open ticket for each fixture, whoever else is at work, whatever is lost on the way, and nobody else's touched."""

import threading

import pytest

from freeze_gate.github.client import GitHubClient
from freeze_gate.github.refresh_tickets import RefreshTickets, Ticket, TicketOutcome, TicketResult
from freeze_gate.github.session import Token
from tests.standin import Fault, Grant, Pretended, Standin
from tests.standin.state import Issue, Repository

US = "github-actions[bot]"
LABEL = "fixture-refresh"


def ticket(fixture_id: str = "sample-1", run: str = "run 1") -> Ticket:
    """Return a ticket whose body is a marker, the ticket it follows, and one line for each run that saw it."""
    marker = f"<!-- ticket {fixture_id} -->"

    def merge(body: str) -> str | None:
        return None if "spoilt" in body else body if run in body else f"{body}{run}\n"

    return Ticket(marker, f"Refresh fixture: {fixture_id}", lambda follows: f"{marker}\n{follows}\n{run}\n", merge)


@pytest.fixture
def repository(github: Standin) -> Repository:
    """Return the repository."""
    return github.repository()


@pytest.fixture
def refresh_tickets(client: GitHubClient) -> RefreshTickets:
    """Return the refresh_tickets under test."""
    return RefreshTickets(client, US, LABEL)


def publish(refresh_tickets: RefreshTickets, *tickets: Ticket) -> list[tuple[str, int | None]]:
    """Post and return outcome and number of each."""
    return [(result.outcome, result.number) for result in refresh_tickets.publish(tickets)]


def of_ours(repository: Repository, *, state: str = "open") -> list[Issue]:
    """Return our issues in that state."""
    return [issue for issue in repository.issues.values() if issue.author == US and issue.state == state]


def test_the_first_drift_opens_a_ticket_in_four_calls(repository: Repository, refresh_tickets: RefreshTickets) -> None:
    """Two listings, one creation, one more look; the label is created with it."""
    (result,) = refresh_tickets.publish([ticket()])
    (issue,) = repository.issues.values()
    assert result == TicketResult(result.ticket, TicketOutcome.CREATED, issue.number, result.url, ())
    assert (result.url or "").endswith(f"/octo-org/widgets/issues/{issue.number}")
    assert (issue.title, issue.labels, issue.author) == ("Refresh fixture: sample-1", [LABEL], US)
    assert issue.body == "<!-- ticket sample-1 -->\nNone\nrun 1\n"
    assert refresh_tickets.client.calls == 4


def test_the_next_drift_updates_it_in_four_calls(repository: Repository, refresh_tickets: RefreshTickets) -> None:
    """Two listings, one look at the ticket as it is now, one edit."""
    publish(refresh_tickets, ticket())
    before = refresh_tickets.client.calls
    assert publish(refresh_tickets, ticket(run="run 2")) == [("updated", 1)]
    assert repository.issues[1].body == "<!-- ticket sample-1 -->\nNone\nrun 1\nrun 2\n"
    assert refresh_tickets.client.calls - before == 4


def test_the_same_run_again_changes_nothing(
    repository: Repository, refresh_tickets: RefreshTickets, github: Standin
) -> None:
    """A sighting that is there already is not written again."""
    publish(refresh_tickets, ticket())
    assert publish(refresh_tickets, ticket()) == [("unchanged", 1)]
    assert not any(request.method == "PATCH" for request in github.log)


def test_nothing_to_post_asks_nothing(refresh_tickets: RefreshTickets) -> None:
    """No ticket, no call."""
    assert refresh_tickets.publish([]) == ()
    assert refresh_tickets.client.calls == 0


def test_the_lookups_are_shared_by_all_tickets(repository: Repository, refresh_tickets: RefreshTickets) -> None:
    """Five tickets: two listings, five creations, one more look, a second between two creations."""
    assert [outcome for outcome, _ in publish(refresh_tickets, *(ticket(f"sample-{n}") for n in range(5)))] == [
        "created"
    ] * 5
    assert len(of_ours(repository)) == 5
    assert refresh_tickets.client.calls == 8


def test_a_ticket_is_matched_by_its_marker_and_not_by_its_title(
    repository: Repository, refresh_tickets: RefreshTickets
) -> None:
    """The ticket for `sample-10` is not the one for `sample-1`."""
    publish(refresh_tickets, ticket("sample-10"))
    assert publish(refresh_tickets, ticket("sample-1")) == [("created", 2)]
    assert len(of_ours(repository)) == 2


@pytest.mark.parametrize(
    ("author", "body"),
    [
        ("mallory", "<!-- ticket sample-1 -->\n"),
        ("dependabot[bot]", "<!-- ticket sample-1 -->\n"),
        ("github-actions", "<!-- ticket sample-1 -->\n"),
        (None, "<!-- ticket sample-1 -->\n"),
        (US, "> <!-- ticket sample-1 -->\n"),
        (US, None),
    ],
)
@pytest.mark.parametrize("state_reason", [None, "not_planned"])
def test_an_issue_that_is_not_ours_is_neither_edited_nor_obeyed(
    author: str | None,
    body: str | None,
    state_reason: str | None,
    repository: Repository,
    refresh_tickets: RefreshTickets,
) -> None:
    """A stranger's, another bot's or a member's issue with our marker, or one that only quotes it."""
    state = "closed" if state_reason else "open"
    repository.add_issue("Theirs", body, author=author, labels=[LABEL], state=state, state_reason=state_reason)
    assert publish(refresh_tickets, ticket()) == [("created", 2)]
    assert (repository.issues[1].body, repository.issues[1].state) == (body, state)


def test_pull_requests_in_the_listing_are_skipped(repository: Repository, refresh_tickets: RefreshTickets) -> None:
    """The listing of issues holds pull requests, ours among them."""
    pull = repository.add_pull(author=US, labels=[LABEL])
    pull.issue.body = "<!-- ticket sample-1 -->\n"
    assert publish(refresh_tickets, ticket()) == [("created", 2)]


def test_the_author_is_compared_without_case(repository: Repository, client: GitHubClient) -> None:
    """Logins ignore case."""
    repository.add_issue("Ours", ticket().marker, author="Octo-Bot")
    assert publish(RefreshTickets(client, "octo-bot", LABEL), ticket()) == [("updated", 1)]


def test_an_old_ticket_is_found_by_its_label(repository: Repository, refresh_tickets: RefreshTickets) -> None:
    """Behind 250 newer issues and 150 labelled ones, it is on the second page of the label's listing."""
    repository.add_issue("Ours", ticket().marker, author=US, labels=[LABEL])
    for index in range(250):
        repository.add_issue("Later", "Words.", labels=[LABEL] if index < 150 else [])
    assert publish(refresh_tickets, ticket()) == [("updated", 1)]


def test_a_ticket_is_found_while_the_label_filter_lags(repository: Repository, refresh_tickets: RefreshTickets) -> None:
    """The filter knows nothing yet; the newest page of all issues does, and in a busy repository it is one of many."""
    repository.label_index_lags = True
    for _ in range(150):
        repository.add_issue("Earlier")
    publish(refresh_tickets, ticket())
    assert publish(refresh_tickets, ticket(run="run 2")) == [("updated", 151)]


def test_a_ticket_without_its_label_is_found_again(
    github: Standin, repository: Repository, pretended: Pretended
) -> None:
    """A token that may not push gets no label, and the answer to the creation is 201 all the same."""
    token = github.grant("ghs_nopush", Grant(push=False))
    with GitHubClient(github.url, "octo-org/widgets", Token(token), clock=pretended.clock) as client:
        refresh_tickets = RefreshTickets(client, US, LABEL)
        (result,) = refresh_tickets.publish([ticket()])
        assert result.outcome == "created"
        assert "did not get the label `fixture-refresh`" in result.warnings[0]
        assert publish(refresh_tickets, ticket(run="run 2")) == [("updated", 1)]
    assert repository.issues[1].labels == []


def test_a_ticket_by_another_account_is_said(github: Standin, repository: Repository, pretended: Pretended) -> None:
    """A token of one's own opens issues under its own name: the warning says which input to set."""
    token = github.grant("ghs_own", Grant(login="octo-bot"))
    with GitHubClient(github.url, "octo-org/widgets", Token(token), clock=pretended.clock) as client:
        (result,) = RefreshTickets(client, US, LABEL).publish([ticket()])
    assert result.outcome == "created"
    assert "was opened by octo-bot, not by `ticket-author`" in result.warnings[0]


def test_one_closed_as_not_planned_stays_closed(repository: Repository, refresh_tickets: RefreshTickets) -> None:
    """A person decided; nothing is opened beside it."""
    repository.add_issue("Ours", ticket().marker, author=US, labels=[LABEL], state="closed", state_reason="not_planned")
    assert publish(refresh_tickets, ticket()) == [("left-alone", 1)]
    assert (repository.issues[1].body, len(repository.issues)) == (ticket().marker, 1)


@pytest.mark.parametrize("reason", ["completed", None])
def test_one_closed_as_completed_gets_a_successor(
    reason: str | None, repository: Repository, refresh_tickets: RefreshTickets
) -> None:
    """It is not opened again: the new one names it."""
    repository.add_issue("Ours", ticket().marker, author=US, labels=[LABEL], state="closed", state_reason=reason)
    assert publish(refresh_tickets, ticket()) == [("created", 2)]
    assert repository.issues[2].body == "<!-- ticket sample-1 -->\n1\nrun 1\n"
    assert repository.issues[1].state == "closed"


def test_the_last_of_several_closed_ones_decides(repository: Repository, refresh_tickets: RefreshTickets) -> None:
    """Not planned once, completed later: the later decision counts, and a duplicate that we closed is none."""
    for reason in ("not_planned", "completed", "duplicate"):
        repository.add_issue("Ours", ticket().marker, author=US, labels=[LABEL], state="closed", state_reason=reason)
    assert publish(refresh_tickets, ticket()) == [("created", 4)]
    assert "\n2\n" in (repository.issues[4].body or "")


def test_an_open_one_is_updated_whatever_was_closed_before(
    repository: Repository, refresh_tickets: RefreshTickets
) -> None:
    """The open ticket counts."""
    repository.add_issue("Ours", ticket().marker, author=US, state="closed", state_reason="not_planned")
    repository.add_issue("Ours", ticket().marker, author=US)
    assert publish(refresh_tickets, ticket()) == [("updated", 2)]


def test_a_body_without_a_place_for_sightings_is_left_alone(
    repository: Repository, refresh_tickets: RefreshTickets
) -> None:
    """A person removed the markers: nothing says which part is ours, so nothing is changed, and that is said."""
    repository.add_issue("Ours", f"{ticket().marker} spoilt", author=US)
    (result,) = refresh_tickets.publish([ticket()])
    assert (result.outcome, result.number) == ("unchanged", 1)
    assert "has lost the markers" in result.warnings[0]


def test_a_stale_listing_does_not_bring_a_closed_ticket_back(
    github: Standin, repository: Repository, refresh_tickets: RefreshTickets
) -> None:
    """The listing still says open; the ticket itself, asked afresh, was closed as completed: it gets a successor."""
    issue = repository.add_issue("Ours", ticket().marker, author=US)
    stale = github.rest.shapes.issue(repository, issue)
    issue.state, issue.state_reason = "closed", "completed"
    github.fault(Fault("status", method="GET", pattern="issues$", status=200, payload=[stale], times=2))
    assert publish(refresh_tickets, ticket()) == [("created", 2)]
    assert issue.state == "closed"


def test_a_ticket_that_moved_away_is_not_followed(
    github: Standin, repository: Repository, refresh_tickets: RefreshTickets
) -> None:
    """GitHub leads from a moved issue to its new repository, where the same text has a number that is not ours."""
    repository.add_issue("Ours", ticket().marker, author=US)
    repository.add_issue("Somebody's", "Theirs.")
    elsewhere = github.repository("octo-org/elsewhere")
    elsewhere.add_issue("First")
    elsewhere.add_issue("Ours", ticket().marker, author=US)
    location = {"Location": f"{github.url}/repos/octo-org/elsewhere/issues/2"}
    github.fault(Fault("status", pattern="widgets/issues/1$", status=301, headers=location))
    assert publish(refresh_tickets, ticket()) == [("created", 3)]
    assert [repository.issues[2].body, elsewhere.issues[2].body] == ["Theirs.", ticket().marker]


@pytest.mark.parametrize("parties", [2, 3])
def test_gates_at_the_same_time_leave_one_open_ticket(
    parties: int, github: Standin, repository: Repository, pretended: Pretended
) -> None:
    """All have looked before any creates: the oldest ticket stays, the others are closed by their own runs."""
    github.fault(Fault("meet", method="POST", pattern="issues$", parties=parties))
    outcomes: list[tuple[str, int | None]] = []

    def gate(run: str) -> None:
        with GitHubClient(github.url, "octo-org/widgets", Token(github.token), clock=pretended.clock) as client:
            outcomes.extend(publish(RefreshTickets(client, US, LABEL), ticket(run=run)))

    gates = [threading.Thread(target=gate, args=(f"run {index}",)) for index in range(parties)]
    for each in gates:
        each.start()
    for each in gates:
        each.join()
    assert [issue.number for issue in of_ours(repository)] == [1]
    assert {issue.state_reason for issue in of_ours(repository, state="closed")} == {"duplicate"}
    assert sorted(outcomes) == [("created", 1), *[("updated", 1)] * (parties - 1)]
    sightings = [index for index in range(parties) if f"run {index}" in (repository.issues[1].body or "")]
    assert len(sightings) >= 2  # of three at the very same instant one may be lost, and no ticket


def test_what_a_killed_gate_left_double_is_tidied(repository: Repository, refresh_tickets: RefreshTickets) -> None:
    """Two open ones of ours: the older is updated, the younger closed as a duplicate."""
    for _ in range(2):
        repository.add_issue("Ours", ticket().marker, author=US, labels=[LABEL])
    assert publish(refresh_tickets, ticket()) == [("updated", 1)]
    assert repository.issues[2].state_reason == "duplicate"


def test_a_server_that_knows_no_duplicates_closes_all_the_same(
    github: Standin, repository: Repository, refresh_tickets: RefreshTickets
) -> None:
    """An older server refuses that reason; the ticket is closed without one."""
    for _ in range(2):
        repository.add_issue("Ours", ticket().marker, author=US)
    github.fault(Fault("status", method="PATCH", pattern="issues/2$", status=422, times=1))
    assert publish(refresh_tickets, ticket()) == [("updated", 1)]
    assert (repository.issues[2].state, repository.issues[2].state_reason) == ("closed", "completed")


@pytest.mark.parametrize("kind", ["lost", "cut"])
def test_a_lost_answer_to_the_creation_opens_no_second_ticket(
    kind: str, github: Standin, repository: Repository, refresh_tickets: RefreshTickets
) -> None:
    """The ticket is there, the answer is not: looked for before anything is sent again."""
    github.fault(Fault(kind, method="POST", times=1))
    assert publish(refresh_tickets, ticket()) == [("created", 1)]
    assert len(repository.issues) == 1


@pytest.mark.parametrize(("kind", "status"), [("reset", 0), ("status", 500), ("status", 502)])
def test_a_creation_that_did_not_take_place_is_sent_again(
    kind: str, status: int, github: Standin, repository: Repository, refresh_tickets: RefreshTickets
) -> None:
    """Nothing is there after the failure: the second try opens the one ticket."""
    github.fault(Fault(kind, method="POST", status=status, times=1))
    assert publish(refresh_tickets, ticket()) == [("created", 1)]
    assert len(repository.issues) == 1


def another_gate(github: Standin, repository: Repository) -> None:
    """Let another run open the ticket for `sample-1` at the moment at which ours is about to."""
    body = f"{ticket().marker}\nrun 0\n"
    github.fault(Fault("act", method="POST", times=1, act=lambda: repository.add_issue("Ours", body, author=US)))


def test_a_lost_answer_while_another_gate_opened_one(
    github: Standin, repository: Repository, refresh_tickets: RefreshTickets
) -> None:
    """Our creation failed, and another run's ticket turns up: it gets our sighting, and no second one is opened."""
    another_gate(github, repository)
    github.fault(Fault("reset", method="POST", times=1))
    assert publish(refresh_tickets, ticket()) == [("updated", 1)]
    assert repository.issues[1].body == f"{ticket().marker}\nrun 0\nrun 1\n"


def test_the_younger_ticket_gives_way(github: Standin, repository: Repository, refresh_tickets: RefreshTickets) -> None:
    """An older ticket turned up between our look and our creation: it gets our sighting, and ours is closed."""
    another_gate(github, repository)
    assert publish(refresh_tickets, ticket()) == [("updated", 1)]
    assert repository.issues[1].body == f"{ticket().marker}\nrun 0\nrun 1\n"
    assert (repository.issues[2].state, repository.issues[2].state_reason) == ("closed", "duplicate")


@pytest.mark.parametrize(("method", "first"), [("GET", 1), ("PATCH", 1), ("PATCH", 2)])
def test_giving_way_can_fail(
    method: str, first: int, github: Standin, repository: Repository, refresh_tickets: RefreshTickets
) -> None:
    """Both stay open until the next run tidies up; the warning names the other one."""
    another_gate(github, repository)
    trouble = github.fault(Fault("status", method=method, pattern=r"issues/\d$", first=first, status=403))
    (result,) = refresh_tickets.publish([ticket()])
    assert (result.outcome, result.number) == ("created", 2)
    assert "another run opened ticket #1 at the same time" in result.warnings[0]
    trouble.times = 0
    assert publish(refresh_tickets, ticket(run="run 2")) == [("updated", 1)]
    assert [issue.number for issue in of_ours(repository)] == [1]


def test_nobody_gives_way_to_a_ticket_that_was_closed_again(
    github: Standin, repository: Repository, refresh_tickets: RefreshTickets
) -> None:
    """The older ticket is closed by the time it is looked at: ours stays."""
    another_gate(github, repository)

    def close() -> None:
        repository.issues[1].state = "closed"

    github.fault(Fault("act", method="GET", pattern="issues/1$", act=close))
    assert publish(refresh_tickets, ticket()) == [("created", 2)]
    assert [issue.number for issue in of_ours(repository)] == [2]


def test_a_creation_that_never_works_is_reported(
    github: Standin, repository: Repository, refresh_tickets: RefreshTickets
) -> None:
    """Two tries with a look between them, then a report; nothing is raised."""
    github.fault(Fault("status", method="POST", status=502))
    (result,) = refresh_tickets.publish([ticket()])
    assert result.outcome == "failed"
    assert "HTTP 502" in result.warnings[0]
    assert [request.method for request in github.log].count("POST") == 2
    assert not repository.issues


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("refuse", 0),
        ("reset", 0),
        ("cut", 0),
        ("status", 401),
        ("status", 403),
        ("status", 404),
        ("status", 500),
        ("status", 502),
    ],
)
@pytest.mark.parametrize(
    ("method", "pattern", "first"),
    [
        ("GET", "issues$", 1),
        ("GET", "issues$", 2),
        ("GET", "issues$", 3),
        ("POST", "issues$", 1),
        ("GET", "issues/1$", 1),
        ("PATCH", "issues/1$", 1),
    ],
)
def test_trouble_at_any_call_is_reported_and_never_raised(  # noqa: PLR0917 - the facts of a row
    method: str,
    pattern: str,
    first: int,
    kind: str,
    status: int,
    github: Standin,
    repository: Repository,
    refresh_tickets: RefreshTickets,
) -> None:
    """Every call of a ticket's way, refused, reset, cut or answered with an error for ever: a warning, no traceback."""
    if "/1" in pattern:
        repository.add_issue("Ours", ticket().marker, author=US)
    github.fault(Fault(kind, method=method, pattern=pattern, first=first, status=status))
    (result,) = refresh_tickets.publish([ticket()])
    settling = first == 3
    done_unseen = (kind, method) == ("cut", "POST")
    assert result.outcome == ("created" if settling or done_unseen else "failed")
    assert bool(result.warnings) is not done_unseen
    assert len(of_ours(repository)) <= 1
    assert all(warning.isprintable() and github.token not in warning for warning in result.warnings)


def test_disabled_issues_are_said(github: Standin, repository: Repository, refresh_tickets: RefreshTickets) -> None:
    """410 on creating: a warning, no expired artifact, and the other tickets are not tried."""
    repository.has_issues = False
    result = refresh_tickets.publish([ticket("a"), ticket("b")])
    assert [each.outcome for each in result] == ["failed", "failed"]
    assert "switched off in this repository" in result[0].warnings[0]
    assert [request.method for request in github.log].count("POST") == 1


def test_a_ticket_that_github_does_not_take_does_not_stop_the_others(
    repository: Repository, refresh_tickets: RefreshTickets
) -> None:
    """A body of 65,537 characters is refused; the next ticket is opened all the same."""
    long = ticket("long")._replace(render=lambda _follows: "x" * 65_537)
    result = refresh_tickets.publish([long, ticket()])
    assert [each.outcome for each in result] == ["failed", "created"]
    assert "Issue body: body is too long" in result[0].warnings[0]


def test_a_read_only_token_is_told_the_permission(
    github: Standin, repository: Repository, pretended: Pretended
) -> None:
    """On a fork's pull request the token can only read: the warning names the permission and the recipe."""
    token = github.grant("ghs_reader", Grant(issues="read", pull_requests="read"))
    with GitHubClient(github.url, "octo-org/widgets", Token(token), clock=pretended.clock) as client:
        (result,) = RefreshTickets(client, US, LABEL).publish([ticket()])
    assert result.outcome == "failed"
    assert "`issues: write`" in result.warnings[0]
    assert "`workflow_run` recipe" in result.warnings[0]
    assert not repository.issues
