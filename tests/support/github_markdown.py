"""What GitHub would make of a text: its Markdown rendered, and what GitHub links in it by itself."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

_RENDERER: Final = MarkdownIt("gfm-like")
assert _RENDERER.linkify is not None
_RENDERER.linkify.set({"fuzzy_link": False}).add("//", None)  # it links example.com and //example.com, GitHub does not

_BY_ITSELF: Final = re.compile(
    r"@[a-z0-9]|#\d|\b(gh|cve)-\d|\bghsa-|\bwww\.|[a-z]://|:[a-z0-9_+-]+:|(?<![a-z0-9])[0-9a-f]{7,40}(?![a-z0-9])",
    re.IGNORECASE,
)


class Rendered(NamedTuple):
    """What came of a text. `by_itself` is what GitHub would link or replace in its words."""

    links: tuple[str, ...]
    images: tuple[str, ...]
    html: tuple[str, ...]
    fences: tuple[str, ...]
    blocks: tuple[str, ...]
    words: str
    by_itself: tuple[str, ...]


def render(text: str) -> Rendered:
    """Render a text as GitHub's Markdown."""
    tokens = list(_flat(_RENDERER.parse(text)))
    words = [token.content if token.type != "softbreak" else "\n" for token in tokens if token.type in _WORDS]
    return Rendered(
        links=tuple(str(token.attrs["href"]) for token in tokens if token.type == "link_open"),
        images=tuple(str(token.attrs["src"]) for token in tokens if token.type == "image"),
        html=tuple(token.content for token in tokens if token.type in {"html_block", "html_inline"}),
        fences=tuple(token.content for token in tokens if token.type in {"fence", "code_block"}),
        blocks=tuple(token.type for token in tokens if token.block and token.nesting >= 0 and token.type != "inline"),
        words="".join(words),
        by_itself=tuple(found[0] for found in _BY_ITSELF.finditer(" ".join(_linkable(tokens)))),
    )


_WORDS: Final = {"text", "text_special", "code_inline", "softbreak"}


def _flat(tokens: Iterable[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _flat(token.children or ())


def _linkable(tokens: Iterable[Token]) -> Iterator[str]:
    """Return the words that GitHub looks for references in: neither code nor a link's own."""
    inside, run = 0, ""
    for token in tokens:
        inside += token.type == "link_open"
        inside -= token.type == "link_close"
        if token.type in {"text", "text_special"} and not inside:
            run += token.content
        elif run:
            yield run
            run = ""
    yield run


_TRAPS: Final = (
    *(
        "`",
        "```",
        "~~~",
        "|",
        "\\",
        "\n",
        "\r",
        "\r\n",
        "\t",
        "    ",
        " ",
        "*",
        "_",
        "**",
        "~~",
        "<",
        ">",
        "&",
        "$",
        "$$",
    ),
    *("# ", "- ", "+ ", "1. ", "1) ", "> ", "===", "---", "[", "](", ")", "![", "[^1]", ":--", "|-|-|", "a", "0", "."),
    *("<img src=x onerror=y>", "<b>", "<!--", "-->", "<http://evil.example>", "[a](http://evil.example)"),
    *(
        "![a](http://evil.example/a.png)",
        "https://evil.example/",
        "http:",
        "//",
        "www.evil.example",
        "ftp://evil.example",
    ),
    *(
        "a@evil.example",
        "mailto:a@evil.example",
        "@octocat",
        "@octo-org/team",
        "&#64;octocat",
        "#26",
        "GH-26",
        "octo/r#26",
    ),
    *("octo/r@", "c" * 40, "0b5c1d9", "CVE-2026-1234", "GHSA-aaaa-bbbb-cccc", "JIRA-1", ":smile:", ":octocat:"),
    *("::add-mask::e", "::set-output name=freeze_allowed::true", "##[error]", "##[add-mask]", "::", "%0A", "%25"),
    *(
        "\nfreeze_allowed=true\n",
        "freeze_allowed=true",
        "\u202e",
        "\u2028",
        "\u200b",
        "\x00",
        "\x1b[31m",
        "\x85",
        "\ud800",
    ),
)


def hostile() -> st.SearchStrategy[str]:
    """Return texts that a stranger would write to be more than text."""
    return st.lists(st.one_of(st.sampled_from(_TRAPS), st.text(max_size=3)), max_size=12).map("".join)


def plain_words(text: str) -> str:
    """Return the words of a text without the invisible characters that part them."""
    return render(text).words.replace("\u200b", "")
