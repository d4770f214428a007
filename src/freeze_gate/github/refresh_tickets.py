"""Keeps one open refresh ticket for each fixture, even if several runs see the drift at the same time.

GitHub cannot create an issue on the condition that there is none, so each run does this:

1. List the issues: by label to the last page, and the newest page, because the index of labels lags.
2. If a ticket is open, read it again, add this run's sighting to the oldest, and close the younger as duplicates.
3. If the newest closed ticket was closed as not planned, leave it alone.
4. Otherwise create a ticket. If the response was lost, look for the ticket before sending it again.
5. After creating, list again. If an older ticket is open, add the sighting to it and close the own as a duplicate:
   numbers only grow and each run looks after it created, so the younger ticket's run always sees the older.

A body cannot be changed on the condition that it is still what was read: of two sightings that are added at the same
moment one can be lost.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from freeze_gate.github.client import GitHubClient
from freeze_gate.github.errors import ApiError, RequestRefused, UnexpectedResponse
from freeze_gate.github.issues import (
    Issue,
    close_as_duplicate,
    create_issue,
    get_issue,
    list_issues_with_label,
    list_newest_issues,
    update_body,
)

_LOGIN: Final = re.compile(r"[A-Za-z0-9-]{1,39}(\[bot\])?")


class Ticket(NamedTuple):
    """A ticket that should be open.

    `marker` is the start of the body of every ticket for the same fixture. `render` writes the body of a new ticket;
    its argument is the number of the closed ticket that it follows, or None. `merge` adds this run's sighting to a
    body, and returns None if that body has lost the place for it.
    """

    marker: str
    title: str
    render: Callable[[int | None], str]
    merge: Callable[[str], str | None]


class TicketOutcome(StrEnum):
    """What was done about a ticket."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    """It has this run's sighting already, or has no place for it."""
    LEFT_ALONE = "left-alone"
    """Somebody closed it as not planned."""
    FAILED = "failed"
    PLANNED = "planned"
    """Nothing was sent, in a dry run."""


class TicketResult(NamedTuple):
    """What was done about a ticket, with the number and URL of its issue. `warnings` are sentences."""

    ticket: Ticket
    outcome: TicketOutcome
    number: int | None = None
    url: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def is_created(self) -> bool:
        """Whether this run opened the issue."""
        return self.outcome == TicketOutcome.CREATED


