"""Reads a verdict document with distrust, and computes it again from its case alone.

The readers follow from the annotations of the values that a document holds. `_RULES` has what a type does not say.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final, NamedTuple, get_args, get_origin, get_type_hints

from freeze_gate.evidence.checks import EVIDENCE_CHECKS
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.models import Artifact, CheckFailure, OtherAttempt, Pair, Side, Source
from freeze_gate.evidence.record import RECORD, Record, consistency_problems
from freeze_gate.policy.freezes import LONGEST_FREEZE_DAYS, Freeze, Policy, PolicyReading
from freeze_gate.validation.readers import (
    InvalidValue,
    ObjectReader,
    Problem,
    Reader,
    T,
    boolean,
    integer,
    iso_date,
    list_of,
    nullable,
    one_of,
    text,
)
from freeze_gate.validation.strict_json import read_json
from freeze_gate.verdict.document import MAX_BYTES, SCHEMA, Header, encode
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.models import Case
from freeze_gate.version import RULES_VERSION

_DEPTH: Final = 8  # the document, case, pairs, a pair, its side, the record, its transport, the transport's checks


class ParsedVerdict(NamedTuple):
    """A document as it was read: the header and the case. The result is not read, but computed again."""

    header: Header
    case: Case


class InvalidDocument(InvalidValue):
    """The bytes are not a verdict document that this version can compute again; `problems` has all that is wrong."""


def recompute(payload: bytes) -> bytes:
    """Read a document, judge its case again, and write what should have been stored. Raises `InvalidDocument`."""
    parsed = decode(payload)
    return encode(parsed.case, evaluate(parsed.case, parsed.header.rules), parsed.header)


def decode(payload: bytes) -> ParsedVerdict:
    """Read the header and the case of a document. Raises `InvalidDocument` with every problem and its path.

    The sources are read first, because the sides name them by their place: a problem there is named alone.
    """
    if len(payload) > MAX_BYTES:
        raise InvalidDocument(Problem("", f"is over {MAX_BYTES >> 20} MiB"))
    try:
        document = read_json(payload, depth=_DEPTH)
        return _document_reader(_SOURCES(document))(document)
    except InvalidValue as error:
        raise InvalidDocument(*error.problems) from None


_text: Final = text()
_position: Final = integer(1)

_RULES: Final[Mapping[Any, Reader[Any]]] = {
    bool: boolean,
    int: integer(),
    str: _text,
    date: iso_date,
    Sha256: text("64 lower-case hexadecimal characters", r"[0-9a-f]{64}", Sha256),
    Record: ObjectReader(RECORD.build, RECORD.fields),  # what is unknown is left out of a document
    (Header, "rules"): integer(1, RULES_VERSION),
    (Artifact, "id"): _position,
    (Source, "run_id"): nullable(_position),
    (Source, "attempt"): nullable(_position),
    (Source, "newest_attempt"): nullable(_position),
    (CheckFailure, "check"): one_of(*(check.id for check in EVIDENCE_CHECKS)),
    (Freeze, "pull_request"): nullable(_position),
    (Policy, "max_freeze_days"): integer(0, LONGEST_FREEZE_DAYS),
    (PolicyReading, "state"): one_of("not_asked", "absent", "read", "unusable"),
    (Case, "fail_on"): one_of("unfrozen", "never"),
    (Case, "pull_request"): nullable(_position),
}


def _reader_of(kind: Any, rules: Mapping[Any, Reader[Any]]) -> Reader[Any]:
    """Return the reader of an annotation. A list that is left out is empty; a named tuple is an object."""
    if kind in rules:
        return rules[kind]
    arguments = get_args(kind)
    if type(None) in arguments:
        return nullable(_reader_of(arguments[0], rules))
    if get_origin(kind) in (tuple, Sequence):
        read_list = list_of(_reader_of(arguments[0], rules))
        return lambda value: read_list([] if value is None else value)
    hints = get_type_hints(kind)
    return ObjectReader(kind, {name: rules.get((kind, name)) or _reader_of(hints[name], rules) for name in hints})


_SOURCES: Final = ObjectReader(
    lambda case: case, {"case": ObjectReader(lambda sources: sources, {"sources": list_of(_reader_of(Source, _RULES))})}
)


def _document_reader(sources: Sequence[Source]) -> ObjectReader[ParsedVerdict]:
    place = integer(0, len(sources) - 1)
    rules: dict[Any, Reader[Any]] = {**_RULES, Source: lambda value: sources[place(value)]}
    pair = _with_matching_ids(_reader_of(Pair, rules), "first", "rerun")
    rules |= {
        (Case, "pairs"): _non_empty(list_of(pair)),
        OtherAttempt: _with_matching_ids(_reader_of(OtherAttempt, rules), "side"),
    }
    return ObjectReader(
        lambda tool, case, **_: ParsedVerdict(tool, case),
        {"schema": one_of(SCHEMA), "tool": _reader_of(Header, rules), "case": _reader_of(Case, rules)},
    )


def _non_empty(reader: Reader[T]) -> Reader[T]:
    """Read a list that is not empty: a verdict is about something."""

    def read(value: Any) -> T:
        if value == []:
            raise InvalidValue(Problem("", "must not be empty"))
        return reader(value)

    return read


def _with_matching_ids(reader: Reader[Any], *side_names: str) -> Reader[Any]:
    """Read what has a fixture id and sides: their records are of that id."""

    def read(value: Any) -> Any:
        parsed = reader(value)
        problems: list[Problem] = []
        for name in side_names:
            side: Side = getattr(parsed, name)
            if side.record:
                error = InvalidValue(*consistency_problems(side.record, parsed.fixture_id))
                problems += error.problems_below(f"{name}.record")
        if problems:
            raise InvalidValue(*problems)
        return parsed

    return read
