"""Publishes the plan on GitHub: the freeze label and the refresh tickets. If that fails, the verdict stands."""

from contextlib import ExitStack
from typing import NamedTuple

from freeze_gate.action.inputs import Inputs
from freeze_gate.action.pull_request import LabelTarget
from freeze_gate.artifacts.cache import ArtifactCache
from freeze_gate.errors import NoVerdictError
from freeze_gate.evidence.archive import ArchiveError, open_archive
from freeze_gate.evidence.archive.base import archive_errors
from freeze_gate.evidence.bundle import open_pin
from freeze_gate.evidence.diff import Difference, compare
from freeze_gate.evidence.models import Pair
from freeze_gate.github.client import GitHubClient
from freeze_gate.github.labels import add_label
from freeze_gate.github.refresh_tickets import RefreshTickets, Ticket, TicketOutcome, TicketResult
from freeze_gate.report.context import ReportContext
from freeze_gate.report.published import PublishReport, TicketLine
from freeze_gate.report.refresh_ticket import (
    Drift,
    add_sighting,
    format_marker,
    format_title,
    render_sighting,
    render_ticket,
)
from freeze_gate.verdict.models import Case
from freeze_gate.verdict.plan import Plan


class PublishResult(NamedTuple):
    """What was published: for the summary, and the first ticket's number and URL for the outputs."""

    report: PublishReport
    issue_number: int | None = None
    issue_url: str | None = None


class Publisher(NamedTuple):
    """Publishes the plan of one run: the label and the refresh tickets."""

    client: GitHubClient
    inputs: Inputs
    report_context: ReportContext
    artifacts: ArtifactCache

    def publish(self, plan: Plan, case: Case, target: LabelTarget) -> PublishResult:
        """Publish the plan, or only report it in a dry run. A failure becomes a warning."""
        label = self._publish_label(plan, target)
        pairs = [case.pairs[index] for index in plan.tickets]
        tickets = [self._ticket(pair, case, target) for pair in pairs]
        if self.inputs.dry_run:
            published = tuple(TicketResult(ticket, TicketOutcome.PLANNED) for ticket in tickets)
        else:
            refresh_tickets = RefreshTickets(self.client, self.inputs.ticket_author, self.inputs.refresh_label)
            published = refresh_tickets.publish(tickets)
        ticket_lines = [
            TicketLine(str(pair.fixture_id), ticket.outcome, ticket.number)
            for pair, ticket in zip(pairs, published, strict=True)
        ]
        ticket_warnings = [warning for ticket in published for warning in ticket.warnings]
        result = PublishResult(
            label._replace(
                tickets=tuple(ticket_lines),
                over_cap=plan.over_cap,
                warnings=(*label.warnings, *ticket_warnings),
                notes=(*label.notes, *plan.notes),
            )
        )
        for ticket in published:
            if ticket.number is not None:
                return result._replace(issue_number=ticket.number, issue_url=ticket.url)
        return result

    def _publish_label(self, plan: Plan, target: LabelTarget) -> PublishReport:
        if not plan.label:
            return PublishReport()
        if target.number is None or target.reason_not_labelled:
            message = f"the label was not added: {target.reason_not_labelled}"
            return PublishReport(warnings=(message,)) if target.lookup_failed else PublishReport(notes=(message,))
        try:
            if not self.inputs.dry_run:
                add_label(self.client, target.number, self.inputs.freeze_label)
        except NoVerdictError as error:
            return PublishReport(warnings=(f"the label was not added: {error}",))
        return PublishReport(target.number)

    def _ticket(self, pair: Pair, case: Case, target: LabelTarget) -> Ticket:
        drift = Drift(pair, case.today, target.number, self._difference(pair))
        return Ticket(
            format_marker(drift.fixture_id),
            format_title(drift.fixture_id),
            lambda previous_ticket: render_ticket(drift, self.report_context, previous_ticket),
            lambda body: add_sighting(body, render_sighting(drift, self.report_context)),
        )

    def _difference(self, pair: Pair) -> Difference | None:
        """Open both pins again and compare them. If that fails, the ticket goes without."""
        try:
            with ExitStack() as stack, archive_errors("a pinned file"):
                pins = []
                for side in (pair.first, pair.rerun):
                    if side.source.artifact is None or side.record is None:
                        return None
                    tree = stack.enter_context(open_archive(self.artifacts.path(side.source.artifact)))
                    pins.append(stack.enter_context(open_pin(tree, side.record)))
                return compare(*pins)
        except ArchiveError:
            return None
