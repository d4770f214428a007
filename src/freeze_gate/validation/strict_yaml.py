"""YAML as this project reads it: scalars, lists and mappings with their lines, and nothing that stands for another.

No value is given a type here: the reader that knows what it wants looks at the text, so that an unquoted `no`, `012` or
`2026-12-10` means what its place in the file says. PyYAML composes the nodes; no alias is followed, no tag obeyed, and
nothing is constructed.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import yaml
from yaml.events import AliasEvent, CollectionStartEvent

from freeze_gate.validation.readers import BYTE_ORDER_MARK, join_path

DEPTH: Final = 8
"""How deep lists and mappings may stand inside each other: deeper than any file of ours, shallow enough to recurse."""

NODES: Final = 20_000
"""Scalars, lists and mappings in one file: more than a file of ours holds at its largest size."""

_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_LINE_END: Final = re.compile("\r\n|\r|\n")
_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_LAST_PART: Final = re.compile(r"(\.?[^.\[\]]*|\[\d*\])\Z")
_QUOTABLE_MESSAGE: Final = re.compile(r"[A-Za-z' ,:<>!-]{1,100}")


class Scalar(NamedTuple):
    """A scalar as it is written, and whether it stands there without quotes."""

    text: str
    plain: bool = True

    @property
    def is_blank(self) -> bool:
        """Whether it is one of YAML's ways to write null."""
        return self.plain and self.text in ("", "~", "null")


class YamlProblem(NamedTuple):
    """One thing that is wrong, and where; the path is "" where it is not about one value."""

    line: int
    path: str
    message: str


class YamlDocument(NamedTuple):
    """A file that was read: its value, the line of every path in it, and what is wrong with it as YAML.

    The value is a `Scalar`, a list or a dict; None if nothing could be read. A path is `freezes[2].expires`; "" is the
    whole file.
    """

    value: Any
    lines: dict[str, int]
    problems: list[YamlProblem]

    def line_of(self, path: str) -> int:
        """Return the line of a path; where it is not in the file, that of the value that it is missing from."""
        while path not in self.lines:
            path = _LAST_PART.sub("", path)
        return self.lines[path]


def read_yaml(payload: bytes) -> YamlDocument:
    """Read one UTF-8 document (a byte-order mark and any line ends are fine). Never raises.

    Refused are: what is not YAML, a second document, tags, anchors, aliases, merge keys, a key given twice, a key that
    is not a plain name, control characters, more than `DEPTH` levels or `NODES` nodes. All of it is named, unless the
    text cannot be read to its end: then only what stopped the reading.
    """
    content = payload.removeprefix(BYTE_ORDER_MARK)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return _unreadable(_line_after(content[: error.start].decode("utf-8")), "is not UTF-8 from here")
    if control := _UNPRINTABLE.search(text):
        line = _line_after(text[: control.start()])
        return _unreadable(line, "holds a control character; printable text is allowed")
    composer = _Composer(text)
    try:
        root = composer.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return _unreadable(mark.line + 1 if mark else 1, _explain(error, text))
    except (ValueError, OverflowError):  # PyYAML's own, for an escape or a version beyond any number
        return _unreadable(composer.line + 1, "cannot be read as YAML")
    document = YamlDocument(None, {"": 1}, [])
    return document._replace(value=_Converter(composer.refusals, document).value(root, "") if root else None)


def _line_after(text: str) -> int:
    return 1 + len(_LINE_END.findall(text))


def _unreadable(line: int, message: str) -> YamlDocument:
    return YamlDocument(None, {"": 1}, [YamlProblem(line, "", message)])


class _TooMuch(yaml.MarkedYAMLError):
    """The file is too deep or too large."""


class _Composer(yaml.SafeLoader):
    """Composes nodes of limited depth and number. `refusals` says of a node what it has that no file of ours may."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.refusals: defaultdict[yaml.Node | None, list[str]] = defaultdict(list)
        self._depth = 0
        self._count = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it out
        mark: yaml.Mark = event.start_mark
        self._count += 1
        if self._count > NODES:
            raise _TooMuch(problem=f"holds over {NODES} values", problem_mark=mark)
        if isinstance(event, AliasEvent):
            self.get_event()  # type: ignore[no-untyped-call]  # as above
            alias = yaml.ScalarNode("", "")
            alias.start_mark = mark
            self.refusals[alias].append("is an alias; write the value out")
            return alias
        if isinstance(event, CollectionStartEvent) and self._depth == DEPTH:
            message = f"is nested too deeply; {DEPTH} levels are allowed"
            raise _TooMuch(problem=message, problem_mark=mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        if event.anchor is not None:
            self.refusals[node].append("has an anchor; none is allowed")
        if event.tag is not None:
            self.refusals[node].append("has a tag; none is allowed")
        return node


class _Converter:
    """Turns nodes into values, and notes the line of each and what is wrong with it."""

    def __init__(self, refusals: Mapping[yaml.Node | None, list[str]], document: YamlDocument) -> None:
        self._refusals = refusals
        self._lines = document.lines
        self._problems = document.problems

    def value(self, node: yaml.Node, path: str) -> Any:
        self._lines.setdefault(path, node.start_mark.line + 1)
        for refusal in self._refusals[node]:
            self._add_problem(node, path, refusal)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, f"{path}[{index}]") for index, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        return Scalar(node.value, plain=_is_plain(node))

    def _mapping(self, node: yaml.MappingNode, path: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node, path)
            if key is None:
                continue
            child = join_path(path, key)
            if key in values:
                first = self._lines[child]
                self._add_problem(key_node, child, f"is given twice, first on line {first}; once is allowed")
            else:
                self._lines[child] = key_node.start_mark.line + 1
            values.setdefault(key, self.value(value_node, child))
        return values

    def _key(self, node: yaml.Node, path: str) -> str | None:
        """Return a key that is a plain name, so that every path can be shown as it is."""
        refusals = self._refusals[node]
        if not refusals and isinstance(node, yaml.ScalarNode) and _KEY.fullmatch(node.value):
            return str(node.value)
        if node.value == "<<" and _is_plain(node):
            refusals = ["has a merge key; write the values out"]
        for refusal in refusals or ["has a key that is not a plain name; letters, digits, _ and - are allowed"]:
            self._add_problem(node, path, refusal)
        return None

    def _add_problem(self, node: yaml.Node, path: str, message: str) -> None:
        self._problems.append(YamlProblem(node.start_mark.line + 1, path, message))


def _is_plain(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.style is None


def _explain(error: yaml.MarkedYAMLError, text: str) -> str:
    """Explain what PyYAML found: the usual mistakes with a cure, others in its own words if those are safe."""
    mark, problem = error.problem_mark, error.problem or ""
    if isinstance(error, _TooMuch):
        return problem
    if problem == "but found another document":
        return "starts a second document; one is allowed"
    if mark and problem.startswith("found character"):
        character = text[mark.index]
        if character == "\t":
            return "has a tab before a value; spaces are allowed"
        return f"has a value that begins with {character}; put it in quotes"
    message = f"cannot be read as YAML: {problem}" if _QUOTABLE_MESSAGE.fullmatch(problem) else "cannot be read as YAML"
    start = error.context_mark
    if mark and start and start.line != mark.line:
        return f"{message}, in what begins on line {start.line + 1}"
    return message
