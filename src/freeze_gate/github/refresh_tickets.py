"""One open ticket for each thing that needs a person, however many runs see it, at once or after one another.

GitHub offers no way to create an issue only where there is none. So: look (by label to the end, and at the newest
page, because the label's listing lags), create, look again; where an older ticket turns up, the younger one's own run
closes it. Numbers only grow, and each run looks after it has created, so the younger always sees the older. Nor can a
body be changed only where it is still what was read: of two sightings added in the same instant one can be lost.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from freeze_gate.github.client import Api
from freeze_gate.github.errors import ApiError
from freeze_gate.github.issues import (
    Issue,
    close_as_duplicate,
    create_issue,
    edit_body,
    get_issue,
    labelled_issues,
    newest_issues,
)

_HOPELESS: Final = frozenset({"credentials", "permission", "not-found", "gone", "limit", "connection", "server"})
"""The kinds of failure that the next ticket would meet as well."""

_LOGIN: Final = re.compile(r"[A-Za-z0-9-]{1,39}(\[bot\])?")


class Ticket(NamedTuple):
    """A ticket that should be open.

    `marker` is what the body of every ticket of this kind opens with. `render` writes the body of a new one; its
    argument is the number of the closed ticket that it follows, or None. `merge` adds this run's sighting to a body
    as it stands on GitHub, and returns None where that body has lost the place for it.
    """

    marker: str
    title: str
    render: Callable[[int | None], str]
    merge: Callable[[str], str | None]


class Posted(NamedTuple):
    """What became of a ticket.

    `outcome` is `created`, `updated`, `unchanged` (it knew this run already, or has no place for it), `left-alone` (a
    person closed it as not planned) or `failed`. `warnings` are sentences, the error's own among them.
    """

    ticket: Ticket
    outcome: str
    number: int | None = None
    url: str | None = None
    warnings: tuple[str, ...] = ()


class Tracker(NamedTuple):
    """Where tickets are kept: whose are ours, and under which label they are listed."""

    api: Api
    author: str
    label: str

    def post(self, tickets: Sequence[Ticket]) -> tuple[Posted, ...]:
        """Open or update each ticket; two listings serve all of them. Failures are reported, not raised."""
        if not tickets:
            return ()
        try:
            issues = {issue.number: issue for issue in labelled_issues(self.api, self.label)}
            issues |= {issue.number: issue for issue in newest_issues(self.api)}
        except ApiError as error:
            return tuple(_failed(ticket, error) for ticket in tickets)
        posted: list[Posted] = []
        hopeless: ApiError | None = None
        for ticket in tickets:
            try:
                posted.append(_failed(ticket, hopeless) if hopeless else self._post(ticket, issues.values()))
            except ApiError as error:
                posted.append(_failed(ticket, error))
                hopeless = error if error.kind in _HOPELESS else None
        return self._settle(posted)

    def _post(self, ticket: Ticket, issues: Iterable[Issue]) -> Posted:
        ours = self._ours(ticket, issues)
        still_open = [issue for issue in ours if issue.open]
        for younger in still_open[1:]:  # of a run that was killed before it could look again
            close_as_duplicate(self.api, younger.number)
        if still_open:
            return self._update(ticket, still_open[0], ours)
        judged = [issue for issue in ours if issue.reason != "duplicate"]
        last = judged[-1] if judged else None
        if last and last.reason == "not_planned":
            return Posted(ticket, "left-alone", last.number, last.url)
        return self._create(ticket, last.number if last else None)

    def _ours(self, ticket: Ticket, issues: Iterable[Issue]) -> list[Issue]:
        """Pick the tickets of this kind, oldest first."""
        return sorted(issue for issue in issues if issue.ours(self.author, ticket.marker))

    def _update(self, ticket: Ticket, listed: Issue, ours: Sequence[Issue] = ()) -> Posted:
        """Add the sighting to a ticket that was listed as open; where it is not open any more, look at the others."""
        issue = self._afresh(listed)
        if issue and self._is_open(ticket, issue):
            return self._add(ticket, issue)
        others = [other for other in ours if other.number != listed.number]
        return self._post(ticket, [*others, issue._replace(open=False)] if issue else others)

    def _afresh(self, listed: Issue) -> Issue | None:
        """Read a ticket as it is now; None where GitHub leads to another repository that it was moved to."""
        self.api.pace()
        issue = get_issue(self.api, listed.number)
        return issue if (issue.number, issue.url) == (listed.number, listed.url) else None

    def _is_open(self, ticket: Ticket, issue: Issue) -> bool:
        return issue.open and issue.ours(self.author, ticket.marker)

    def _add(self, ticket: Ticket, issue: Issue) -> Posted:
        body = ticket.merge(issue.body)
        if body is None:
            words = f"ticket #{issue.number} has lost the markers around its table of sightings, so it was not changed"
            return Posted(ticket, "unchanged", issue.number, issue.url, (words,))
        if body == issue.body:
            return Posted(ticket, "unchanged", issue.number, issue.url)
        edit_body(self.api, issue.number, body)
        return Posted(ticket, "updated", issue.number, issue.url)

    def _create(self, ticket: Ticket, follows: int | None) -> Posted:
        body = ticket.render(follows)
        try:
            return self._created(ticket, create_issue(self.api, ticket.title, body, self.label))
        except ApiError as error:
            if not error.maybe_done:
                raise
        return self._found(ticket, body) or self._created(
            ticket, create_issue(self.api, ticket.title, body, self.label)
        )

    def _found(self, ticket: Ticket, body: str) -> Posted | None:
        """Look for the ticket whose answer was lost; another run's is as good, once it has this run's sighting."""
        found = [issue for issue in self._ours(ticket, newest_issues(self.api)) if issue.open]
        mine = next((issue for issue in found if _same_text(issue.body, body)), None)
        if mine:
            return self._created(ticket, mine)
        return self._update(ticket, found[0], found) if found else None

    def _created(self, ticket: Ticket, issue: Issue) -> Posted:
        warnings = []
        if self.label.lower() not in {name.lower() for name in issue.labels}:
            warnings.append(
                f"ticket #{issue.number} did not get the label `{self.label}`, which only an account that may push can "
                "set: set it by hand, so that the ticket is found again once a hundred newer issues exist"
            )
        if not issue.ours(self.author, ticket.marker):
            login = issue.author if issue.author and _LOGIN.fullmatch(issue.author) else "another account"
            warnings.append(
                f"ticket #{issue.number} was opened by {login}, not by `ticket-author`: set that input to the account "
                "that the token belongs to, or every run opens another ticket"
            )
        return Posted(ticket, "created", issue.number, issue.url, tuple(warnings))

    def _settle(self, posted: Sequence[Posted]) -> tuple[Posted, ...]:
        """Look again after creating: where an older ticket turns up, it keeps the sighting and ours is closed."""
        if not any(each.outcome == "created" for each in posted):
            return tuple(posted)
        try:
            newest = newest_issues(self.api)
        except ApiError as error:
            words = f"whether another run opened the same ticket at the same time is not known: {error}"
            return tuple(_warned(each, words) if each.outcome == "created" else each for each in posted)
        return tuple(self._yield(each, newest) if each.outcome == "created" else each for each in posted)

    def _yield(self, own: Posted, newest: Iterable[Issue]) -> Posted:
        """Give way to the oldest ticket that is still open."""
        ours = self._ours(own.ticket, newest)
        older = [issue for issue in ours if issue.open and own.number and issue.number < own.number]
        try:
            for listed in older:
                issue = self._afresh(listed)
                if issue and self._is_open(own.ticket, issue):
                    posted = self._add(own.ticket, issue)
                    close_as_duplicate(self.api, own.number or 0)
                    return posted
        except ApiError as error:
            return _warned(own, f"another run opened ticket #{older[0].number} at the same time: {error}")
        return own


def _failed(ticket: Ticket, error: ApiError) -> Posted:
    return Posted(ticket, "failed", warnings=(str(error),))


def _warned(posted: Posted, words: str) -> Posted:
    return posted._replace(warnings=(*posted.warnings, words))


def _same_text(left: str, right: str) -> bool:
    """Compare bodies as GitHub may give them back: with other line ends, trimmed."""
    return left.split() == right.split()