class RefreshTickets(NamedTuple):
    """The refresh tickets of a repository: the issues that `author` opened. New ones get `label`."""

    client: GitHubClient
    author: str
    label: str

    def publish(self, tickets: Sequence[Ticket]) -> tuple[TicketResult, ...]:
        """Create or update each ticket, with two listings for all of them. Failures are returned, not raised."""
        if not tickets:
            return ()
        try:
            issues = {issue.number: issue for issue in list_issues_with_label(self.client, self.label)}
            issues |= {issue.number: issue for issue in list_newest_issues(self.client)}
        except ApiError as error:
            return tuple(_failed(ticket, error) for ticket in tickets)
        results: list[TicketResult] = []
        for index, ticket in enumerate(tickets):
            try:
                results.append(self._create_or_update(ticket, issues.values()))
            except (RequestRefused, UnexpectedResponse) as error:
                results.append(_failed(ticket, error))
            except ApiError as error:  # the other tickets would meet it as well
                results += [_failed(other, error) for other in tickets[index:]]
                break
        return self._deduplicate(results)

    def _create_or_update(self, ticket: Ticket, issues: Iterable[Issue]) -> TicketResult:
        managed = self._managed(ticket, issues)
        open_issues = [issue for issue in managed if issue.open]
        closed_issues = [issue for issue in managed if not issue.open]
        for issue in self._reload(open_issues):
            if self._is_open(ticket, issue):
                for other in open_issues:
                    if other.number > issue.number:  # from a run that was killed before step 5
                        close_as_duplicate(self.client, other.number)
                return self._add_sighting(ticket, issue)
            closed_issues.append(issue._replace(open=False))
        previous = None
        for issue in self._managed(ticket, closed_issues):
            if issue.reason != "duplicate":
                previous = issue
        if previous and previous.reason == "not_planned":
            return TicketResult(ticket, TicketOutcome.LEFT_ALONE, previous.number, previous.url)
        return self._create(ticket, previous.number if previous else None)

    def _create(self, ticket: Ticket, previous_ticket: int | None) -> TicketResult:
        body = ticket.render(previous_ticket)
        try:
            return self._created(ticket, create_issue(self.client, ticket.title, body, self.label))
        except ApiError as error:
            if not error.is_possibly_applied:
                raise
        open_issues = [issue for issue in self._managed(ticket, list_newest_issues(self.client)) if issue.open]
        for issue in open_issues:
            if issue.body.split() == body.split():  # GitHub may change the line ends and trim the body
                return self._created(ticket, issue)
        if open_issues:  # from another run
            return self._create_or_update(ticket, open_issues)
        return self._created(ticket, create_issue(self.client, ticket.title, body, self.label))

    def _deduplicate(self, results: Sequence[TicketResult]) -> tuple[TicketResult, ...]:
        if not any(result.is_created for result in results):
            return tuple(results)
        try:
            newest = list_newest_issues(self.client)
        except ApiError as error:
            message = f"it is unknown whether another run opened the same ticket at the same time: {error}"
            return tuple(_warned(result, message) if result.is_created else result for result in results)
        return tuple(self._close_if_duplicate(result, newest) if result.is_created else result for result in results)

    def _close_if_duplicate(self, created: TicketResult, newest: Iterable[Issue]) -> TicketResult:
        number = created.number or 0
        older = [issue for issue in self._managed(created.ticket, newest) if issue.open and issue.number < number]
        try:
            for issue in self._reload(older):
                if self._is_open(created.ticket, issue):
                    result = self._add_sighting(created.ticket, issue)
                    close_as_duplicate(self.client, number)
                    return result
        except ApiError as error:
            return _warned(created, f"another run opened ticket #{older[0].number} at the same time: {error}")
        return created

    def _managed(self, ticket: Ticket, issues: Iterable[Issue]) -> list[Issue]:
        """Return the issues that are tickets for the same fixture, the oldest first."""
        managed = [issue for issue in issues if issue.is_managed_by(self.author, ticket.marker)]
        return sorted(managed, key=lambda issue: issue.number)

    def _is_open(self, ticket: Ticket, issue: Issue) -> bool:
        return issue.open and issue.is_managed_by(self.author, ticket.marker)

    def _reload(self, issues: Iterable[Issue]) -> Iterator[Issue]:
        """Yield the issues as they are now, without those that were moved to another repository."""
        for issue in issues:
            self.client.throttle()
            current = get_issue(self.client, issue.number)
            if (current.number, current.url) == (issue.number, issue.url):
                yield current

    def _add_sighting(self, ticket: Ticket, issue: Issue) -> TicketResult:
        body = ticket.merge(issue.body)
        if body is None:
            warning = f"ticket #{issue.number} has lost the markers around its table of sightings: it was not changed"
            return TicketResult(ticket, TicketOutcome.UNCHANGED, issue.number, issue.url, (warning,))
        if body == issue.body:
            return TicketResult(ticket, TicketOutcome.UNCHANGED, issue.number, issue.url)
        update_body(self.client, issue.number, body)
        return TicketResult(ticket, TicketOutcome.UPDATED, issue.number, issue.url)

    def _created(self, ticket: Ticket, issue: Issue) -> TicketResult:
        warnings = []
        if self.label.lower() not in {name.lower() for name in issue.labels}:
            warnings.append(
                f"ticket #{issue.number} did not get the label `{self.label}`, which only an account with push access "
                "can set: set it by hand, or the ticket is not found again once a hundred newer issues exist"
            )
        if not issue.is_managed_by(self.author, ticket.marker):
            login = issue.author if issue.author and _LOGIN.fullmatch(issue.author) else "another account"
            warnings.append(
                f"ticket #{issue.number} was opened by {login}, not by `ticket-author`: set that input to the account "
                "that the token belongs to, or every run opens another ticket"
            )
        return TicketResult(ticket, TicketOutcome.CREATED, issue.number, issue.url, tuple(warnings))


def _failed(ticket: Ticket, error: ApiError) -> TicketResult:
    return TicketResult(ticket, TicketOutcome.FAILED, warnings=(str(error),))


def _warned(result: TicketResult, warning: str) -> TicketResult:
    return result._replace(warnings=(*result.warnings, warning))
