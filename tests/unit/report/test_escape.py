"""A stranger's text is shown as it reads, and does nothing."""

import re
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.report.escape import (
    code_block,
    code_cell,
    code_span,
    encode_command_data,
    encode_command_property,
    escape_line,
    escape_log,
    escape_markdown,
    format_annotation,
    format_message,
    markdown_link,
)
from tests.support.github_markdown import hostile, render

ZWSP = "\u200b"


@given(hostile(), st.integers(1, 400))
def test_one_line_is_one_line_of_printable_characters_within_its_limit(text: str, limit: int) -> None:
    """Whatever came in, what comes out prints, has no line end and is no longer than its limit."""
    shown = escape_line(text, limit)
    assert shown.isprintable()
    assert len(shown) <= limit
    assert shown == shown.strip()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", r"a\nb"),
        ("a\r\x00b", r"a\r\x00b"),
        ("\u202eevil", r"\u202eevil"),
        ("a\u2028b", r"a\u2028b"),
        ("\ud800", r"\ud800"),
        ("a   b", "a b"),
        ("grün 漢字", "grün 漢字"),
        ("x" * 400, "x" * 299 + "…"),
    ],
)
def test_what_does_not_print_is_made_visible(text: str, shown: str) -> None:
    """Control and direction characters show as escapes, other scripts as they are, and a cut shows as an ellipsis."""
    assert escape_line(text) == shown


def test_two_megabytes_cost_no_more_than_the_limit() -> None:
    """A huge value is cut before anything looks at it."""
    assert len(escape_line("\u202e" * (2 << 20))) == 300


@given(hostile())
def test_markdown_reads_as_written(text: str) -> None:
    """Rendered, the text is what `escape_line` shows, but for the invisible characters that part its words."""
    assert render(escape_markdown(text)).words.replace(ZWSP, "") == escape_line(text)


@given(hostile())
def test_markdown_does_nothing(text: str) -> None:
    """It is one paragraph with no link, image or HTML in it, and nothing that GitHub links by itself."""
    rendered = render(escape_markdown(text))
    assert set(rendered.blocks) <= {"paragraph_open"}
    assert (rendered.links, rendered.images, rendered.html, rendered.by_itself) == ((), (), (), ())


@given(hostile(), hostile())
def test_markdown_stays_in_its_table_cell(left: str, right: str) -> None:
    """Two hostile cells side by side make a row of two cells, each with its own words."""
    rendered = render(f"| a | b |\n| --- | --- |\n| {escape_markdown(left)} | {code_span(right)} |\n")
    assert rendered.blocks.count("td_open") == 2
    assert rendered.words.replace(ZWSP, "") == "ab" + escape_line(left) + escape_line(right)


@given(hostile(), hostile())
def test_markdown_stays_in_its_link_and_its_emphasis(words: str, more: str) -> None:
    """Hostile words inside a link and inside bold text change neither where it leads nor where it ends."""
    rendered = render(f"**{escape_markdown(more)}x** [{escape_markdown(words)}x](https://github.com/a)")
    assert rendered.links == ("https://github.com/a",)
    assert rendered.by_itself == ()


@pytest.mark.parametrize(
    "text",
    ["@octocat", "#26", "GH-26", "octo/r#26", "c" * 40, "0b5c1d9", "https://a.example", "www.a.example", "a@b.example"],
)
def test_what_github_links_by_itself_is_parted(text: str) -> None:
    """The check of this file sees each of these in plain text, and does not see it in escaped text."""
    assert render(text).by_itself or render(text).links
    assert not render(escape_markdown(text)).by_itself


def test_no_mathematics_is_begun() -> None:
    """GitHub reads mathematics between dollar signs before it looks at backslashes, so none is left as it is."""
    assert "$" not in escape_markdown("$x$ $$y$$")
    assert render(escape_markdown("$x$ $$y$$")).words == "$x$ $$y$$"


@given(hostile())
def test_code_is_a_code_span_or_escaped_text(text: str) -> None:
    """An identifier becomes a code span; anything else does as little as it does in `markdown`."""
    rendered = render(f"see {code_span(text)}")
    assert (rendered.links, rendered.images, rendered.html, rendered.by_itself) == ((), (), (), ())
    assert rendered.words.replace(ZWSP, "").removeprefix("see").strip() == escape_line(text)


