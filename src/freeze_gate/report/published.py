"""The section of the summary that says what was posted to GitHub. It is written after posting."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from freeze_gate.evidence.abbreviation import abbreviate
from freeze_gate.report.context import ReportContext
from freeze_gate.report.escape import code_span, format_message
from freeze_gate.report.markdown import format_list, join_within_budget

MAX_BYTES: Final = 90 * 1024
"""Together with the rest of the summary this stays under 900 KiB."""

_MAX_LISTED: Final = 100
_MAX_SENTENCE: Final = 1000  # characters of a warning, which may quote GitHub, or of a note

PLANNED: Final = "planned"
"""The outcome of a ticket in a dry run."""

_TICKET_LINES: Final = {
    "created": "ticket {number} opened for {fixture}",
    "updated": "ticket {number} updated for {fixture}",
    "unchanged": "ticket {number} for {fixture} needed no change",
    "left-alone": "ticket {number} for {fixture} was closed as not planned: it stays closed, and no new one was opened",
    "failed": "no ticket for {fixture}: opening or updating it failed",
    PLANNED: "would open or update the refresh ticket for {fixture}",
}


class TicketLine(NamedTuple):
    """The outcome of one fixture's ticket: a key of `_TICKET_LINES`, and the issue's number if it has one."""

    fixture_id: str
    outcome: str
    number: int | None = None


class PublishReport(NamedTuple):
    """What was posted, or would be posted in a dry run.

    `labelled_pull_request` is the pull request that has the freeze label now. `over_cap` are the drifted fixtures
    without a ticket, because there were too many in one run. `warnings` say what failed, `notes` what was skipped on
    purpose; both may quote untrusted text.
    """

    labelled_pull_request: int | None = None
    tickets: tuple[TicketLine, ...] = ()
    over_cap: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def render_published(report: PublishReport, context: ReportContext) -> str:
    """Return the section, at most `MAX_BYTES` long."""
    heading = "### Posted (dry run: nothing was posted)\n" if context.dry_run else "### Posted\n"
    lines = list(_lines(report, context))
    return join_within_budget(["", heading, format_list(lines, len(lines)) or "Nothing.\n"], MAX_BYTES)


def _lines(report: PublishReport, context: ReportContext) -> Iterator[str]:
    if report.labelled_pull_request is not None:
        label, pull_request = code_span(context.freeze_label), context.link_issue(report.labelled_pull_request)
        action = f"would add the label {label} to" if context.dry_run else f"label added: {label} on"
        yield f"{action} {pull_request}. It is a request; a label set with the default token starts no workflow."
    for ticket in report.tickets[:_MAX_LISTED]:
        number = "" if ticket.number is None else context.link_issue(ticket.number)
        yield _TICKET_LINES[ticket.outcome].format(number=number, fixture=code_span(ticket.fixture_id))
    if report.over_cap:
        names = ", ".join(abbreviate(report.over_cap, _MAX_LISTED, code_span))
        yield f"no ticket for these drifted fixtures, {len(report.over_cap)} over the limit of one run: {names}"
    for note in report.notes[:_MAX_LISTED]:
        yield format_message(note, _MAX_SENTENCE)
    for warning in report.warnings[:_MAX_LISTED]:
        yield f"**warning:** {format_message(warning, _MAX_SENTENCE)}"
