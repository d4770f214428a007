"""Escapes untrusted text for Markdown, for code blocks and for the runner's log.

Every value from a record, an artifact, an issue or an HTTP body is escaped here before a person or a runner sees it.
The result is one line of printable characters.
"""

import re
from typing import Final

DEFAULT_LIMIT: Final = 300
"""Maximum length of a value, in characters, unless its place allows more."""

CELL_CHARACTERS: Final = 28
"""Maximum length of an identifier on one line of a table cell: two such columns fit on a page of 760 pixels."""

_ZWSP: Final = "\u200b"  # invisible; it splits a word, so that GitHub recognizes no mention, reference or link
_PLAIN: Final = re.compile(r"[A-Za-z0-9._+=/:*…-]+")
_ADDRESS: Final = re.compile(r"https?://[A-Za-z0-9.:-]+(/[A-Za-z0-9._~/#?=&-]*)?")
_CODE: Final = re.compile(r"(?<!`)`([A-Za-z0-9._+=/:*…{}-][A-Za-z0-9._+=/:*…{} -]*)`(?!`)")
_TICKS: Final = re.compile("`+")
_SYNTAX: Final = re.compile(r"[\\`*_\[\]<>~]")
_BLOCK_START: Final = re.compile(r"^\d*[-+=.)#]")
# What GitHub turns into links by itself, and where to split it: https://, www., @name, #26, GH-26 and other PREFIX-26
# (GitHub's own and a repository's), GHSA-…, :emoji:, and 7 to 40 hexadecimal digits (a commit).
_AUTOLINK: Final = re.compile(
    r"(?<=[@#])|(?<=:)(?=\S)|(?<=www)(?=\.)|(?<=[a-z]-)(?=\d)|(?<=\bghsa)(?=-)", re.IGNORECASE
)
_HEX_RUN: Final = re.compile(r"(?i)[0-9a-f]{7,}")
_HEX_PART: Final = re.compile(r"(.{6})(?=.)")
_COMMAND: Final = re.compile(r":(?=:)|#(?=#\[)")


def escape_line(text: str, limit: int = DEFAULT_LIMIT) -> str:
    r"""Return the text on one line, at most `limit` characters long, with all that does not print made visible.

    Control characters, line ends, bidirectional and other format characters and lone surrogates become `\n`,
    `\u202e`, … Runs of spaces become one space; what is cut off becomes `…`.
    """
    shown = "".join(char if char.isprintable() else _visible(char) for char in text[: limit + 1])
    shown = " ".join(shown.split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _visible(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def escape_markdown(text: str, limit: int = DEFAULT_LIMIT) -> str:
    """Return the text for the running text or a table cell of GitHub's Markdown: it reads as written and does nothing.

    No emphasis, code, link, image, HTML, cell border or block comes of it, and no mention, reference or link by
    itself.
    """
    return _BLOCK_START.sub(_escaped, _escape_inline(escape_line(text, limit)))


def format_message(text: str, limit: int = 1000) -> str:
    """Return a message of this program as Markdown: what stands between two backticks becomes a code span.

    A message may quote a stranger. That does no harm: a code span of these characters is as inert as escaped text.
    """
    parts = _CODE.split(escape_line(text, limit))
    shown = "".join(f"`{part}`" if index % 2 else _escape_inline(part) for index, part in enumerate(parts))
    return _BLOCK_START.sub(_escaped, shown)


def _escape_inline(shown: str) -> str:
    shown = _HEX_RUN.sub(lambda run: _HEX_PART.sub(rf"\1{_ZWSP}", run[0]), shown)
    shown = _AUTOLINK.sub(_ZWSP, shown)
    shown = _SYNTAX.sub(_escaped, shown.replace("&", "&amp;"))
    # A backslash does not stop GitHub from splitting a table cell, or from rendering mathematics.
    return shown.replace("|", "&#124;").replace("$", "&#36;")


def _escaped(found: re.Match[str]) -> str:
    return f"{found[0][:-1]}\\{found[0][-1]}"


def code_span(text: str, limit: int = DEFAULT_LIMIT) -> str:
    """Return an identifier, a path or a digest as a code span; text of any other kind as `escape_markdown` does."""
    return f"`{text}`" if len(text) <= limit and _PLAIN.fullmatch(text) else escape_markdown(text, limit)


def short_code(text: str) -> str:
    """Return an identifier for a table cell, cut to one line; text of any other kind is cut further: it may be wide."""
    shown = escape_line(text, CELL_CHARACTERS)
    return f"`{shown}`" if _PLAIN.fullmatch(shown) else escape_markdown(text, CELL_CHARACTERS // 2)


def code_cell(text: str) -> str:
    """Return an identifier for a table cell, in several lines if it is long: a code span does not wrap by itself."""
    if not _PLAIN.fullmatch(text):
        return short_code(text)
    return "<br>".join(
        f"`{text[start : start + CELL_CHARACTERS]}`"
        for start in range(0, min(len(text), DEFAULT_LIMIT), CELL_CHARACTERS)
    )


def markdown_link(words: str, address: str | None) -> str:
    """Return a link under words that are Markdown already; the words alone where the address is none, or an odd one."""
    return f"[{words}]({address})" if address and _ADDRESS.fullmatch(address) else words


def code_block(body: str, language: str = "") -> str:
    """Return lines in a fenced block that nothing in them can close: its fence is longer than any run in the body."""
    ticks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(body)), default=0))
    return f"{ticks}{language}\n{body.rstrip()}\n{ticks}\n"


def escape_log(text: str, limit: int = 1000) -> str:
    """Return the text for the runner's log, which reads `::command::` at a line's start and `##[command]` anywhere."""
    return _COMMAND.sub(lambda found: found[0] + " ", escape_line(text, limit))


def encode_command_data(text: str) -> str:
    """Encode the message of a workflow command, the way the runner decodes it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def encode_command_property(text: str) -> str:
    """Encode a property of a workflow command, the way the runner decodes it."""
    return encode_command_data(text).replace(":", "%3A").replace(",", "%2C")


def format_annotation(level: str, message: str, title: str = "") -> str:
    """Return one `::notice`, `::warning` or `::error` line, without its line end. GitHub cuts a message at 4 KiB."""
    properties = f" title={encode_command_property(escape_line(title, 200))}" if title else ""
    return f"::{level}{properties}::{encode_command_data(escape_log(message, 3000))}"
