"""What was posted is said after it was tried, in a section of its own."""

from hypothesis import given

from freeze_gate.report.published import MAX_BYTES, PLANNED, PublishReport, TicketLine, render_published
from tests.builders.evidence import CONTEXT
from tests.support.github_markdown import hostile, plain_words, render


def test_nothing_was_posted() -> None:
    """An empty section says so."""
    assert render_published(PublishReport(), CONTEXT) == "\n### Posted\n\nNothing.\n"


def test_the_label_says_that_it_starts_no_workflow() -> None:
    """The label is linked to its pull request, and is called a request."""
    said = render_published(PublishReport(labelled_pull_request=12), CONTEXT)
    assert "label added: `freeze-request` on [#12](https://github.com/octo-org/widgets/issues/12)" in said
    assert "It is a request; a label set with the default token starts no workflow." in said


def test_each_ticket_with_what_became_of_it() -> None:
    """Opened, updated, unchanged, closed by a person, failed: each is told apart, and linked where it has a number."""
    outcomes = ("created", "updated", "unchanged", "left-alone")
    tickets = [TicketLine(f"f-{name}", name, place) for place, name in enumerate(outcomes, start=1)]
    said = render_published(PublishReport(tickets=(*tickets, TicketLine("f-failed", "failed"))), CONTEXT)
    for place, word in enumerate(("opened", "updated", "needed no change", "closed as not planned"), start=1):
        line = next(line for line in said.splitlines() if f"issues/{place})" in line)
        assert word in line
    assert "no ticket for `f-failed`" in said


def test_fixtures_beyond_the_cap_are_named() -> None:
    """Nobody has to guess which drift has no ticket."""
    said = render_published(PublishReport(over_cap=tuple(f"f-{place}" for place in range(35))), CONTEXT)
    assert all(f"`f-{place}`" in said for place in range(35))


def test_a_dry_run_says_what_would_be_posted() -> None:
    """The same facts, in the conditional."""
    said = render_published(
        PublishReport(labelled_pull_request=12, tickets=(TicketLine("a", PLANNED),)), CONTEXT._replace(dry_run=True)
    )
    assert "### Posted (dry run: nothing was posted)" in said
    assert "would add the label `freeze-request` to [#12]" in said
    assert "would open or update the refresh ticket for `a`" in said


def test_what_was_left_out_on_purpose_is_said_before_what_failed() -> None:
    """A note is no warning."""
    said = render_published(
        PublishReport(notes=("tickets are switched off",), warnings=("the label was refused",)), CONTEXT
    )
    assert said.endswith("- tickets are switched off\n- **warning:** the label was refused\n")


@given(hostile(), hostile())
def test_a_warning_and_a_note_may_quote_a_stranger(text: str, more: str) -> None:
    """Each is one list item that does nothing."""
    rendered = render(render_published(PublishReport(warnings=(text,), notes=(f"x{more}",)), CONTEXT))
    assert rendered.blocks.count("list_item_open") == 2
    assert (rendered.links, rendered.images, rendered.html, rendered.by_itself) == ((), (), (), ())


def test_it_is_small_whatever_was_posted() -> None:
    """Thousands of names and warnings stay within the section's share."""
    names = tuple("n" * 120 + str(place) for place in range(9000))
    said = render_published(
        PublishReport(12, tuple(TicketLine(name, "failed") for name in names), names, names), CONTEXT
    )
    assert len(said.encode()) <= MAX_BYTES
    assert "8900 more" in plain_words(said)
