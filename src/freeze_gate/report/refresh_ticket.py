"""The refresh ticket: one issue for each fixture id that drifted, with what a person needs to decide about it.

Its body opens with a marker by which it is found again. Between two further markers stands the table of sightings, the
only part that an update rewrites: what a person wrote around it stays.
"""

import hashlib
import re
from collections.abc import Iterator
from datetime import date
from typing import Final, NamedTuple

from freeze_gate.evidence.difference import Difference
from freeze_gate.evidence.side import Pair, Side
from freeze_gate.report.comparison import number, side_by_side
from freeze_gate.report.context import View
from freeze_gate.report.escape import code_block, code_span, escape_line
from freeze_gate.report.lines import MISSING
from freeze_gate.report.markdown import bullets, fit, table

MAX_CHARACTERS: Final = 59_000
"""GitHub refuses a body of more than 65,536; a person may want to add something."""

MAX_SIGHTINGS: Final = 20

_START: Final = "<!-- freeze-gate:sightings -->"
_END: Final = "<!-- /freeze-gate:sightings -->"
_ROW: Final = re.compile(r"\| .{1,2000} (<!-- [0-9a-f]{16} -->) \|")
_HEAD: Final = ("seen (UTC)", "pull request", "first run", "rerun", "first digest", "rerun digest")


class Drift(NamedTuple):
    """One fixture that drifted: its pair, the UTC date, where it was seen, and what differs where that is known."""

    pair: Pair
    today: date
    pull_request: int | None = None
    difference: Difference | None = None

    @property
    def fixture_id(self) -> str:
        """The id that the ticket is about."""
        return self.pair.fixture_id or MISSING


def marker(fixture_id: str) -> str:
    """Return what the body of this fixture's ticket opens with. A hash, since an id could hold the end of a comment."""
    return f"<!-- freeze-gate:ticket/1 {hashlib.sha256(fixture_id.encode('utf-8', 'replace')).hexdigest()} -->"


def title(fixture_id: str) -> str:
    """Return the title of this fixture's ticket."""
    return f"Refresh fixture: {escape_line(fixture_id, 200)}"


def body(drift: Drift, view: View, follows: int | None = None) -> str:
    """Return a new ticket's body, under `MAX_CHARACTERS`. `follows` is the ticket before it, closed as completed."""
    sightings = _sightings([sighting(drift, view)])
    return f"{fit(_blocks(drift, view, follows), MAX_CHARACTERS - len(sightings) - 1)}\n{sightings}\n"


def sighting(drift: Drift, view: View) -> str:
    """Return the row of this run pair. The comment in it is the pair's key: no pair is entered twice."""
    first, rerun = drift.pair.first, drift.pair.rerun
    facts = [fact for side in (first, rerun) for fact in (side.run_id, side.attempt, _artifact_id(side))]
    key = hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
    cells = (
        str(drift.today),
        "none" if drift.pull_request is None else view.issue(drift.pull_request),
        view.run(first),
        view.run(rerun),
        _digest(first),
        f"{_digest(rerun)} <!-- {key} -->",
    )
    return f"| {' | '.join(cells)} |"


def add_sighting(text: str, row: str) -> str | None:
    """Return a ticket's body with a row added on top, at most `MAX_SIGHTINGS` of them.

    The same text comes back where the row's run pair is there already, or where the body is full; None where the
    markers are gone, doubled or out of order, so that nothing says which part is ours.
    """
    before, start, rest = text.partition(_START)
    inside, end, after = rest.partition(_END)
    if not start or not end or _START in rest or _END in before or _END in after:
        return None
    rows = [found for line in inside.splitlines() if (found := _ROW.fullmatch(line.strip()))]
    new = _ROW.fullmatch(row)
    if new is None or new[1] in [found[1] for found in rows]:
        return text
    merged = before + _sightings([row, *(found[0] for found in rows)][:MAX_SIGHTINGS]) + after
    return merged if len(merged) <= MAX_CHARACTERS else text


def _sightings(rows: list[str]) -> str:
    return "\n".join([f"{_START}\n{table(_HEAD, ())}".rstrip(), *rows, _END])


def _artifact_id(side: Side) -> int | None:
    return side.source.artifact.id if side.source.artifact else None


def _digest(side: Side) -> str:
    return code_span(side.pin.sha256 if side.pin else MISSING)


def _blocks(drift: Drift, view: View, follows: int | None) -> Iterator[str]:
    where = "" if drift.pull_request is None else f", first on {view.issue(drift.pull_request)}"
    yield (
        f"{marker(drift.fixture_id)}\nTwo runs checked different bytes under the fixture id "
        f"{code_span(drift.fixture_id)}{where}. Their oracles say nothing about each other, so nothing is known about "
        "the patch until somebody decides which bytes are right.\n"
    )
    if follows is not None:
        yield f"The ticket before this one, {view.issue(follows)}, was closed as completed; it has drifted again.\n"
    yield f"### The two runs\n\n{side_by_side(drift.pair, view)}"
    for name, side in (("first run", drift.pair.first), ("rerun", drift.pair.rerun)):
        if side.record and side.record.transport.pin_complete is False:
            yield f"**Do not refresh to the bytes of the {name}:** its answer was cut off.\n"
    yield f"### What differs\n\n{bullets(list(_differences(drift.difference)))}"
    yield _what_to_do(drift)
    yield "### Sightings\n"


def _differences(found: Difference | None) -> Iterator[str]:
    if found is None:
        yield "not known: the contents could not be compared"
        return
    first, rerun = found.sizes
    yield f"sizes: {number(first)} bytes in the first run, {number(rerun)} in the rerun"
    yield f"first byte that differs: at offset {number(found.offset)}, counted from 0"
    if found.pointers is None:
        yield "not compared as JSON: not both are JSON of at most 1 MiB"
    elif not found.pointers:
        yield "as JSON they are equal: only the layout, the order of keys or the way of writing a value differs"
    else:
        named = ", ".join(code_span(pointer) if pointer else "the whole document" for pointer in found.pointers)
        yield f"changed in the JSON: {named}" + (f" and {number(found.more)} more" if found.more else "")


def _what_to_do(drift: Drift) -> str:
    pin = f"freeze-gate pin --id {escape_line(drift.fixture_id)}"
    commands = code_block(f"{pin} --replace FILE\n{pin}-2 FILE")
    return (
        "### What to do\n\n1. Find out why the sample changed: another model, another request, a sampler that is not "
        "deterministic, an answer that was cut off.\n2. Download the artifact whose bytes are right (`FILE` is its "
        "file below `fixtures/`). Refresh the fixture with the first command below, or give the new sample an id of "
        "its own with the second.\n3. To judge a patch on the first run's bytes, let its rerun start with "
        f"`freeze-gate replay`.\n\n{commands}\nClose this as completed once it is decided: the next drift opens a new "
        "ticket that links here. Closed as not planned it stays closed, and no other is opened.\n"
    )
