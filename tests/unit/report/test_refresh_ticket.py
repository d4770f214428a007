"""The refresh ticket: found by its marker, complete for whoever decides, updated between its markers alone."""

import io
import re
from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freeze_gate.evidence.diff import Difference, compare
from freeze_gate.evidence.models import Pair
from freeze_gate.report.refresh_ticket import (
    MAX_CHARACTERS,
    MAX_SIGHTINGS,
    Drift,
    add_sighting,
    format_marker,
    format_title,
    render_sighting,
    render_ticket,
)
from tests.builders.evidence import CONTEXT, TODAY, X, Y, make_side
from tests.support.github_markdown import hostile, render

FOUND = compare(io.BytesIO(b'{"a": 1, "x y": [1]}'), io.BytesIO(b'{"a": 2, "x y": [1, 2]}'))
START = "<!-- freeze-gate:sightings -->"
END = "<!-- /freeze-gate:sightings -->"
OUR_HTML = re.compile(r"(<!--[^<>]*-->\n?)+|<details>\n<summary>[A-Za-z ]+</summary>|</details>")


def drift(first: int = 1, *, pull_request: int | None = 12, found: Difference | None = FOUND) -> Drift:
    """Return a drift between one attempt and the next."""
    return Drift(Pair("sorted-patch", make_side(first), make_side(first + 1, pin=Y)), TODAY, pull_request, found)


def rows(text: str) -> list[str]:
    """Return the rows of a ticket's sightings."""
    return [line for line in text.splitlines() if line.startswith("| 2026-")]


def test_the_body_opens_with_the_marker_of_its_id_alone() -> None:
    """Ids of which one begins with the other have different markers, and no id can end the comment."""
    assert render_ticket(drift(), CONTEXT).startswith(format_marker("sorted-patch"))
    assert not format_marker("sample-10").startswith(format_marker("sample-1"))
    assert format_marker("--><img>").count("-->") == 1


@given(hostile())
def test_the_title_is_one_short_line(fixture_id: str) -> None:
    """GitHub refuses titles beyond 256 characters."""
    text = format_title(fixture_id)
    assert text.startswith("Refresh fixture: ")
    assert text.isprintable()
    assert len(text) <= 256
    assert format_title("sorted-patch") == "Refresh fixture: sorted-patch"


def test_all_that_is_needed_to_decide() -> None:
    """Runs and pull request linked, both digests, both transports, what differs, what to do."""
    text = render_ticket(drift(), CONTEXT)
    for fact in (
        "actions/runs/4242/attempts/1",
        "actions/runs/4242/attempts/2",
        "[#12](https://github.com/octo-org/widgets/issues/12)",
        f"`{X}`",
        f"`{Y}`",
        "| transport | ok | ok | same |",
        "[`freeze-gate-1`](https://github.com/octo-org/widgets/actions/runs/4242/artifacts/101) (first run)",
        "sizes: 20 bytes in the first run, 23 in the rerun",
        "at offset 6, counted from 0",
        "`/a`, `/*/1`",
        "freeze-gate pin --id sorted-patch --replace FILE",
        "freeze-gate pin --id sorted-patch-2 FILE",
        "`freeze-gate replay`",
    ):
        assert fact in text


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (None, "could not be compared"),
        (Difference((1, 2), 0), "at least one is not JSON"),
        (Difference((1, 2), 0, ()), "equal as JSON"),
        (Difference((1, 2), 0, ("",)), "the whole document"),
        (Difference((1, 2), 0, ("/a",), 7), "`/a` and 7 more"),
    ],
)
def test_what_differs(found: Difference | None, words: str) -> None:
    """Each state of knowledge has its own words."""
    assert words in render_ticket(drift(found=found), CONTEXT)


def test_nobody_refreshes_to_a_cut_off_answer_unwarned() -> None:
    """Where a side's pin did not arrive whole, the ticket says so in bold."""
    rerun = make_side(2, pin=Y, transport=False)
    assert rerun.record
    cut = rerun._replace(record=rerun.record._replace(transport=rerun.record.transport._replace(pin_complete=False)))
    assert "**Do not use the bytes of the rerun:**" in render_ticket(
        Drift(Pair("a", make_side(1), cut), TODAY), CONTEXT
    )
    assert "Do not use" not in render_ticket(drift(), CONTEXT)


def test_a_git_lfs_pointer_is_called_what_it_is() -> None:
    """Whoever chooses the right bytes learns that one side has only a pointer, and how to get the content."""
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
    text = render_ticket(drift(found=compare(io.BytesIO(b"{}"), io.BytesIO(pointer))), CONTEXT)
    assert "**Do not use the bytes of the rerun:** they are a Git LFS pointer" in text
    assert "`lfs: true`" in text
    assert "LFS" not in render_ticket(drift(found=compare(io.BytesIO(b"{}"), io.BytesIO(pointer + b"x"))), CONTEXT)


def test_a_successor_links_to_the_ticket_before_it() -> None:
    """One that was closed as completed is not reopened."""
    assert "[#7](https://github.com/octo-org/widgets/issues/7), was closed as completed" in render_ticket(
        drift(), CONTEXT, previous_ticket=7
    )
    assert "closed as completed; it" not in render_ticket(drift(), CONTEXT)


def test_a_new_sighting_stands_on_top() -> None:
    """Both run pairs are there, the newer one first, and the rest of the body is as it was."""
    before = render_ticket(drift(1), CONTEXT)
    after = add_sighting(before, render_sighting(drift(2, pull_request=None), CONTEXT))
    assert after is not None
    assert [row.split(" | ")[1] for row in rows(after)] == [
        "none",
        "[#12](https://github.com/octo-org/widgets/issues/12)",
    ]
    assert after.partition(START)[0] == before.partition(START)[0]
    assert render(after).blocks.count("table_open") == 2
    assert render(after).blocks.count("tr_open") == render(before).blocks.count("tr_open") + 1


