"""Every page that the reports can write: a summary for each kind of verdict, a ticket, and what was posted."""

from freeze_gate.evidence.diff import Difference
from freeze_gate.report.published import PLANNED, PublishReport, TicketLine, render_published
from freeze_gate.report.refresh_ticket import Drift, render_ticket
from freeze_gate.report.summary import render_no_verdict_summary, render_summary
from freeze_gate.verdict.evaluate import evaluate
from tests.builders.cases import CASES
from tests.builders.evidence import CONTEXT, DRIFT, TODAY


def make_pages() -> dict[str, str]:
    """Return every page by its name."""
    tickets = (TicketLine("a", "created", 5), TicketLine("b", "left-alone", 4))
    what = PublishReport(12, tickets, ("c", "d"), ("the label needs `issues: write`",))
    planned = PublishReport(12, (TicketLine("a", PLANNED),))
    return {
        **{name: render_summary(given, evaluate(given), CONTEXT) for name, given in CASES.items()},
        "no-verdict": render_no_verdict_summary(
            "GitHub answered 503 for 120 seconds, asked to list the artifacts of run 4242", CONTEXT
        ),
        "posted": render_published(what, CONTEXT),
        "posted-dry-run": render_published(planned, CONTEXT._replace(dry_run=True)),
        "ticket": render_ticket(
            Drift(DRIFT, TODAY, 12, Difference((1841, 1840), 97, ("/choices/0/*",), 3)), CONTEXT, previous_ticket=7
        ),
    }
