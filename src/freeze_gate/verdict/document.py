"""`freeze-gate/verdict/1`: a case and its result as canonical bytes, and back.

Canonical: sorted keys, one-space indent, ASCII, a newline at the end; in the case, what is unknown is left out. Two
gates that saw the same evidence under the same rules write the same bytes. A source stands once, in `sources`, and the
sides name it by its place there.
"""

import json
from datetime import date
from json.encoder import encode_basestring_ascii
from typing import Any, Final, NamedTuple

from freeze_gate.evidence.checks import DOOR_CHECKS, EVIDENCE_CHECKS
from freeze_gate.evidence.digest import Observed, Sha256
from freeze_gate.evidence.limits import Limits
from freeze_gate.evidence.record import RECORD, mismatches
from freeze_gate.evidence.shape import (
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
from freeze_gate.evidence.side import Artifact, Fault, Other, Pair, Side, Source
from freeze_gate.evidence.strict_json import NotJson, read_json
from freeze_gate.verdict.case import Case, Result, Verdict
from freeze_gate.verdict.decide import judge
from freeze_gate.verdict.policy import LONGEST_FREEZE_DAYS, Freeze, Policy, PolicyReading
from freeze_gate.version import RULES_VERSION, VERSION

SCHEMA: Final = "freeze-gate/verdict/1"
_DEPTH: Final = 8  # the document, case, pairs, a pair, its side, the record, its transport, the transport's checks
MAX_BYTES: Final = 256 << 20
"""Ten thousand pairs take some 40 MB; anything far beyond is not a verdict."""


class Header(NamedTuple):
    """Which tool wrote the document, by which rules."""

    version: str = VERSION
    rules: int = RULES_VERSION


class Stored(NamedTuple):
    """A document as it was read: the header, the case, and nothing of the result, which is computed again."""

    header: Header
    case: Case


class DocumentInvalid(ValueError):
    """The bytes are not a verdict document that this version can compute again; `problems` says all that is wrong."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


OURS: Final = Header()


def encode(case: Case, result: Result, header: Header = OURS) -> bytes:
    """Write a case with its result."""
    document = {
        "schema": SCHEMA,
        "tool": header._asdict(),
        "case": _case(case),
        "result": _result(result),
    }
    return f"{_written(document)}\n".encode("ascii")


def _written(value: Any, line: str = "\n") -> str:
    """Write JSON as `json.dumps(value, sort_keys=True, indent=1)` does, in a third of its time."""
    if type(value) is dict:
        inner = f"{line} "
        items = [f"{encode_basestring_ascii(name)}: {_written(value[name], inner)}" for name in sorted(value)]
        return f"{{{inner}{f',{inner}'.join(items)}{line}}}" if items else "{}"
    if type(value) is list:
        inner = f"{line} "
        items = [_written(item, inner) for item in value]
        return f"[{inner}{f',{inner}'.join(items)}{line}]" if items else "[]"
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    return repr(value) if type(value) is int else json.dumps(value, allow_nan=False)


def recompute(payload: bytes) -> bytes:
    """Read a document, judge its case again, and write what should have been stored. Raises `DocumentInvalid`."""
    stored = decode(payload)
    return encode(stored.case, judge(stored.case), stored.header)


def _case(case: Case) -> dict[str, Any]:
    places: dict[Source, int] = {}
    pairs = [
        {"fixture_id": pair.fixture_id, "first": _side(pair.first, places), "rerun": _side(pair.rerun, places)}
        for pair in case.pairs
    ]
    earlier = [{"fixture_id": other.fixture_id, "side": _side(other.side, places)} for other in case.earlier]
    known = _known(case._replace(pairs=(), earlier=()))
    return {**known, "pairs": pairs, "earlier": earlier, "sources": [_known(source) for source in places]}


def _side(side: Side, places: dict[Source, int]) -> dict[str, Any]:
    """Write a side with its source's place in the list of sources, which grows by those that are new."""
    known = {name: _known(value) for name, value in zip(Side._fields, side, strict=True) if value is not None}
    return {**known, "source": places.setdefault(side.source, len(places))}


def _known(value: Any) -> Any:
    """Turn a value into JSON, field by field, leaving out what is unknown and what is empty."""
    if isinstance(value, (str, int, float)):
        return value
    if hasattr(value, "_fields"):
        known = ((name, _known(item)) for name, item in zip(value._fields, value, strict=True) if item is not None)
        return {name: item for name, item in known if item not in ({}, [])}
    return value.isoformat() if isinstance(value, date) else [_known(item) for item in value]


def _result(result: Result) -> dict[str, Any]:
    return {**result._asdict(), "verdicts": [_verdict(verdict) for verdict in result.verdicts]}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    standing = verdict.standing
    return {
        **verdict._asdict(),
        "checks": _outcomes(verdict),
        "findings": [finding._asdict() for finding in verdict.findings],
        "standing": standing and {"state": standing.state, "freeze": _known(standing.freeze)},
    }


def _outcomes(verdict: Verdict) -> dict[str, str]:
    """Say of each check whether it passed, failed, or was not looked at."""
    failed = {finding.check for finding in verdict.findings}
    outcomes = {check.id: "failed" if check.id in failed else "passed" for check in EVIDENCE_CHECKS}
    for check in DOOR_CHECKS:
        outcomes[check.id] = ("failed" if check.id in failed else "passed") if verdict.door else "not_asked"
    return outcomes


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
_HEADER: Final = Shape(Header, {"version": _text, "rules": whole(RULES_VERSION, RULES_VERSION)})


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
            "in_gate": flag,
            "pairs": _pairs(_named(pair, "first", "rerun")),
            "today": day,
            "fail_on": choice("unfrozen", "never"),
            "repository": optional(_text),
            "pull_request": optional(whole(1)),
            "from_fork": flag,
            "expected": _or((), several(_text)),
            "earlier": _or((), several(_named(other, "side"))),
            "policy": _READING,
            "limits": _LIMITS,
        },
    )
