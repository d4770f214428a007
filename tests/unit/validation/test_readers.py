"""The readers of mappings: typed values, or every problem at once with its address."""

from datetime import date
from typing import Any, Final, NamedTuple

import pytest

from freeze_gate.validation.readers import (
    MAX_SAFE_INTEGER,
    InvalidValue,
    ObjectReader,
    Problem,
    Reader,
    boolean,
    has_control_character,
    integer,
    iso_date,
    list_of,
    nullable,
    of_type,
    one_of,
    seconds,
    text,
)


class Inner(NamedTuple):
    """Something in something."""

    count: int | None = None


class Outer(NamedTuple):
    """Something."""

    name: str
    is_so: bool | None
    inner: Inner
    many: tuple[Inner, ...]


INNER: Final = ObjectReader(Inner, {"count": nullable(integer())}, null_as_empty=True)
OUTER: Final = ObjectReader(
    Outer,
    {"name": text(), "is_so": nullable(boolean), "inner": INNER, "many": list_of(INNER)},
    required=("name", "is_so"),
)


def read(reader: Reader[Any], value: Any) -> tuple[Any, list[str]]:
    """Return what a reader returns, and its problems in words."""
    try:
        return reader(value), []
    except InvalidValue as error:
        return None, [str(problem) for problem in error.problems]


def test_a_mapping_becomes_a_typed_value() -> None:
    """A detail may be absent or null: then everything in it is unknown."""
    fields = {"name": "x", "is_so": None, "many": [{"count": 1}, {}], "else": 5}
    assert read(OUTER, fields) == (Outer("x", None, Inner(), (Inner(1), Inner())), [])
    assert read(OUTER, {**fields, "inner": None}) == read(OUTER, fields)


def test_all_problems_are_named_at_once_with_their_paths() -> None:
    """However deep they are, and below whatever holds the whole."""
    fields = {"name": 1, "inner": {"count": True}, "many": [{}, {"count": "1"}, 7]}
    expected = [
        ("name", "must be a string"),
        ("is_so", "is required"),
        ("inner.count", "must be a whole number of at least 0"),
        ("many[1].count", "must be a whole number of at least 0"),
        ("many[2]", "must be an object"),
    ]
    assert read(OUTER, fields)[1] == [f"{path}: {message}" for path, message in expected]
    assert read(list_of(OUTER), [fields])[1] == [f"[0].{path}: {message}" for path, message in expected]
    assert read(list_of(list_of(integer())), [[], [1, None]])[1] == ["[1][1]: must be a whole number of at least 0"]


def test_the_message_of_an_invalid_value_has_all_problems() -> None:
    """A problem with the whole value has no path."""
    error = InvalidValue(Problem("", "must be a list"), Problem("a[0]", "must be a string"))
    assert str(error) == "must be a list; a[0]: must be a string"
    assert [problem.path for problem in error.problems_below("x")] == ["x", "x.a[0]"]


def test_valid_fields_are_returned_beside_the_problems_of_others() -> None:
    """So that a caller can compare the fields that could be read."""
    values, problems = OUTER.read_fields({"name": 5, "is_so": True, "many": []})
    assert values == {"is_so": True, "inner": Inner(), "many": ()}
    assert problems == [Problem("name", "must be a string")]


def test_unknown_keys_are_named_wherever_they_are() -> None:
    """They are not read, and somebody may have meant something by them."""
    given = {"name": "x", "odd": 1, "inner": {"count": 1, "odd": {"more": 1}}}
    assert OUTER.unknown_keys(given) == ["odd", "inner.odd"]
    assert OUTER.unknown_keys([]) == []


@pytest.mark.parametrize(
    ("reader", "good", "bad"),
    [
        (boolean, [True, False], [0, 1, "true", None, []]),
        (integer(), [0, 1, MAX_SAFE_INTEGER], [-1, MAX_SAFE_INTEGER + 1, True, 1.0, "1", None]),
        (integer(1, 3), [1, 3], [0, 4]),
        (seconds, [0, 0.5, 31_622_400], [-0.1, float("nan"), float("inf"), 10**400, True, "1", 31_622_401]),
        (text(), ["", "ü😀", "a b"], ["a\nb", "\x1b[0m", "\u2028", "\ud800", "\x85", 1, None, b"x"]),
        (text("x", r"[a-z]+"), ["abc"], ["", "aB", "abc\n", "a b"]),
        (one_of("a", "b"), ["a", "b"], ["", "A", None, ["a"], 1]),
        (
            iso_date,
            [],
            ["2026-2-3", "2026-02-30", "20260203", "2026-02-03T00:00", "\u0662026-02-03", "0000-01-01", None, 2026],
        ),
        (of_type(dict, "an object"), [{}], [[], None]),
        (nullable(boolean), [True, None], [0, ""]),
        (list_of(boolean), [], [None, {}, "true", (True,), [1], [None]]),
    ],
)
def test_readers_take_exactly_their_type(reader: Reader[Any], good: list[Any], bad: list[Any]) -> None:
    """Nothing is converted: neither a bool to a number nor a string to anything."""
    for value in good:
        assert read(reader, value) == (value, [])
    for value in bad:
        assert len(read(reader, value)[1]) == 1, value


def test_days_and_lists_become_values() -> None:
    """A day is a date, a list a tuple."""
    assert read(iso_date, "2026-12-10") == (date(2026, 12, 10), [])
    assert read(list_of(boolean), [True, False]) == ((True, False), [])


def test_a_forbidden_character_is_found_wherever_it_stands() -> None:
    """Control characters, line ends of any kind and lone surrogates; blanks and letters of any script are none."""
    forbidden = {*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0xD800, 0xE000)}
    for code in range(0x11000):
        assert has_control_character(f"a{chr(code)}") is (code in forbidden), hex(code)
