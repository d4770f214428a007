"""The refresh ticket: one issue for each drifted fixture id, with what a person needs to choose the right bytes.

The body starts with a marker, by which the ticket is found again. Two further markers enclose the table of sightings.
An update rewrites only that table; everything else that a person wrote stays.
"""

import hashlib
import re
from collections.abc import Iterator
from datetime import date
from typing import Final, NamedTuple

from freeze_gate.evidence.diff import Difference
from freeze_gate.evidence.models import Pair, Side
from freeze_gate.report.comparison import format_number, link_artifact, render_comparison, render_facts, shorten_digest
from freeze_gate.report.context import ReportContext
from freeze_gate.report.escape import code_block, code_span, escape_line
from freeze_gate.report.markdown import format_details, format_list, format_table, join_within_budget
from freeze_gate.report.outputs import MISSING

MAX_CHARACTERS: Final = 59_000
"""GitHub refuses a body of more than 65,536; this leaves a person room to add something."""

MAX_SIGHTINGS: Final = 20

_START: Final = "<!-- freeze-gate:sightings -->"
_END: Final = "<!-- /freeze-gate:sightings -->"
_ROW: Final = re.compile(r"\| .{1,2000} (<!-- [0-9a-f]{16} -->) \|")
_HEAD: Final = ("seen (UTC)", "pull request", "first run", "rerun")


class Drift(NamedTuple):
    """One drifted fixture: its pair, the UTC date, the pull request, and how the bytes differ (None: unknown)."""

    pair: Pair
    today: date
    pull_request: int | None = None
    difference: Difference | None = None

    @property
    def fixture_id(self) -> str:
        """The fixture id of the pair."""
        return self.pair.fixture_id or MISSING


def format_marker(fixture_id: str) -> str:
    """Return the first line of the ticket's body. The id is hashed, because it could contain the end of a comment."""
    return f"<!-- freeze-gate:ticket/1 {hashlib.sha256(fixture_id.encode('utf-8', 'replace')).hexdigest()} -->"


def format_title(fixture_id: str) -> str:
    """Return the title of the ticket."""
    return f"Refresh fixture: {escape_line(fixture_id, 200)}"


def render_ticket(drift: Drift, context: ReportContext, previous_ticket: int | None = None) -> str:
    """Return the body of a new ticket, at most `MAX_CHARACTERS` long.

    `previous_ticket` is the number of the fixture's last ticket, which was closed as completed.
    """
    sightings = _sightings_table([render_sighting(drift, context)])
    blocks = join_within_budget(_blocks(drift, context, previous_ticket), MAX_CHARACTERS - len(sightings) - 1)
    return f"{blocks}\n{sightings}\n"


def render_sighting(drift: Drift, context: ReportContext) -> str:
    """Return the table row of this pair of runs. A comment in it is the pair's key, so that no pair is added twice."""
    first, rerun = drift.pair.first, drift.pair.rerun
    cells = (
        str(drift.today),
        "none" if drift.pull_request is None else context.link_issue(drift.pull_request),
        f"{context.link_run(first)}: {_digest(first)}",
        f"{context.link_run(rerun)}: {_digest(rerun)} <!-- {_run_pair_key(first, rerun)} -->",
    )
    return f"| {' | '.join(cells)} |"


def _run_pair_key(first: Side, rerun: Side) -> str:
    facts: list[int | None] = []
    for side in (first, rerun):
        facts += [side.run_id, side.attempt, side.source.artifact.id if side.source.artifact else None]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def _digest(side: Side) -> str:
    return shorten_digest(side.pin.sha256) if side.pin else MISSING


def add_sighting(body: str, row: str) -> str | None:
    """Return a ticket's body with a row added on top of its table, which keeps the newest `MAX_SIGHTINGS` rows.

    Returns the same text if the table has a row of this pair of runs, or if the body is full. Returns None if the
    markers are missing, doubled or out of order: then it is unknown which part may be rewritten.
    """
    before, start, rest = body.partition(_START)
    table, end, after = rest.partition(_END)
    if not start or not end or _START in rest or _END in before or _END in after:
        return None
    rows = [match for line in table.splitlines() if (match := _ROW.fullmatch(line.strip()))]
    new = _ROW.fullmatch(row)
    if new is None or new[1] in [match[1] for match in rows]:
        return body
    newest = [row, *(match[0] for match in rows)][:MAX_SIGHTINGS]
    merged = before + _sightings_table(newest) + after
    return merged if len(merged) <= MAX_CHARACTERS else body


