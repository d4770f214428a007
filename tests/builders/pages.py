"""Every page that the reports can write: a summary for each kind of verdict, a ticket, and what was posted."""

from freeze_gate.evidence.difference import Difference
from freeze_gate.report.published import PLANNED, Posted, Ticket, posted
from freeze_gate.report.refresh_ticket import Drift, body
from freeze_gate.report.summary import summary, unreached
from freeze_gate.verdict.evaluate import evaluate
from tests.builders.cases import CASES
from tests.builders.evidence import DRIFT, TODAY, VIEW


def make_pages() -> dict[str, str]:
    """Return every page by its name."""
    tickets = (Ticket("a", "created", 5), Ticket("b", "left-alone", 4))
    what = Posted(12, tickets, ("c", "d"), ("the label needs `issues: write`",))
    planned = Posted(12, (Ticket("a", PLANNED),))
    return {
        **{name: summary(given, evaluate(given), VIEW) for name, given in CASES.items()},
        "no-verdict": unreached("GitHub answered 503 for 120 seconds, asked to list the artifacts of run 4242", VIEW),
        "posted": posted(what, VIEW),
        "posted-dry-run": posted(planned, VIEW._replace(dry_run=True)),
        "ticket": body(Drift(DRIFT, TODAY, 12, Difference((1841, 1840), 97, ("/choices/0/*",), 3)), VIEW, follows=7),
    }
