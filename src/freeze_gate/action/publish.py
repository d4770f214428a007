"""Doing what the plan says, and saying what became of it. A failure here changes no verdict: it is a warning."""

from contextlib import ExitStack
from typing import NamedTuple

from freeze_gate.action.inputs import Inputs
from freeze_gate.action.pull_request import Target
from freeze_gate.artifacts.cache import ArtifactCache
from freeze_gate.errors import NoVerdictError
from freeze_gate.evidence.archive import ArchiveError, open_tree
from freeze_gate.evidence.bundle import open_pin
from freeze_gate.evidence.difference import Difference, difference
from freeze_gate.evidence.side import Pair
from freeze_gate.evidence.tree import reading
from freeze_gate.github.http import Api
from freeze_gate.github.labels import add_label
from freeze_gate.github.tickets import Posted as TicketPosted
from freeze_gate.github.tickets import Ticket, Tracker
from freeze_gate.report import published as report
from freeze_gate.report import refresh_ticket as text
from freeze_gate.report.context import View
from freeze_gate.verdict.models import Case
from freeze_gate.verdict.plan import Plan


class Post(NamedTuple):
    """What was posted: for the summary, and the first ticket's number and address for the outputs."""

    report: report.Posted
    issue_number: int | None = None
    issue_url: str | None = None


class Poster(NamedTuple):
    """Posts for one run."""

    api: Api
    inputs: Inputs
    view: View
    artifacts: ArtifactCache

    def post(self, plan: Plan, case: Case, target: Target) -> Post:
        """Post what the plan says, or in a dry run only say it."""
        label = self._label(plan, target)
        tickets = self._tickets(plan, case, target)
        told = label._replace(
            tickets=tuple(
                report.Ticket(str(pair.fixture_id), posted.outcome, posted.number) for pair, posted in tickets
            ),
            over_cap=plan.over_cap,
            warnings=(*label.warnings, *(words for _, posted in tickets for words in posted.warnings)),
            notes=(*label.notes, *plan.notes),
        )
        first = next((posted for _, posted in tickets if posted.number is not None), None)
        return Post(told, first and first.number, first and first.url)

    def _label(self, plan: Plan, target: Target) -> report.Posted:
        if not plan.label:
            return report.Posted()
        if target.number is None or target.obstacle:
            words = (f"the label was not added: {target.obstacle}",)
            return report.Posted(warnings=words) if target.failed else report.Posted(notes=words)
        try:
            if not self.inputs.dry_run:
                add_label(self.api, target.number, self.inputs.freeze_label)
        except NoVerdictError as error:
            return report.Posted(warnings=(f"the label was not added: {error}",))
        return report.Posted(target.number)

    def _tickets(self, plan: Plan, case: Case, target: Target) -> list[tuple[Pair, TicketPosted]]:
        pairs = [case.pairs[place] for place in plan.tickets]
        tickets = [self._ticket(pair, case, target) for pair in pairs]
        if self.inputs.dry_run:
            return [(pair, TicketPosted(ticket, report.PLANNED)) for pair, ticket in zip(pairs, tickets, strict=True)]
        tracker = Tracker(self.api, self.inputs.ticket_author, self.inputs.refresh_label)
        return list(zip(pairs, tracker.post(tickets), strict=True))

    def _ticket(self, pair: Pair, case: Case, target: Target) -> Ticket:
        drift = text.Drift(pair, case.today, target.number, self._difference(pair))
        name = drift.fixture_id
        return Ticket(
            text.marker(name),
            text.title(name),
            lambda follows: text.body(drift, self.view, follows),
            lambda body: text.add_sighting(body, text.sighting(drift, self.view)),
        )

    def _difference(self, pair: Pair) -> Difference | None:
        """Open both pins once more and compare them; None where that fails: the ticket is worth having without."""
        try:
            with ExitStack() as stack, reading("a pinned file"):
                pins = []
                for side in (pair.first, pair.rerun):
                    if side.source.artifact is None or side.record is None:
                        return None
                    tree = stack.enter_context(open_tree(self.artifacts.path(side.source.artifact)))
                    pins.append(stack.enter_context(open_pin(tree, side.record)))
                return difference(*pins)
        except ArchiveError:
            return None
