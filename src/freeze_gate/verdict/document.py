"""`freeze-gate/verdict/1`: a case and its result as canonical bytes.

Canonical: sorted keys, one-space indent, ASCII, a newline at the end; in the case, what is unknown is left out. Two
gates that saw the same evidence under the same rules write the same bytes. A source is written once, in `sources`;
the sides name it by its place there.
"""

import json
from collections.abc import Mapping
from datetime import date
from functools import partial
from io import BytesIO
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from freeze_gate.errors import FreezeGateError
from freeze_gate.evidence.checks import EVIDENCE_CHECKS, FLAKE_CHECKS, checks_of_version
from freeze_gate.evidence.models import Pair, Side, Source
from freeze_gate.verdict.models import Case, Result, Verdict
from freeze_gate.version import RULES_VERSION, VERSION

SCHEMA: Final = "freeze-gate/verdict/1"
MAX_BYTES: Final = 96 << 20
"""Ten thousand pairs take some 35 MB. A larger document would take the memory that a run is promised to stay under."""

_PIECES: Final = 10_000
"""Pieces of JSON, most of them a few characters, that are put together at a time."""


class Header(NamedTuple):
    """Which tool wrote the document, by which rules."""

    version: str = VERSION
    rules: int = RULES_VERSION


CURRENT_TOOL: Final = Header()


class TooLargeError(FreezeGateError):
    """The evidence is so much that nobody would read its document back."""


def encode(case: Case, result: Result, header: Header = CURRENT_TOOL, max_bytes: int = MAX_BYTES) -> bytes:
    """Write a case with its result. Raises `TooLargeError` beyond `max_bytes`."""
    document = {
        "schema": SCHEMA,
        "tool": header._asdict(),
        "case": _case(case),
        "result": _result(result, header.rules),
    }
    return canonical(document, max_bytes)


def canonical(document: Any, max_bytes: int = MAX_BYTES) -> bytes:
    """Write JSON in the canonical form: sorted keys, one-space indent, ASCII, a newline at the end.

    Raises `TooLargeError` beyond `max_bytes`. The encoder is used piece by piece, because `json.dumps` takes several
    times the size of the document before its size is known; a `partial` stands for a value that is built when it is
    written.
    """
    encoder = json.JSONEncoder(sort_keys=True, indent=1, allow_nan=False, default=lambda deferred: deferred())
    pieces = chain(encoder.iterencode(document), "\n")
    written = BytesIO()
    while text := "".join(islice(pieces, _PIECES)):
        if written.tell() + len(text) > max_bytes:
            raise TooLargeError(f"the verdict document was not written: it would be over {max_bytes >> 20} MiB")
        written.write(text.encode("ascii"))
    return written.getvalue()


def _case(case: Case) -> dict[str, Any]:
    sides = [side for pair in case.pairs for side in (pair.first, pair.rerun)]
    sides += [other.side for other in case.other_attempts]
    sources = {source: index for index, source in enumerate(dict.fromkeys(side.source for side in sides))}
    return {
        **_to_json(case._replace(pairs=(), other_attempts=())),
        "pairs": [partial(_pair, pair, sources) for pair in case.pairs],
        "other_attempts": [
            {"fixture_id": other.fixture_id, "side": _side(other.side, sources)} for other in case.other_attempts
        ],
        "sources": [_to_json(source) for source in sources],
    }


def _pair(pair: Pair, sources: Mapping[Source, int]) -> dict[str, Any]:
    return {
        "fixture_id": pair.fixture_id,
        "first": _side(pair.first, sources),
        "rerun": _side(pair.rerun, sources),
    }


def _side(side: Side, sources: Mapping[Source, int]) -> dict[str, Any]:
    return {**_to_json(side._replace(source=Source(""))), "source": sources[side.source]}


def _to_json(value: Any) -> Any:
    """Convert a value to JSON, field by field, without what is unknown or empty."""
    if isinstance(value, (str, int, float)):
        return value
    if hasattr(value, "_fields"):
        fields = {name: _to_json(item) for name, item in value._asdict().items() if item is not None}
        return {name: item for name, item in fields.items() if item not in ({}, [])}
    return value.isoformat() if isinstance(value, date) else [_to_json(item) for item in value]


def _result(result: Result, rules: int) -> dict[str, Any]:
    fields = result._asdict()
    del fields["red"]  # it follows from the verdicts
    return {**fields, "verdicts": [partial(_verdict, verdict, rules) for verdict in result.verdicts]}


def _verdict(verdict: Verdict, rules: int) -> dict[str, Any]:
    status = verdict.freeze_status
    return {
        **verdict._asdict(),
        "checks": _check_states(verdict, rules),
        "findings": [finding._asdict() for finding in verdict.findings],
        "freeze_status": status and {"state": status.state, "freeze": _to_json(status.freeze)},
    }


def _check_states(verdict: Verdict, rules: int) -> dict[str, str]:
    """Say of each check whether it passed, failed, or was not run (`not_asked`)."""
    evidence, flake = checks_of_version(EVIDENCE_CHECKS, rules), checks_of_version(FLAKE_CHECKS, rules)
    states = dict.fromkeys([check.id for check in evidence], "passed")
    states |= dict.fromkeys([check.id for check in flake], "passed" if verdict.flake_checks_run else "not_asked")
    return states | {finding.check: "failed" for finding in verdict.findings}
