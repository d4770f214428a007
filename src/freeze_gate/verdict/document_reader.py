"""A verdict document that somebody kept: read with distrust, and computed again from its case alone."""

from typing import Any, Final, NamedTuple

from freeze_gate.evidence.checks import EVIDENCE_CHECKS
from freeze_gate.evidence.digest import Observed, Sha256
from freeze_gate.evidence.limits import Limits
from freeze_gate.evidence.record import RECORD, mismatches
from freeze_gate.evidence.side import Artifact, Fault, Other, Pair, Side, Source
from freeze_gate.policy.freezes import LONGEST_FREEZE_DAYS, Freeze, Policy, PolicyReading
from freeze_gate.validation.readers import (
    ObjectReader,
    Problem,
    Problems,
    Reader,
    boolean,
    integer,
    iso_date,
    list_of,
    nullable,
    one_of,
    text,
)
from freeze_gate.validation.strict_json import NotJson, read_json
from freeze_gate.verdict.document import MAX_BYTES, SCHEMA, Header, encode
from freeze_gate.verdict.evaluate import judge
from freeze_gate.verdict.models import Case
from freeze_gate.version import RULES_VERSION

_DEPTH: Final = 8  # the document, case, pairs, a pair, its side, the record, its transport, the transport's checks


class Stored(NamedTuple):
    """A document as it was read: the header, the case, and nothing of the result, which is computed again."""

    header: Header
    case: Case


class DocumentInvalid(ValueError):
    """The bytes are not a verdict document that this version can compute again; `problems` says all that is wrong."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def recompute(payload: bytes) -> bytes:
    """Read a document, judge its case again, and write what should have been stored. Raises `DocumentInvalid`."""
    stored = decode(payload)
    return encode(stored.case, judge(stored.case, stored.header.rules), stored.header)


def decode(payload: bytes) -> Stored:
    """Read the header and the case of a document. Raises `DocumentInvalid` with every problem and its address."""
    if len(payload) > MAX_BYTES:
        raise DocumentInvalid(Problem("", f"is over {MAX_BYTES >> 20} MiB"))
    try:
        document = read_json(payload, depth=_DEPTH)
    except NotJson as error:
        raise DocumentInvalid(Problem("", str(error))) from None
    problems: Problems = []
    stored = _read(document, problems)
    if problems:
        raise DocumentInvalid(*problems)
    return stored


def _read(document: Any, problems: Problems) -> Stored:
    case = document.get("case") if type(document) is dict else None
    listed = case.get("sources") if type(case) is dict else None
    sources: tuple[Source, ...] = list_of(_SOURCE)(listed, "case.sources", problems)

    def source(value: Any, address: str, problems: Problems) -> Source | None:
        place = integer(0, len(sources) - 1)(value, address, problems)
        return sources[place] if type(place) is int and 0 <= place < len(sources) else None

    shape = ObjectReader(
        lambda tool, case, **_: Stored(tool, case),
        {"schema": one_of(SCHEMA), "tool": _HEADER, "case": _case_shape(source)},
    )
    stored: Stored = shape(document, "", problems)
    return stored


_text: Final = text()
_sha256: Final = text("64 lower-case hexadecimal characters", r"[0-9a-f]{64}", Sha256)
_OBSERVED: Final = ObjectReader(Observed, {"sha256": _sha256, "size": integer()})
_FAULT: Final = ObjectReader(Fault, {"check": one_of(*(check.id for check in EVIDENCE_CHECKS)), "detail": _text})
_ARTIFACT: Final = ObjectReader(
    Artifact,
    {
        "id": integer(1),
        "name": _text,
        "size": integer(),
        "expired": boolean,
        **{name: nullable(_text) for name in ("created_at", "digest", "head_branch", "head_sha")},
        **{name: nullable(integer()) for name in ("run_id", "repository_id", "head_repository_id")},
    },
)
_SOURCE: Final = ObjectReader(
    Source,
    {
        "label": _text,
        "artifact": nullable(_ARTIFACT),
        "sha256": nullable(_sha256),
        "run_id": nullable(integer(1)),
        "attempt": nullable(integer(1)),
        "newest_attempt": nullable(integer(1)),
        "fault": nullable(_FAULT),
    },
)
_FREEZE: Final = ObjectReader(
    Freeze,
    {
        "fixture_id": _text,
        "fixture_sha256": _sha256,
        "owner": _text,
        "reason": _text,
        "added": iso_date,
        "expires": iso_date,
        "unfreeze_when": _text,
        "pull_request": nullable(integer(1)),
        "line": integer(),
    },
)


def _or(default: Any, reader: Reader[Any]) -> Reader[Any]:
    """Read a field that was left out because it is empty."""
    return lambda value, address, problems: default if value is None else reader(value, address, problems)


_POLICY: Final = ObjectReader(
    Policy,
    {
        "max_freeze_days": integer(0, LONGEST_FREEZE_DAYS),
        "sealed_oracle": boolean,
        "freezes": _or((), list_of(_FREEZE)),
        "fixtures_days": nullable(integer()),
    },
)
_READING: Final = ObjectReader(
    PolicyReading,
    {
        "state": one_of("not_asked", "absent", "read", "unusable"),
        "policy": _POLICY,
        "sha": nullable(_text),
        "problems": _or((), list_of(_text)),
    },
)
_LIMITS: Final = ObjectReader(Limits, dict.fromkeys(Limits._fields, integer()))
_HEADER: Final = ObjectReader(Header, {"version": _text, "rules": integer(1, RULES_VERSION)})


def _pairs(reader: Reader[Pair]) -> Reader[tuple[Pair, ...]]:
    """Read a list that is not empty: a verdict is about something."""

    def read(value: Any, address: str, problems: Problems) -> tuple[Pair, ...]:
        if value == []:
            problems.append(Problem(address, "must not be empty"))
        return list_of(reader)(value, address, problems)

    return read


def _named(shape: ObjectReader, *sides: str) -> Reader[Any]:
    """Read what has a fixture id and sides: their records are of that id."""

    def read(value: Any, address: str, problems: Problems) -> Any:
        before = len(problems)
        found = shape(value, address, problems)
        if len(problems) == before:
            records = [(name, getattr(found, name).record) for name in sides]
            problems += [
                Problem(f"{address}.{name}.record.{problem.address}", problem.message)
                for name, record in records
                if record
                for problem in mismatches(record, found.fixture_id)
            ]
        return found

    return read


def _case_shape(source: Reader[Source | None]) -> ObjectReader:
    record = ObjectReader(RECORD.build, RECORD.fields)
    side = ObjectReader(
        Side,
        {
            "source": source,
            "record": nullable(record),
            "record_sha256": nullable(_sha256),
            "pin": nullable(_OBSERVED),
            "fault": nullable(_FAULT),
        },
    )
    fixture_id = nullable(_text)
    pair = ObjectReader(Pair, {"fixture_id": fixture_id, "first": side, "rerun": side})
    other = ObjectReader(Other, {"fixture_id": fixture_id, "side": side})
    return ObjectReader(
        Case,
        {
            "github_metadata": boolean,
            "pairs": _pairs(_named(pair, "first", "rerun")),
            "today": iso_date,
            "fail_on": one_of("unfrozen", "never"),
            "repository": nullable(_text),
            "pull_request": nullable(integer(1)),
            "from_fork": boolean,
            "expected": _or((), list_of(_text)),
            "other_attempts": _or((), list_of(_named(other, "side"))),
            "policy": _READING,
            "limits": _LIMITS,
        },
    )
