"""The policy file: from its bytes to what reviewers decided, or to everything that is wrong with it, line by line."""

import hashlib
import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, Final, NamedTuple

from freeze_gate.evidence.abbreviation import abbreviate
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import FIXTURE_ID
from freeze_gate.policy.freezes import LONGEST_FREEZE_DAYS, Freeze, Policy, PolicyReading, overlap
from freeze_gate.validation.readers import (
    ObjectReader,
    Problem,
    Problems,
    Reader,
    T,
    boolean,
    integer,
    iso_date,
    list_of,
    nullable,
    text,
)
from freeze_gate.validation.strict_yaml import Flaw, Reading, Word, below, read_yaml

SCHEMA: Final = "freeze-gate/policy/1"

MAX_POLICY_BYTES: Final = 256 * 1024
"""Some eight hundred freezes, for which PyYAML needs a second. Whoever has more of them has no gate left."""

LONGEST_RETENTION_DAYS: Final = 36_500

_MAX_PROBLEMS: Final = 100  # more than anybody mends at once; a garbled file can have thousands


def read_policy(payload: bytes, name: str, today: date) -> PolicyReading:
    """Read a policy file: `read`, or `unusable` with all that is wrong with it. Never raises.

    Each problem is one line, `name:line: address: what is wrong; what is allowed`; besides `name` it quotes nothing but
    plain keys. `today` is the UTC date: an entry that claims to be added later makes the file unusable, as every other
    broken rule does. Only a horizon beyond `max_freeze_days` is left to the use of the entry
    (`policy.freezes.too_long`), so that the limit can be lowered beside entries that lapsed under the old one.
    """
    sha = hashlib.sha1(b"blob %d\0" % len(payload) + payload, usedforsecurity=False).hexdigest()
    if len(payload) > MAX_POLICY_BYTES:
        problem = f"{name}:1: is over {MAX_POLICY_BYTES // 1024} KiB; a policy is a page of entries"
        return PolicyReading("unusable", sha=sha, problems=(problem,))
    reading = read_yaml(payload)
    policy, flaws = _understood(reading, today)
    if flaws:
        return PolicyReading("unusable", sha=sha, problems=_lines(flaws, name))
    return PolicyReading("read", policy, sha)


def _lines(flaws: list[Flaw], name: str) -> tuple[str, ...]:
    lines = [f"{name}:{flaw.line}: {Problem(flaw.address, flaw.message)}" for flaw in sorted(flaws)]
    return tuple(abbreviate(lines, _MAX_PROBLEMS))


def _understood(reading: Reading, today: date) -> tuple[Policy, list[Flaw]]:
    """Read the values; what is already wrong with one as YAML is not said twice."""
    if reading.value is None and reading.flaws:
        return Policy(), reading.flaws
    problems: Problems = []
    file = _file(today)(reading.value, "", problems)
    explained = {flaw.address for flaw in reading.flaws} - {""}
    flaws = [Flaw(reading.line(each.address), *each) for each in problems if each.address not in explained]
    if file is None or flaws or reading.flaws:
        return Policy(), reading.flaws + flaws
    return file.policy(reading), []


def _section(shape: ObjectReader) -> Reader[Any]:
    """Read a mapping that has no key besides the shape's; left out or left blank, it has none at all."""

    def read(value: Any, address: str, problems: Problems) -> Any:
        found = {} if _is_blank(value) else value
        for key in found if type(found) is dict else ():
            if key not in shape.fields:
                problems.append(Problem(below(address, key), f"is unknown; allowed are {', '.join(shape.fields)}"))
        return shape(found, address, problems)

    return read


def _is_blank(value: Any) -> bool:
    return value is None or (type(value) is Word and value.blank)


def _as(convert: Callable[[Word], Any], reader: Reader[T]) -> Reader[T]:
    """Read a word as what `convert` makes of it; it makes the word itself of what it does not know."""

    def read(value: Any, address: str, problems: Problems) -> T:
        return reader(convert(value) if type(value) is Word else value, address, problems)

    return read


def _number(word: Word) -> int | Word:
    return int(word.text) if word.plain and re.fullmatch(r"0|[1-9][0-9]{0,15}", word.text) else word


