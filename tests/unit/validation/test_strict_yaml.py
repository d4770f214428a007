"""Tests of `strict_yaml` against PyYAML itself; what is refused stands in the table of policies."""

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.validation.strict_yaml import Scalar, YamlProblem, read_yaml

KEYS = st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True)
TEXTS = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=20)
VALUES = st.recursive(
    TEXTS, lambda each: st.lists(each, max_size=3) | st.dictionaries(KEYS, each, max_size=3), max_leaves=12
)


def words(value: Any) -> Any:
    """Take the words out of their wrapping."""
    if isinstance(value, Scalar):
        return value.text
    if isinstance(value, list):
        return [words(item) for item in value]
    return {key: words(item) for key, item in value.items()}


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_what_pyyaml_writes_is_read_back_as_words(value: dict[str, Any]) -> None:
    """Every way in which PyYAML writes texts, lists and mappings reads as what was written."""
    document = read_yaml(yaml.safe_dump(value, default_style='"').encode())
    if not any(problem.message.startswith("is nested") for problem in document.problems):
        assert (words(document.value), document.problems) == (value, [])


def test_every_value_knows_its_line() -> None:
    """Paths are those that problems use; a value that is missing has the line of what it is missing from."""
    document = read_yaml(b"# first\na: 1\nb:\n  - c: 2\n    d:\n      - 3\n")
    assert [document.line_of(each) for each in ("a", "b", "b[0]", "b[0].c", "b[0].d", "b[0].d[0]")] == [
        2,
        3,
        4,
        4,
        5,
        6,
    ]
    assert [document.line_of(each) for each in ("", "x", "b[0].x", "b[7].x", "b[0].d[1]")] == [1, 1, 4, 3, 5]


def test_blank_is_told_from_quoted() -> None:
    """Nothing, `~` and `null` say nothing; in quotes they are words."""
    assert [Scalar(text).is_blank for text in ("", "~", "null", "no")] == [True, True, True, False]
    assert [Scalar(text, plain=False).is_blank for text in ("", "~", "null")] == [False, False, False]


def test_the_first_of_two_equal_keys_keeps_its_value() -> None:
    """The second is refused, and whatever is inside it is still looked at."""
    document = read_yaml(b"a: 1\na: !x 2\n")
    assert document.value == {"a": Scalar("1")}
    assert document.problems == [
        YamlProblem(2, "a", "is given twice, first on line 1; once is allowed"),
        YamlProblem(2, "a", "has a tag; none is allowed"),
    ]
