"""The section of the summary that says what was posted to GitHub, written after it was tried."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from freeze_gate.evidence.abbreviation import abbreviate
from freeze_gate.report.context import View
from freeze_gate.report.escape import code_span, escape_markdown
from freeze_gate.report.markdown import bullets, fit

MAX_BYTES: Final = 90 * 1024
"""With the summary before it, under the 900 KiB that are promised."""

_NAMED: Final = 100

PLANNED: Final = "planned"
"""The outcome of a ticket in a dry run."""

_WORDS: Final = {
    "created": "ticket {number} opened for {fixture}",
    "updated": "ticket {number} updated for {fixture}",
    "unchanged": "ticket {number} for {fixture} is left as it is",
    "left-alone": "ticket {number} for {fixture} was closed as not planned and stays closed; no other was opened",
    "failed": "no ticket for {fixture}: opening or updating it failed",
    PLANNED: "would open the refresh ticket for {fixture}, or update it",
}


class Ticket(NamedTuple):
    """What became of one fixture's ticket: the tracker's word or `PLANNED`, and the issue's number if it has one."""

    fixture_id: str
    outcome: str
    number: int | None = None


class Posted(NamedTuple):
    """What was posted. `labelled` is the pull request that carries the freeze label now (would, in a dry run).

    `over_cap` are the fixtures whose tickets were not opened because there were too many in one run. `warnings` say
    what failed, `notes` what was left out on purpose; both may quote a stranger.
    """

    labelled: int | None = None
    tickets: tuple[Ticket, ...] = ()
    over_cap: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def posted(what: Posted, view: View) -> str:
    """Return the section, under `MAX_BYTES`."""
    heading = "### Posted (dry run: nothing was)\n" if view.dry_run else "### Posted\n"
    lines = list(_lines(what, view))
    return fit(["", heading, bullets(lines, len(lines)) or "Nothing.\n"], MAX_BYTES)


def _lines(what: Posted, view: View) -> Iterator[str]:
    if what.labelled is not None:
        verb = "would add the label" if view.dry_run else "label added:"
        yield (
            f"{verb} {code_span(view.freeze_label)} {'to' if view.dry_run else 'on'} {view.issue(what.labelled)}."
            " It is a request, and set with the default token it starts no workflow."
        )
    for ticket in what.tickets[:_NAMED]:
        number = "" if ticket.number is None else view.issue(ticket.number)
        yield _WORDS[ticket.outcome].format(number=number, fixture=code_span(ticket.fixture_id))
    if what.over_cap:
        names = ", ".join(abbreviate(what.over_cap, _NAMED, code_span))
        yield f"no ticket for these drifted fixtures, {len(what.over_cap)} over the limit of one run: {names}"
    for note in what.notes[:_NAMED]:
        yield escape_markdown(note, 600)
    for warning in what.warnings[:_NAMED]:
        yield f"**warning:** {escape_markdown(warning, 600)}"
