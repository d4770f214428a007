"""`freeze-gate/verdict/1`: a case and its result as canonical bytes.

Canonical: sorted keys, one-space indent, ASCII, a newline at the end; in the case, what is unknown is left out. Two
gates that saw the same evidence under the same rules write the same bytes. A source stands once, in `sources`, and the
sides name it by its place there.
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


OURS: Final = Header()


class TooLargeError(FreezeGateError):
    """The evidence is so much that its document would be none that anybody reads."""


def encode(case: Case, result: Result, header: Header = OURS, max_bytes: int = MAX_BYTES) -> bytes:
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

    A `partial` stands for the value that it returns: what is called one by one takes less memory than all at once.
    Raises `TooLargeError` beyond `max_bytes`.
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
        **_known(case._replace(pairs=(), other_attempts=())),
        "pairs": [partial(_pair, pair, sources) for pair in case.pairs],
        "other_attempts": [
            {"fixture_id": other.fixture_id, "side": _side(other.side, sources)} for other in case.other_attempts
        ],
        "sources": [_known(source) for source in sources],
    }


def _pair(pair: Pair, sources: Mapping[Source, int]) -> dict[str, Any]:
    return {
        "fixture_id": pair.fixture_id,
        "first": _side(pair.first, sources),
        "rerun": _side(pair.rerun, sources),
    }


def _side(side: Side, sources: Mapping[Source, int]) -> dict[str, Any]:
    known = {name: _known(value) for name, value in zip(Side._fields, side, strict=True) if value is not None}
    return {**known, "source": sources[side.source]}


def _known(value: Any) -> Any:
    """Turn a value into JSON, field by field, leaving out what is unknown and what is empty."""
    if isinstance(value, (str, int, float)):
        return value
    if hasattr(value, "_fields"):
        known = ((name, _known(item)) for name, item in zip(value._fields, value, strict=True) if item is not None)
        return {name: item for name, item in known if item not in ({}, [])}
    return value.isoformat() if isinstance(value, date) else [_known(item) for item in value]


def _result(result: Result, rules: int) -> dict[str, Any]:
    told = result._asdict()
    del told["red"]  # the verdicts say it
    return {**told, "verdicts": [partial(_verdict, verdict, rules) for verdict in result.verdicts]}


def _verdict(verdict: Verdict, rules: int) -> dict[str, Any]:
    status = verdict.freeze_status
    return {
        **verdict._asdict(),
        "checks": _outcomes(verdict, rules),
        "findings": [finding._asdict() for finding in verdict.findings],
        "freeze_status": status and {"state": status.state, "freeze": _known(status.freeze)},
    }


def _outcomes(verdict: Verdict, rules: int) -> dict[str, str]:
    """Say of each check whether it passed, failed, or was not looked at."""
    failed = {finding.check for finding in verdict.findings}
    outcomes = {
        check.id: "failed" if check.id in failed else "passed" for check in checks_of_version(EVIDENCE_CHECKS, rules)
    }
    for check in checks_of_version(FLAKE_CHECKS, rules):
        outcomes[check.id] = ("failed" if check.id in failed else "passed") if verdict.flake_checks_run else "not_asked"
    return outcomes
