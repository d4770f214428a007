"""Reading a mapping that a stranger wrote: a table of fields in, a typed value or every problem with its address out.

A reader takes `(value, address, problems)` and returns the typed value. What is wrong is appended to `problems`, so
that one pass names all of it; the value returned beside a problem means nothing. The address is that within the nearest
mapping or list: each of them puts its own in front of what was found inside it, so that nothing is spent on addresses
where nothing is wrong.
"""

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import date
from typing import Any, Final, Generic, NamedTuple, TypeVar

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""The largest whole number that every JSON reader keeps exact (RFC 8259, section 6)."""

CONTROL_CHARACTERS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters, the two Unicode line ends and lone surrogates: no text of ours may hold one."""


def has_control_character(text: str) -> bool:
    """Whether a text holds one of `CONTROL_CHARACTERS`."""
    return not text.isprintable() and CONTROL_CHARACTERS.search(text) is not None


_YEAR: Final = 366 * 24 * 60 * 60
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Problem(NamedTuple):
    """One thing that is wrong, and where: `transport.retry_count`, `freezes[2].expires`; "" is the whole."""

    address: str
    message: str

    def __str__(self) -> str:
        """`address: message`, or the message alone where it is about the whole."""
        return f"{self.address}: {self.message}" if self.address else self.message


Problems = list[Problem]
T = TypeVar("T")
Reader = Callable[[Any, str, Problems], T]


def of_type(kind: type[T], words: str) -> Reader[T]:
    """Read exactly `kind` (a bool is no int)."""

    def read(value: Any, address: str, problems: Problems) -> T:
        if type(value) is not kind:
            problems.append(Problem(address, f"must be {words}"))
        return value  # type: ignore[no-any-return]

    return read


boolean: Final = of_type(bool, "true or false")


def integer(least: int = 0, most: int = MAX_SAFE_INTEGER) -> Reader[int]:
    """Read a whole number from `least` to `most`."""
    span = f"of at least {least}" if most == MAX_SAFE_INTEGER else f"from {least} to {most}"

    def read(value: Any, address: str, problems: Problems) -> int:
        if type(value) is not int or not least <= value <= most:
            problems.append(Problem(address, f"must be a whole number {span}"))
        return value  # type: ignore[no-any-return]

    return read


def seconds(value: Any, address: str, problems: Problems) -> float:
    """Read a duration: a number from 0 to a year. NaN fails the comparison."""
    if type(value) not in (int, float) or not 0 <= value <= _YEAR:
        problems.append(Problem(address, "must be a number of seconds of at least 0"))
    return value  # type: ignore[no-any-return]


def text(words: str = "a string", pattern: str = r".*", convert: Callable[[str], str] = str) -> Reader[str]:
    """Read a string that matches `pattern` from end to end and holds nothing of `CONTROL_CHARACTERS`."""
    matches = re.compile(pattern, re.DOTALL).fullmatch

    def read(value: Any, address: str, problems: Problems) -> str:
        if type(value) is not str or not matches(value):
            problems.append(Problem(address, f"must be {words}"))
        elif has_control_character(value):
            problems.append(Problem(address, "must not hold a control character or a lone surrogate"))
        else:
            return convert(value)
        return value  # type: ignore[no-any-return]

    return read


def iso_date(value: Any, address: str, problems: Problems) -> date:
    """Read a calendar day, `YYYY-MM-DD`."""
    if type(value) is str and _DAY.fullmatch(value):
        with suppress(ValueError):
            return date.fromisoformat(value)
    problems.append(Problem(address, "must be a day such as 2026-12-10"))
    return date.min


def one_of(*allowed: str) -> Reader[str]:
    """Read one of a few words."""

    def read(value: Any, address: str, problems: Problems) -> str:
        if type(value) is not str or value not in allowed:
            problems.append(Problem(address, f"must be one of {', '.join(allowed)}"))
        return value  # type: ignore[no-any-return]

    return read


class nullable(Generic[T]):  # noqa: N801 - reads as the other readers do
    """Read null, or what `reader` reads."""

    def __init__(self, reader: Reader[T]) -> None:
        self.reader = reader

    def __call__(self, value: Any, address: str, problems: Problems) -> T | None:
        """Read one value."""
        return None if value is None else self.reader(value, address, problems)


def list_of(reader: Reader[T]) -> Reader[tuple[T, ...]]:
    """Read a list of what `reader` reads."""

    def read(value: Any, address: str, problems: Problems) -> tuple[T, ...]:
        if type(value) is not list:
            problems.append(Problem(address, "must be a list"))
            return ()
        before = len(problems)
        found = tuple(reader(item, f"[{index}]", problems) for index, item in enumerate(value))
        _put_in_front(address, problems, before)
        return found

    return read


def _put_in_front(address: str, problems: Problems, start: int) -> None:
    """Complete the addresses of the problems that were found inside the value that stands at `address`."""
    if address and len(problems) > start:
        problems[start:] = [
            Problem(address + inside if inside.startswith("[") or not inside else f"{address}.{inside}", message)
            for inside, message in problems[start:]
        ]


class ObjectReader:
    """A reader of mappings: `build` takes the fields by name.

    A field that is absent is read as null: a reader that takes null makes its field nullable, unless `required` names
    it. Unknown keys are not read; `unknown` names them.
    """

    def __init__(
        self, build: Callable[..., Any], fields: Mapping[str, Reader[Any]], required: Collection[str] = ()
    ) -> None:
        self.build = build
        self.fields = fields
        self.required = required
        self._steps = [
            (name, reader.reader, True) if isinstance(reader, nullable) else (name, reader, False)
            for name, reader in fields.items()
        ]

    def __call__(self, value: Any, address: str, problems: Problems) -> Any:
        """Read one mapping."""
        if type(value) is not dict:
            problems.append(Problem(address, "must be an object"))
            return None
        before = len(problems)
        absent = [name for name in self.required if name not in value]
        problems += [Problem(name, "is required") for name in absent]
        found: dict[str, Any] = {}
        for name, reader, takes_null in self._steps:
            item = value.get(name)
            if item is None and takes_null:
                found[name] = None
            elif not absent or name not in absent:
                found[name] = reader(item, name, problems)
        _put_in_front(address, problems, before)
        return None if absent else self.build(**found)

    def unknown(self, value: Any, address: str = "") -> list[str]:
        """Name the keys that the shape does not know, with their addresses, nested shapes included."""
        if type(value) is not dict:
            return []
        prefix = f"{address}." if address else ""
        names = [prefix + key for key in value if key not in self.fields]
        for name, reader in self.fields.items():
            nested = getattr(reader, "shape", reader)
            if isinstance(nested, ObjectReader):
                names += nested.unknown(value.get(name), prefix + name)
        return names


class Detail:
    """A reader of an optional object whose fields are optional too: null reads as one with every field unknown."""

    def __init__(self, shape: ObjectReader) -> None:
        self.shape = shape

    def __call__(self, value: Any, address: str, problems: Problems) -> Any:
        """Read one detail object."""
        return self.shape({} if value is None else value, address, problems)