def _sightings_table(rows: list[str]) -> str:
    head = format_table(_HEAD, ()).rstrip()
    return "\n".join([_START, head, *rows, _END])


def _blocks(drift: Drift, context: ReportContext, previous_ticket: int | None) -> Iterator[str]:
    where = "" if drift.pull_request is None else f", first on {context.link_issue(drift.pull_request)}"
    yield (
        f"{format_marker(drift.fixture_id)}\nTwo runs checked different bytes under the fixture id "
        f"{code_span(drift.fixture_id)}{where}. Their oracles cannot be compared, so nothing is known about the patch "
        "until somebody decides which bytes are right.\n"
    )
    if previous_ticket is not None:
        yield (
            f"The last ticket for this fixture, {context.link_issue(previous_ticket)}, was closed as completed. The "
            "fixture has drifted again.\n"
        )
    yield from _warnings(drift)
    yield _what_to_do(drift, context)
    yield f"### The two runs\n\n{render_comparison(drift.pair, 'digests-differ', context)}"
    yield format_details("All recorded facts of the two runs", render_facts(drift.pair, context))
    yield f"### What differs\n\n{format_list(list(_difference_lines(drift.difference)))}"
    yield "### Sightings\n"


def _warnings(drift: Drift) -> Iterator[str]:
    """Yield why the bytes of a run must not become the fixture."""
    pointers = drift.difference.lfs_pointers if drift.difference else (False, False)
    for name, side, is_pointer in (
        ("first run", drift.pair.first, pointers[0]),
        ("rerun", drift.pair.rerun, pointers[1]),
    ):
        if side.record and side.record.transport.pin_complete is False:
            yield f"**Do not use the bytes of the {name}:** its answer was cut off.\n"
        if is_pointer:
            yield (
                f"**Do not use the bytes of the {name}:** they are a Git LFS pointer, not the content that it stands "
                "for. Set `lfs: true` on `actions/checkout` in the job that pins, or run `git lfs pull` first.\n"
            )


def _difference_lines(difference: Difference | None) -> Iterator[str]:
    if difference is None:
        yield "unknown: the contents could not be compared"
        return
    first, rerun = difference.sizes
    yield f"sizes: {format_number(first)} bytes in the first run, {format_number(rerun)} in the rerun"
    yield f"first different byte: at offset {format_number(difference.offset)}, counted from 0"
    if difference.pointers is None:
        yield "not compared as JSON: at least one is not JSON, or is over 1 MiB"
    elif not difference.pointers:
        yield "equal as JSON: only whitespace, the order of keys or the notation of values differs"
    else:
        names = ", ".join(code_span(pointer) if pointer else "the whole document" for pointer in difference.pointers)
        more = f" and {format_number(difference.omitted)} more" if difference.omitted else ""
        yield f"changed in the JSON: {names}{more}"


def _what_to_do(drift: Drift, context: ReportContext) -> str:
    pin = f"freeze-gate pin --id {escape_line(drift.fixture_id)}"
    artifacts = " or ".join(
        f"{link_artifact(side, context)} ({name})"
        for name, side in (("first run", drift.pair.first), ("rerun", drift.pair.rerun))
    )
    commands = code_block(f"{pin} --replace FILE\n{pin}-2 FILE")
    return (
        "### What to do\n\n1. Find out why the sample changed: another model, another request, a sampler that is not "
        "deterministic, or an answer that was cut off.\n2. Download the artifact with the right bytes: "
        f"{artifacts}. They are its file in `fixtures/` whose name starts with the digest in the table below.\n3. "
        "Refresh the fixture with the first command (`FILE` is that file), or give the new sample its own fixture id "
        f"with the second.\n\n{commands}\nTo test a patch on the first run's bytes meanwhile, let the rerun start "
        "with `freeze-gate replay`.\n\nClose this as completed when it is decided: the next drift opens a new "
        "ticket that links here. If you close it as not planned, it stays closed, and no other ticket is opened.\n"
    )