def _flag(word: Word) -> bool | Word:
    return word.text == "true" if word.plain and word.text in ("true", "false") else word


def _text(word: Word) -> str:
    return "" if word.blank else word.text


def _sentence(word: Word) -> str:
    return _text(word).rstrip("\n")  # a folded block ends with a line end


def _entry(today: date) -> Reader[Freeze | None]:
    sentence = _as(_sentence, text("words on one line, and not blank", r"[^\S\n]*\S[^\n]*"))
    fields: dict[str, Reader[Any]] = {
        "fixture_id": _as(_text, text("letters, digits, dots, underscores and hyphens, 128 at most", FIXTURE_ID)),
        "fixture_sha256": _as(_text, text("64 lower-case hexadecimal characters", r"[0-9a-f]{64}", Sha256)),
        "owner": sentence,
        "reason": sentence,
        "added": _as(_text, iso_date),
        "expires": _as(_text, iso_date),
        "unfreeze_when": sentence,
        "pull_request": nullable(_as(_number, integer(1))),
    }
    section = _section(ObjectReader(Freeze, fields, frozenset(fields) - {"pull_request"}))

    def read(value: Any, address: str, problems: Problems) -> Freeze | None:
        before = len(problems)
        freeze: Freeze | None = section(value, address, problems)
        if freeze:
            unread = {problem.address for problem in problems[before:]}
            problems += [problem for problem in _wrong_days(freeze, address, today) if problem.address not in unread]
        return freeze if len(problems) == before else None

    return read


def _wrong_days(freeze: Freeze, address: str, today: date) -> Iterator[Problem]:
    if freeze.added > today:
        yield Problem(below(address, "added"), f"lies in the future; {today} (UTC) or earlier is allowed")
    if freeze.expires < freeze.added:
        yield Problem(below(address, "expires"), f"lies before added; {freeze.added} or later is allowed")


def _entries(today: date) -> Reader[tuple[Freeze | None, ...]]:
    each = list_of(_entry(today))

    def read(value: Any, address: str, problems: Problems) -> tuple[Freeze | None, ...]:
        freezes = each([] if _is_blank(value) else value, address, problems)
        problems += _overlaps(freezes, address)
        return freezes

    return read


def _overlaps(freezes: tuple[Freeze | None, ...], address: str) -> Iterator[Problem]:
    """Name every entry that an earlier one overlaps, once."""
    for place, freeze in enumerate(freezes):
        for rival, other in enumerate(freezes[:place]):
            if freeze and other and overlap(freeze, other):
                words = f"overlaps {address}[{rival}]; the days of two entries for one id and digest may not"
                yield Problem(f"{address}[{place}]", words)
                break


class _Require(NamedTuple):
    sealed_oracle: bool | None


class _Retention(NamedTuple):
    fixtures_days: int | None


class _File(NamedTuple):
    """The file's own shape; what is left out is None."""

    schema: str
    max_freeze_days: int | None
    require: _Require
    freezes: tuple[Freeze, ...]
    retention: _Retention

    def policy(self, reading: Reading) -> Policy:
        lines = (reading.line(f"freezes[{index}]") for index in range(len(self.freezes)))
        return Policy(
            max_freeze_days=self.max_freeze_days or Policy().max_freeze_days,
            sealed_oracle=self.require.sealed_oracle or False,
            freezes=tuple(freeze._replace(line=line) for freeze, line in zip(self.freezes, lines, strict=True)),
            fixtures_days=self.retention.fixtures_days,
        )


def _file(today: date) -> Reader[_File | None]:
    fixtures_days = nullable(_as(_number, integer(1, LONGEST_RETENTION_DAYS)))
    fields: dict[str, Reader[Any]] = {
        "schema": _as(_text, text(SCHEMA, re.escape(SCHEMA))),
        "max_freeze_days": nullable(_as(_number, integer(1, LONGEST_FREEZE_DAYS))),
        "require": _section(ObjectReader(_Require, {"sealed_oracle": nullable(_as(_flag, boolean))})),
        "freezes": _entries(today),
        "retention": _section(ObjectReader(_Retention, {"fixtures_days": fixtures_days})),
    }
    return _section(ObjectReader(_File, fields, frozenset({"schema"})))
