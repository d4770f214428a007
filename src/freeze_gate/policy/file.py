"""Reads the policy file: its bytes become a `Policy`, or a list of everything that is wrong, with line numbers."""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, Final

from freeze_gate.evidence.abbreviation import abbreviate
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import FIXTURE_ID
from freeze_gate.policy.freezes import LONGEST_FREEZE_DAYS, SCHEMA, Freeze, Policy, PolicyReading, overlaps
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
    text,
)
from freeze_gate.validation.strict_yaml import Scalar, YamlDocument, YamlProblem, read_yaml

MAX_POLICY_BYTES: Final = 256 * 1024
"""Some eight hundred freezes, for which PyYAML needs a second. A team with more of them has no gate left."""

LONGEST_RETENTION_DAYS: Final = 36_500

_INVISIBLE: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0\U00013441\U00013442\U0001d159")
"""Letters and symbols that show nothing: Hangul fillers, the Braille blank, hieroglyphic blanks, the null notehead."""

_VISIBLE_LINE: Final = "words on one line, and not blank"
_line: Final = text(_VISIBLE_LINE, r"[^\n]*")
_MAX_PROBLEMS: Final = 100  # a garbled file can have thousands


def read_policy(payload: bytes, name: str, today: date) -> PolicyReading:
    """Read a policy file: `read`, or `unusable` with everything that is wrong with it. Never raises.

    Each problem is one line, `name:line: path: what is wrong; what is allowed`; besides `name` it quotes nothing but
    plain keys. `today` is the UTC date: an entry that claims to be added later makes the file unusable, as every other
    broken rule does. Only an entry of more than `max_freeze_days` is left to the use of the entry
    (`policy.freezes.is_too_long`), so that the limit can be lowered beside entries that expired under the old one.
    """
    sha = hashlib.sha1(b"blob %d\0" % len(payload) + payload, usedforsecurity=False).hexdigest()
    if len(payload) > MAX_POLICY_BYTES:
        problem = f"{name}:1: is over {MAX_POLICY_BYTES // 1024} KiB; a policy is a page of entries"
        return PolicyReading("unusable", sha=sha, problems=(problem,))
    document = read_yaml(payload)
    policy, problems = _read_policy(document, today)
    if problems:
        lines = [f"{name}:{line}: {Problem(path, message)}" for line, path, message in sorted(problems)]
        return PolicyReading("unusable", sha=sha, problems=tuple(abbreviate(lines, _MAX_PROBLEMS)))
    freezes = enumerate(policy.freezes)
    located = tuple(freeze._replace(line=document.line_of(f"freezes[{index}]")) for index, freeze in freezes)
    return PolicyReading("read", policy._replace(freezes=located), sha)


def _read_policy(document: YamlDocument, today: date) -> tuple[Policy, list[YamlProblem]]:
    """Read the values. A value that is already wrong as YAML is not named twice."""
    if document.value is None and document.problems:
        return Policy(), document.problems
    try:
        return _policy_reader(today)(document.value), document.problems
    except InvalidValue as error:
        named = {problem.path for problem in document.problems}
        problems = [problem for problem in error.problems if problem.path not in named]
        located = [YamlProblem(document.line_of(path), path, message) for path, message in problems]
        return Policy(), document.problems + located


def _policy_reader(today: date) -> Reader[Policy]:
    fixtures_days = nullable(_scalar(_number, integer(1, LONGEST_RETENTION_DAYS)))
    fields: dict[str, Reader[Any]] = {
        "schema": _scalar(_text, text(SCHEMA, re.escape(SCHEMA))),
        "max_freeze_days": nullable(_scalar(_number, integer(1, LONGEST_FREEZE_DAYS))),
        "require": _section(
            ObjectReader(
                lambda sealed_oracle: sealed_oracle or False, {"sealed_oracle": nullable(_scalar(_truth, boolean))}
            )
        ),
        "freezes": _freezes(today),
        "retention": _section(ObjectReader(lambda fixtures_days: fixtures_days, {"fixtures_days": fixtures_days})),
    }
    return _section(ObjectReader(_policy, fields, frozenset({"schema"})))


def _policy(
    *,
    schema: str,  # noqa: ARG001 - every field of the file comes by its name
    max_freeze_days: int | None,
    require: bool,
    freezes: tuple[Freeze, ...],
    retention: int | None,
) -> Policy:
    return Policy(max_freeze_days or Policy().max_freeze_days, require, freezes, retention)