@pytest.mark.parametrize("text", ["sorted-patch", "fixtures/0b5c.json", "sha256:0b5c", "/a/*/…"])
def test_an_identifier_can_be_copied(text: str) -> None:
    """Ids, paths, digests and pointers stand in a code span, with nothing invisible in them."""
    assert code_span(text) == f"`{text}`"


@given(hostile(), hostile())
def test_a_message_that_quotes_a_stranger_does_nothing(text: str, more: str) -> None:
    """Our own backticks make code, and a stranger's make nothing else."""
    rendered = render(f"**Why:** {format_message(f'{text} lacks `actions: read` and {more}')}")
    assert set(rendered.blocks) <= {"paragraph_open"}
    assert (rendered.links, rendered.images, rendered.html, rendered.by_itself) == ((), (), (), ())


def test_the_code_in_a_message_is_code() -> None:
    """A permission reads as in the documentation, and the words around it stay apart from it."""
    text = "the token lacks `actions: read`; use `{attempt}`"
    assert format_message(text) == text
    assert format_message("1. no (see `a`).") == "1\\. no (see `a`)."
    assert format_message("a ``b` c") == r"a \`\`b\` c"


@given(hostile())
def test_a_cell_has_no_long_word(text: str) -> None:
    """An identifier is parted into lines that fit, and reads the same."""
    rendered = render(f"| a | b |\n| --- | --- |\n| {code_cell(text)} | c |\n")
    assert rendered.blocks.count("td_open") == 2
    assert set(rendered.html) <= {"<br>"}
    assert (rendered.links, rendered.images, rendered.by_itself) == ((), (), ())


def test_a_long_identifier_is_parted_and_not_cut() -> None:
    """Ids of which one begins with the other stay apart in a table."""
    assert code_cell("a" * 60) == f"`{'a' * 28}`<br>`{'a' * 28}`<br>`aaaa`"
    assert code_cell("a" * 28) == f"`{'a' * 28}`"


@given(hostile(), hostile())
def test_nothing_closes_a_fence(one: str, other: str) -> None:
    """Whatever the lines hold, there is one fenced block, and all of them are in it."""
    body = f"{escape_line(one)}\n{escape_line(other)}"
    rendered = render(code_block(body))
    assert rendered.blocks == ("fence",)
    assert rendered.fences == (body.rstrip() + "\n",)


@pytest.mark.parametrize(
    "address", [None, "javascript:x", "https://a.example/) [b](c", "https://a.example/\n", "//a", "https://u@a/"]
)
def test_an_odd_address_is_no_link(address: str | None) -> None:
    """Only a plain http or https address becomes a link."""
    assert markdown_link("words", address) == "words"


@given(hostile())
def test_a_log_line_holds_no_command(text: str) -> None:
    """The runner trims a line and reads `::` at its start, and reads `##[` anywhere: neither is left."""
    line = escape_log(text)
    assert "::" not in line
    assert "##[" not in line
    assert line.isprintable()


def test_a_log_line_can_still_be_read() -> None:
    """Only what the runner would obey is parted."""
    assert escape_log("  ::add-mask::e ##[error] a:b #1") == ": :add-mask: :e # #[error] a:b #1"


@given(hostile(), hostile())
def test_an_annotation_is_one_command_with_its_own_title_and_message(message: str, title: str) -> None:
    """Read as the runner reads it, the line is the one command that was meant, whatever the words are."""
    line = format_annotation("warning", message, f"t{title}")
    found = re.fullmatch(r"::(\w+) title=([^:,]*)::(.*)", line)
    assert found
    assert found[1] == "warning"
    assert unquote(found[2], errors="surrogatepass") == escape_line(f"t{title}", 200)
    assert unquote(found[3]) == unquote(encode_command_data(escape_log(message)))
    assert "\n" not in line


def test_a_message_fits_what_github_shows() -> None:
    """GitHub cuts a message at 4,096 characters; ours ends before, with its ellipsis."""
    line = format_annotation("error", "x" * 9000)
    assert line.startswith("::error::xxx")
    assert line.endswith("x…")
    assert len(line) < 4096


@pytest.mark.parametrize(
    ("text", "data", "in_property"),
    [
        ("a%b", "a%25b", "a%25b"),
        ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"),
        ("a:b,c", "a:b,c", "a%3Ab%2Cc"),
        ("%0A", "%250A", "%250A"),
    ],
)
def test_commands_are_encoded_as_the_runner_decodes_them(text: str, data: str, in_property: str) -> None:
    """Percent signs first, then line ends; in a property also its separators."""
    assert encode_command_data(text) == data
    assert encode_command_property(text) == in_property
