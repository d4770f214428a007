"""Readers of values that a stranger wrote: a typed value comes out, or everything that is wrong with its path.

A reader takes a decoded value and returns it as its type, or raises `InvalidValue`. The readers of objects and lists
read all their items before they raise, so that one pass names every problem.
"""

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import date
from typing import Any, Final, Generic, NamedTuple, TypeVar

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""The largest integer that every JSON reader keeps exact (RFC 8259, section 6)."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

CONTROL_CHARACTERS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters, the two Unicode line ends and lone surrogates: no text of ours may hold one."""

_SECONDS_PER_YEAR: Final = 366 * 24 * 60 * 60
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def has_control_character(text: str) -> bool:
    """Whether a text holds one of `CONTROL_CHARACTERS`."""
    return not text.isprintable() and CONTROL_CHARACTERS.search(text) is not None  # isprintable is ten times as fast


class Problem(NamedTuple):
    """One thing that is wrong, and where: `transport.retry_count`, `freezes[2].expires`; "" is the whole value."""

    path: str
    message: str

    def __str__(self) -> str:
        """`path: message`, or the message alone where it is about the whole value."""
        return f"{self.path}: {self.message}" if self.path else self.message


class InvalidValue(ValueError):
    """A value is not what its reader reads. `problems` has everything that is wrong with it."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems

    def problems_below(self, parent: str) -> list[Problem]:
        """Return the problems with paths that begin at the value's parent, where it stands under a key or `[index]`."""
        return [Problem(join_path(parent, path), message) for path, message in self.problems]


def join_path(parent: str, child: str) -> str:
    """Return the path of a value inside another one."""
    separator = "." if parent and child and not child.startswith("[") else ""
    return f"{parent}{separator}{child}"


T = TypeVar("T")
Reader = Callable[[Any], T]


def _invalid(message: str) -> InvalidValue:
    return InvalidValue(Problem("", message))


def of_type(kind: type[T], description: str) -> Reader[T]:
    """Read exactly `kind` (a bool is no int)."""

    def read(value: Any) -> T:
        if isinstance(value, kind) and type(value) is kind:
            return value
        raise _invalid(f"must be {description}")

    return read


boolean: Final = of_type(bool, "true or false")


def integer(minimum: int = 0, maximum: int = MAX_SAFE_INTEGER) -> Reader[int]:
    """Read a whole number from `minimum` to `maximum`."""
    span = f"of at least {minimum}" if maximum == MAX_SAFE_INTEGER else f"from {minimum} to {maximum}"

    def read(value: Any) -> int:
        if type(value) is int and minimum <= value <= maximum:
            return value
        raise _invalid(f"must be a whole number {span}")

    return read


def seconds(value: Any) -> float:
    """Read a duration in seconds: a number from 0 to a year. NaN fails the comparison."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _SECONDS_PER_YEAR:
        return value
    raise _invalid("must be a number of seconds of at least 0")


def text(description: str = "a string", pattern: str = r".*", convert: Callable[[str], str] = str) -> Reader[str]:
    """Read a string that matches `pattern` from end to end and holds none of `CONTROL_CHARACTERS`."""
    matches = re.compile(pattern, re.DOTALL).fullmatch

    def read(value: Any) -> str:
        if type(value) is not str or not matches(value):
            raise _invalid(f"must be {description}")
        if has_control_character(value):
            raise _invalid("must not hold a control character or a lone surrogate")
        return convert(value)

    return read


def iso_date(value: Any) -> date:
    """Read a calendar day, `YYYY-MM-DD`."""
    if type(value) is str and _DATE.fullmatch(value):
        with suppress(ValueError):
            return date.fromisoformat(value)
    raise _invalid("must be a day such as 2026-12-10")


def one_of(*allowed: str) -> Reader[str]:
    """Read one of a few words. The result is our own string, so that thousands of records share it."""
    constants = {word: word for word in allowed}

    def read(value: Any) -> str:
        if type(value) is str and value in constants:
            return constants[value]
        raise _invalid(f"must be one of {', '.join(allowed)}")

    return read


def nullable(reader: Reader[T]) -> Reader[T | None]:
    """Read null, or what `reader` reads."""
    return lambda value: None if value is None else reader(value)


def list_of(reader: Reader[T]) -> Reader[tuple[T, ...]]:
    """Read a list of what `reader` reads."""

    def read(value: Any) -> tuple[T, ...]:
        if type(value) is not list:
            raise _invalid("must be a list")
        items: list[T] = []
        problems: list[Problem] = []
        for index, item in enumerate(value):
            try:
                items.append(reader(item))
            except InvalidValue as error:
                problems += error.problems_below(f"[{index}]")
        if problems:
            raise InvalidValue(*problems)
        return tuple(items)

    return read


class ObjectReader(Generic[T]):
    """Reads objects: `build` takes the values of the fields by name.

    A field that is absent is read as null: a reader that takes null makes its field optional, unless `required` names
    it. Unknown keys are ignored; `unknown_keys` names them. With `null_as_empty`, null reads as `{}`.
    """

    def __init__(
        self,
        build: Callable[..., T],
        fields: Mapping[str, Reader[Any]],
        required: Collection[str] = (),
        *,
        null_as_empty: bool = False,
    ) -> None:
        self.build = build
        self.fields = fields
        self.required = required
        self.null_as_empty = null_as_empty

    def __call__(self, value: Any) -> T:
        """Read one object."""
        values, problems = self.read_fields(value)
        if problems:
            raise InvalidValue(*problems)
        return self.build(**values)

    def read_fields(self, value: Any) -> tuple[dict[str, Any], list[Problem]]:
        """Read the fields of one object: the values that are as they should be, and what is wrong with the others."""
        if value is None and self.null_as_empty:
            value = {}
        if type(value) is not dict:
            raise _invalid("must be an object")
        values: dict[str, Any] = {}
        problems: list[Problem] = []
        for name, reader in self.fields.items():
            if name not in value and name in self.required:
                problems.append(Problem(name, "is required"))
                continue
            try:
                values[name] = reader(value.get(name))
            except InvalidValue as error:
                problems += error.problems_below(name)
        return values, problems

    def unknown_keys(self, value: Any, path: str = "") -> list[str]:
        """Name the keys that the reader ignores, with their paths, those of nested objects included."""
        if type(value) is not dict:
            return []
        names = [join_path(path, key) for key in value if key not in self.fields]
        for name, reader in self.fields.items():
            if isinstance(reader, ObjectReader):
                names += reader.unknown_keys(value.get(name), join_path(path, name))
        return names