def _freezes(today: date) -> Reader[tuple[Freeze, ...]]:
    read_entries = list_of(_freeze(today))

    def read(value: Any) -> tuple[Freeze, ...]:
        freezes = read_entries([] if _is_blank(value) else value)
        if problems := tuple(_overlap_problems(freezes)):
            raise InvalidValue(*problems)
        return freezes

    return read


def _overlap_problems(freezes: tuple[Freeze, ...]) -> Iterator[Problem]:
    """Name every entry that overlaps one before it, once."""
    for index, freeze in enumerate(freezes):
        for earlier_index, earlier in enumerate(freezes[:index]):
            if overlaps(freeze, earlier):
                message = f"overlaps freezes[{earlier_index}]; the days of two entries for one id and digest may not"
                yield Problem(f"[{index}]", message)
                break


def _freeze(today: date) -> Reader[Freeze]:
    sentence = _scalar(_sentence, _visible_line)
    fields: dict[str, Reader[Any]] = {
        "fixture_id": _scalar(_text, text("letters, digits, dots, underscores and hyphens, 128 at most", FIXTURE_ID)),
        "fixture_sha256": _scalar(_text, text("64 lower-case hexadecimal characters", r"[0-9a-f]{64}", Sha256)),
        "owner": sentence,
        "reason": sentence,
        "added": _scalar(_text, iso_date),
        "expires": _scalar(_text, iso_date),
        "unfreeze_when": sentence,
        "pull_request": nullable(_scalar(_number, integer(1))),
    }
    reader = ObjectReader(Freeze, fields, frozenset(fields) - {"pull_request"})

    def read(value: Any) -> Freeze:
        values, problems = _read_section(reader, value)
        problems += _date_problems(values.get("added"), values.get("expires"), today)
        if problems:
            raise InvalidValue(*problems)
        return Freeze(**values)

    return read


def _date_problems(added: date | None, expires: date | None, today: date) -> Iterator[Problem]:
    if added and added > today:
        yield Problem("added", f"lies in the future; {today} (UTC) or earlier is allowed")
    if added and expires and expires < added:
        yield Problem("expires", f"lies before added; {added} or later is allowed")


def _section(reader: ObjectReader[T]) -> Reader[T]:
    """Read a mapping without unknown keys; left out or left blank, it is empty."""

    def read(value: Any) -> T:
        values, problems = _read_section(reader, value)
        if problems:
            raise InvalidValue(*problems)
        return reader.build(**values)

    return read


def _read_section(reader: ObjectReader[T], value: Any) -> tuple[dict[str, Any], list[Problem]]:
    mapping = {} if _is_blank(value) else value
    values, problems = reader.read_fields(mapping)
    unknown = [key for key in mapping if key not in reader.fields]
    allowed = ", ".join(reader.fields)
    return values, problems + [Problem(key, f"is unknown; allowed are {allowed}") for key in unknown]


def _is_blank(value: Any) -> bool:
    return value is None or (type(value) is Scalar and value.is_blank)


def _scalar(convert: Callable[[Scalar], Any], reader: Reader[T]) -> Reader[T]:
    """Read a scalar as what `convert` makes of it. It returns the scalar itself where it is of another kind."""
    return lambda value: reader(convert(value) if type(value) is Scalar else value)


def _number(scalar: Scalar) -> int | Scalar:
    return int(scalar.text) if scalar.plain and re.fullmatch(r"0|[1-9][0-9]{0,15}", scalar.text) else scalar


def _truth(scalar: Scalar) -> bool | Scalar:
    return scalar.text == "true" if scalar.plain and scalar.text in ("true", "false") else scalar


def _text(scalar: Scalar) -> str:
    return "" if scalar.is_blank else scalar.text


def _visible_line(value: Any) -> str:
    """Read one line that shows something: what nobody can see names no owner, no reason and no condition."""
    line = _line(value)
    if any(unicodedata.category(character)[0] in "LNPS" and character not in _INVISIBLE for character in line):
        return line
    raise InvalidValue(Problem("", f"must be {_VISIBLE_LINE}"))


def _sentence(scalar: Scalar) -> str:
    return _text(scalar).rstrip("\n")  # a folded block ends with a line end
