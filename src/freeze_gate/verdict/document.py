"""`freeze-gate/verdict/1`: a case and its result as canonical bytes.

Canonical: sorted keys, one-space indent, ASCII, a newline at the end; in the case, what is unknown is left out. Two
gates that saw the same evidence under the same rules write the same bytes. A source stands once, in `sources`, and the
sides name it by its place there.
"""

import json
from collections.abc import Iterator
from datetime import date
from json.encoder import encode_basestring_ascii
from typing import Any, Final, NamedTuple

from freeze_gate.errors import FreezeGateError
from freeze_gate.evidence.checks import EVIDENCE_CHECKS, FLAKE_CHECKS, checks_of_version
from freeze_gate.evidence.side import Side, Source
from freeze_gate.verdict.models import Case, Result, Verdict
from freeze_gate.version import RULES_VERSION, VERSION

SCHEMA: Final = "freeze-gate/verdict/1"
MAX_BYTES: Final = 256 << 20
"""Ten thousand pairs take some 30 MB; what is far beyond is a flood, and nobody would read it back."""


class Header(NamedTuple):
    """Which tool wrote the document, by which rules."""

    version: str = VERSION
    rules: int = RULES_VERSION


OURS: Final = Header()


class TooLargeError(FreezeGateError):
    """The evidence is so much that its document would be none that anybody reads."""


def encode(case: Case, result: Result, header: Header = OURS, most: int = MAX_BYTES) -> bytes:
    """Write a case with its result. Raises `TooLargeError` beyond `most` bytes."""
    return b"".join(pieces(case, result, header, most))


def pieces(case: Case, result: Result, header: Header = OURS, most: int = MAX_BYTES) -> Iterator[bytes]:
    """Write a case with its result pair by pair, so that no more than one of them is in memory. Raises as `encode`."""
    document = {
        "schema": SCHEMA,
        "tool": header._asdict(),
        "case": _case(case),
        "result": _result(result, header.rules),
    }
    left = most - 1
    for piece in _streamed(document):
        left -= len(piece)
        if left < 0:
            raise TooLargeError(f"the verdict document was not written: it would be over {most >> 20} MiB")
        yield piece.encode("ascii")
    yield b"\n"


def _streamed(value: Any, line: str = "\n") -> Iterator[str]:
    """Write JSON as `_written` does, but piece by piece: an iterator is a list whose items are made one at a time."""
    inner = f"{line} "
    if isinstance(value, Iterator):
        before = "["
        for item in value:
            yield f"{before}{inner}{_written(item, inner)}"
            before = ","
        yield "[]" if before == "[" else f"{line}]"
    elif type(value) is dict and value:
        before = "{"
        for name in sorted(value):
            yield f"{before}{inner}{encode_basestring_ascii(name)}: "
            yield from _streamed(value[name], inner)
            before = ","
        yield f"{line}}}"
    else:
        yield _written(value, line)


_WORDS: Final = {None: "null", True: "true", False: "false"}


def canonical(document: Any) -> bytes:
    """Write JSON in the canonical form: sorted keys, one-space indent, ASCII, a newline at the end."""
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
    if value is None or value is True or value is False:
        return _WORDS[value]
    return repr(value) if type(value) is int else json.dumps(value, allow_nan=False)


def _case(case: Case) -> dict[str, Any]:
    places: dict[Source, int] = {}
    if case.other_attempts:  # they stand before the pairs, whose sources come first all the same
        for pair in case.pairs:
            _place(pair.first, places)
            _place(pair.rerun, places)
    return {
        **_known(case._replace(pairs=(), other_attempts=())),
        "pairs": (
            {"fixture_id": pair.fixture_id, "first": _side(pair.first, places), "rerun": _side(pair.rerun, places)}
            for pair in case.pairs
        ),
        "other_attempts": (
            {"fixture_id": other.fixture_id, "side": _side(other.side, places)} for other in case.other_attempts
        ),
        "sources": (_known(source) for source in _listed(places)),
    }


def _place(side: Side, places: dict[Source, int]) -> int:
    """Return the place of a side's source in the list of sources, which grows by those that are new."""
    return places.setdefault(side.source, len(places))


def _listed(places: dict[Source, int]) -> Iterator[Source]:
    """List the sources, as many as there are once that is asked: `sources` stands behind all that names them."""
    yield from places


def _side(side: Side, places: dict[Source, int]) -> dict[str, Any]:
    known = {name: _known(value) for name, value in zip(Side._fields, side, strict=True) if value is not None}
    return {**known, "source": _place(side, places)}


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
    return {**told, "verdicts": (_verdict(verdict, rules) for verdict in result.verdicts)}


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