def test_the_same_run_pair_is_not_entered_twice() -> None:
    """Not by the gate that is run again, not on another day, and not from the bottom of the table."""
    text = render_ticket(drift(1), CONTEXT)
    again = render_sighting(drift(1)._replace(today=date(2026, 12, 1)), CONTEXT)
    assert add_sighting(text, again) == text
    grown = add_sighting(text, render_sighting(drift(2), CONTEXT))
    assert grown
    assert add_sighting(grown, again) == grown


def test_twenty_sightings_are_kept() -> None:
    """The oldest go."""
    text: str | None = render_ticket(drift(1), CONTEXT)
    for attempt in range(2, 40):
        assert text
        text = add_sighting(text, render_sighting(drift(attempt), CONTEXT))
    assert text
    assert len(rows(text)) == MAX_SIGHTINGS
    assert "attempts/39" in rows(text)[0]
    assert "attempts/20" in rows(text)[-1]


@given(st.text("ab|<>#\n\r`- ", max_size=60), st.text("ab|<>#\n\r`- ", max_size=60))
def test_what_a_person_wrote_around_the_table_stays(above: str, below: str) -> None:
    """Only the part between the markers changes, with Windows line ends too."""
    text = render_ticket(drift(1), CONTEXT)
    head, _, rest = text.partition(START)
    edited = f"{head}{above}{START}{rest}{below}"
    for given_text in (edited, edited.replace("\n", "\r\n")):
        after = add_sighting(given_text, render_sighting(drift(2), CONTEXT))
        assert after
        assert after.partition(START)[0] == given_text.partition(START)[0]
        assert after.partition(END)[2] == given_text.partition(END)[2]
        assert len(rows(after)) == 2


def test_what_a_person_wrote_into_the_table_does_no_harm() -> None:
    """Rows that are ours are kept, anything else between the markers goes: that part is said to be rewritten."""
    text = render_ticket(drift(1), CONTEXT).replace(END, f"a note\n| x | y |\n{END}")
    after = add_sighting(text, render_sighting(drift(2), CONTEXT))
    assert after
    assert len(rows(after)) == 2
    assert "a note" not in after


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace(START, ""),
        lambda text: text.replace(END, ""),
        lambda text: text.replace(START, "").replace(END, ""),
        lambda text: text + START,
        lambda text: text + END,
        lambda text: text + text,
        lambda text: text.replace(START, "\0").replace(END, START).replace("\0", END),
        lambda _text: "",
    ],
    ids=["no start", "no end", "neither", "second start", "second end", "doubled", "swapped", "empty"],
)
def test_a_body_whose_markers_are_not_as_we_left_them_is_not_touched(edit: Callable[[str], str]) -> None:
    """Nothing says which part is ours, so nothing is rewritten, and the caller is told."""
    assert add_sighting(edit(render_ticket(drift(1), CONTEXT)), render_sighting(drift(2), CONTEXT)) is None


def test_a_full_body_stays_as_it_is() -> None:
    """A person filled it nearly to GitHub's limit: no update is better than a refused one."""
    text = render_ticket(drift(1), CONTEXT) + "x" * MAX_CHARACTERS
    assert add_sighting(text, render_sighting(drift(2), CONTEXT)) == text


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(hostile(), hostile())
def test_nothing_that_a_stranger_wrote_is_more_than_text(text: str, more: str) -> None:
    """No link but ours, no image, no mention, no HTML but our comments, and markers that are still ours alone."""
    first = make_side(1)
    assert first.record
    assert first.source.artifact
    record = first.record._replace(
        run=first.record.run._replace(job=text),
        sampler=first.record.sampler._replace(model=more),
        transport=first.record.transport._replace(checks=first.record.transport.checks._replace(ends_with=text)),
    )
    artifact = first.source.artifact._replace(name=more, digest=text)
    evil = Pair(
        more, first._replace(record=record, source=first.source._replace(artifact=artifact)), make_side(2, pin=Y)
    )
    ticket = render_ticket(Drift(evil, TODAY, 12, FOUND), CONTEXT)
    rendered = render(ticket)
    assert all(address.startswith("https://github.com/octo-org/widgets/") for address in rendered.links)
    assert all(OUR_HTML.fullmatch(html.strip()) for html in rendered.html)
    assert (rendered.images, rendered.by_itself) == ((), ())
    assert rendered.blocks.count("heading_open") == 4
    assert add_sighting(ticket, render_sighting(drift(2), CONTEXT)) is not None


def test_it_is_small_whatever_the_evidence_holds() -> None:
    """Two megabytes in every field, twenty sightings, and still below what GitHub takes."""
    huge = "<@#`|$&" * 300_000
    first, rerun = make_side(1), make_side(2, pin=Y)
    assert first.record
    record = first.record._replace(
        run=first.record.run._replace(job=huge), sampler=first.record.sampler._replace(model=huge)
    )
    evil = Pair(huge, first._replace(record=record, source=first.source._replace(artifact=None, label=huge)), rerun)
    text: str | None = render_ticket(Drift(evil, TODAY, 12, Difference((1, 2), 0, ("/" + "k" * 40,) * 20)), CONTEXT)
    for attempt in range(2, 30):
        assert text
        text = add_sighting(text, render_sighting(drift(attempt), CONTEXT))
    assert text
    assert len(text) < MAX_CHARACTERS
    assert "### What to do" in text
