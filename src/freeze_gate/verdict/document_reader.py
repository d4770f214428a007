"""A verdict document that somebody kept: read with distrust, and computed again from its case alone."""

from typing import Any, Final, NamedTuple

from freeze_gate.evidence.checks import EVIDENCE_CHECKS
from freeze_gate.evidence.digest import Observed, Sha256
from freeze_gate.evidence.limits import Limits
from freeze_gate.evidence.record import RECORD, mismatches
from freeze_gate.evidence.side import Artifact, Fault, Other, Pair, Side, Source
from freeze_gate.policy.freezes import LONGEST_FREEZE_DAYS, Freeze, Policy, PolicyReading
from freeze_gate.validation.readers import (
    Problem,
    Problems,
    Reader,
    Shape,
    choice,
    day,
    flag,
    optional,
    several,
    text,
    whole,
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
    sources: tuple[Source, ...] = several(_SOURCE)(listed, "case.sources", problems)

    def source(value: Any, address: str, problems: Problems) -> Source | None:
        place = whole(0, len(sources) - 1)(value, address, problems)
        return sources[place] if type(place) is int and 0 <= place < len(sources) else None

    shape = Shape(
        lambda tool, case, **_: Stored(tool, case),
        {"schema": choice(SCHEMA), "tool": _HEADER, "case": _case_shape(source)},
    )
    stored: Stored = shape(document, "", problems)
    return stored


_text: Final = text()
_sha256: Final = text("64 lower-case hexadecimal characters", r"[0-9a-f]{64}", Sha256)
_OBSERVED: Final = Shape(Observed, {"sha256": _sha256, "size": whole()})
_FAULT: Final = Shape(Fault, {"check": choice(*(check.id for check in EVIDENCE_CHECKS)), "detail": _text})
_ARTIFACT: Final = Shape(
    Artifact,
    {
        "id": whole(1),
        "name": _text,
        "size": whole(),
        "expired": flag,
        **{name: optional(_text) for name in ("created_at", "digest", "head_branch", "head_sha")},
        **{name: optional(whole()) for name in ("run_id", "repository_id", "head_repository_id")},
    },
)
_SOURCE: Final = Shape(
    Source,
    {
        "label": _text,
        "artifact": optional(_ARTIFACT),
        "sha256": optional(_sha256),
        "run_id": optional(whole(1)),
        "attempt": optional(whole(1)),
        "newest_attempt": optional(whole(1)),
        "fault": optional(_FAULT),
    },
)
_FREEZE: Final = Shape(
    Freeze,
    {
        "fixture_id": _text,
        "fixture_sha256": _sha256,
        "owner": _text,
        "reason": _text,
        "added": day,
        "expires": day,
        "unfreeze_when": _text,
        "pull_request": optional(whole(1)),
        "line": whole(),
    },
)


def _or(default: Any, reader: Reader[Any]) -> Reader[Any]:
    """Read a field that was left out because it is empty."""
    return lambda value, address, problems: default if value is None else reader(value, address, problems)


_POLICY: Final = Shape(
    Policy,
    {
        "max_freeze_days": whole(0, LONGEST_FREEZE_DAYS),
        "sealed_oracle": flag,
        "freezes": _or((), several(_FREEZE)),
        "fixtures_days": optional(whole()),
    },
)
_READING: Final = Shape(
    PolicyReading,
    {
        "state": choice("not_asked", "absent", "read", "unusable"),
        "policy": _POLICY,
        "sha": optional(_text),
        "problems": _or((), several(_text)),
    },
)
_LIMITS: Final = Shape(Limits, dict.fromkeys(Limits._fields, whole()))
_HEADER: Final = Shape(Header, {"version": _text, "rules": whole(1, RULES_VERSION)})


def _pairs(reader: Reader[Pair]) -> Reader[tuple[Pair, ...]]:
    """Read a list that is not empty: a verdict is about something."""

    def read(value: Any, address: str, problems: Problems) -> tuple[Pair, ...]:
        if value == []:
            problems.append(Problem(address, "must not be empty"))
        return several(reader)(value, address, problems)

    return read


def _named(shape: Shape, *sides: str) -> Reader[Any]:
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


def _case_shape(source: Reader[Source | None]) -> Shape:
    record = Shape(RECORD.build, RECORD.fields)
    side = Shape(
        Side,
        {
            "source": source,
            "record": optional(record),
            "record_sha256": optional(_sha256),
            "pin": optional(_OBSERVED),
            "fault": optional(_FAULT),
        },
    )
    fixture_id = optional(_text)
    pair = Shape(Pair, {"fixture_id": fixture_id, "first": side, "rerun": side})
    other = Shape(Other, {"fixture_id": fixture_id, "side": side})
    return Shape(
        Case,
        {
            "github_metadata": flag,
            "pairs": _pairs(_named(pair, "first", "rerun")),
            "today": day,
            "fail_on": choice("unfrozen", "never"),
            "repository": optional(_text),
            "pull_request": optional(whole(1)),
            "from_fork": flag,
            "expected": _or((), several(_text)),
            "other_attempts": _or((), several(_named(other, "side"))),
            "policy": _READING,
            "limits": _LIMITS,
        },
    )
