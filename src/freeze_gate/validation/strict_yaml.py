"""YAML as this project reads it: words, lists and mappings with their lines, and nothing that stands for anything else.

No value is ever guessed a type for: a reader that knows what it wants looks at the words, so that an unquoted `no`,
`012` or `2026-12-10` means what its place in the file says. PyYAML's safe loader takes the text apart; nothing is
composed or constructed by it, so that neither an alias nor a tag is ever followed.
"""

import re
from typing import Any, Final, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

DEPTH: Final = 8
"""How deep lists and mappings may stand inside each other: deeper than any file of ours, shallow enough to recurse."""

NODES: Final = 20_000
"""Words, lists and mappings in one file: more than a file of ours holds at its largest size."""

_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_LINE_END: Final = re.compile("\r\n|\r|\n")
_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_LAST_PART: Final = re.compile(r"(\.?[^.\[\]]*|\[\d*\])\Z")
_HARMLESS: Final = re.compile(r"[A-Za-z' ,:<>!-]{1,100}")


class Word(NamedTuple):
    """A scalar as it is written, and whether it stands there without quotes."""

    text: str
    plain: bool = True

    @property
    def blank(self) -> bool:
        """Whether it says "nothing" in one of YAML's ways."""
        return self.plain and self.text in ("", "~", "null")


class Flaw(NamedTuple):
    """One thing that is wrong, and where; the address is "" where it is not about one value."""

    line: int
    address: str
    message: str


class Reading(NamedTuple):
    """A file taken apart: its value, the line of every address in it, and what is wrong with it as YAML.

    The value is a `Word`, a list or a dict; None where nothing could be read, and where an alias stood. An address is
    `freezes[2].expires`; "" is the whole file.
    """

    value: Any
    lines: dict[str, int]
    flaws: list[Flaw]

    def line(self, address: str) -> int:
        """Return the line of an address; where it is not in the file, that of what it is missing from."""
        while address not in self.lines:
            address = _LAST_PART.sub("", address)
        return self.lines[address]


class _Stop(Exception):
    """Nothing that follows can be read."""


def read_yaml(payload: bytes) -> Reading:
    """Take one UTF-8 document apart (a byte-order mark and any line ends are fine). Never raises.

    Wrong are: what is no YAML, a second document, tags, anchors, aliases, merge keys, a key given twice, a key that is
    no plain name, control characters, more than `DEPTH` levels or `NODES` nodes. All of it is named, up to the place
    from where the text cannot be followed.
    """
    try:
        text = payload.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _refused(payload[: error.start].decode("utf-8-sig"), "is not UTF-8 from here")
    if odd := _UNPRINTABLE.search(text):
        return _refused(text[: odd.start()], "holds a control character; printable text is allowed")
    return _Reader(text).read()


def _refused(before: str, message: str) -> Reading:
    line = 1 + len(_LINE_END.findall(before))
    return Reading(None, {"": 1}, [Flaw(line, "", message)])


class _Reader:
    """Turns the events of one document into a value."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._events = yaml.parse(text, Loader=yaml.SafeLoader)
        self._reading = Reading(None, {"": 1}, [])
        self._line = 1
        self._nodes = 0

    def read(self) -> Reading:
        value = None
        try:
            value = self._document()
        except _Stop:
            pass
        except yaml.MarkedYAMLError as error:
            if mark := error.problem_mark or error.context_mark:
                self._line = mark.line + 1
            self._complain("", _explained(error, self._text))
        except (ValueError, OverflowError):  # PyYAML's own, for an escape or a version beyond any number
            self._complain("", "cannot be read as YAML")
        return self._reading._replace(value=value)

    def _document(self) -> Any:
        self._next()  # the stream's start
        if isinstance(self._next(), StreamEndEvent):
            return None
        value = self._value(self._next(), "", DEPTH)
        self._next()  # the document's end
        if isinstance(self._next(), DocumentStartEvent):
            self._complain("", "starts a second document; one is allowed")
        return value

    def _next(self) -> Event:
        event: Event = next(self._events)
        if event.start_mark:
            self._line = event.start_mark.line + 1
        return event

    def _complain(self, address: str, message: str) -> None:
        self._reading.flaws.append(Flaw(self._line, address, message))

    def _stop(self, address: str, message: str) -> None:
        self._complain(address, message)
        raise _Stop

    def _value(self, event: Event, address: str, depth: int) -> Any:
        self._reading.lines.setdefault(address, self._line)
        self._count_and_refuse(event, address)
        if isinstance(event, AliasEvent):
            return None
        if isinstance(event, ScalarEvent):
            return Word(event.value, event.style is None)
        if depth == 0:
            self._stop(address, f"is nested too deeply; {DEPTH} levels are allowed")
        return (self._list if isinstance(event, SequenceStartEvent) else self._mapping)(address, depth - 1)

    def _count_and_refuse(self, event: Event, address: str) -> None:
        self._nodes += 1
        if self._nodes > NODES:
            self._stop("", f"holds over {NODES} values")
        if isinstance(event, AliasEvent):
            self._complain(address, "is an alias; write the value out")
            return
        for name, words in (("anchor", "has an anchor"), ("tag", "has a tag")):
            if getattr(event, name) is not None:
                self._complain(address, f"{words}; none is allowed")

    def _list(self, address: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := self._next(), SequenceEndEvent):
            items.append(self._value(event, f"{address}[{len(items)}]", depth))
        return items

    def _mapping(self, address: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := self._next(), MappingEndEvent):
            key = self._key(event, address, depth)
            where = below(address, key or "?")
            if key in found:
                self._complain(where, f"is given twice, first on line {self._reading.lines[where]}; once is allowed")
            else:
                self._reading.lines[where] = self._line
            value = self._value(self._next(), where, depth)
            if key:
                found.setdefault(key, value)
        return found

    def _key(self, event: Event, address: str, depth: int) -> str | None:
        """Return a key that is a plain name, so that every address can be shown as it is."""
        line = self._line
        word = self._value(event, below(address, "?"), depth)
        if type(word) is Word and _KEY.fullmatch(word.text):
            return word.text
        self._line = line
        if word == Word("<<"):
            self._complain(address, "has a merge key; write the values out")
        elif word is not None:
            self._complain(address, "has a key that is no plain name; letters, digits, _ and - are allowed")
        return None


def below(address: str, key: str) -> str:
    """Return the address of a key's value."""
    return f"{address}.{key}" if address else key


def _explained(error: yaml.MarkedYAMLError, text: str) -> str:
    """Say what PyYAML found: for the usual slips what to do, else in its own words where they quote nothing odd."""
    mark, said = error.problem_mark, error.problem or ""
    if mark and said.startswith("found character"):
        if (found := text[mark.index]) == "\t":
            return "has a tab before a value; spaces are allowed"
        return f"has a value that begins with {found}; put it in quotes"
    words = f"cannot be read as YAML: {said}" if _HARMLESS.fullmatch(said) else "cannot be read as YAML"
    begun = error.context_mark
    return f"{words}, in what begins on line {begun.line + 1}" if mark and begun and begun.line != mark.line else words
