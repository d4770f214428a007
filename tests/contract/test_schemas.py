"""The published schemas say what the readers do, and all that the tool writes follows them."""

import copy
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from freeze_gate.evidence.checks import EVIDENCE_CHECKS, FLAKE_CHECKS
from freeze_gate.evidence.models import CheckFailure, OtherAttempt, Pair, Side, Source
from freeze_gate.evidence.record import InvalidRecord, Record, encode_record, read_record
from freeze_gate.policy.file import read_policy
from freeze_gate.policy.freezes import STATES, Policy, PolicyReading
from freeze_gate.verdict.document import encode
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.models import GREEN, Case
from freeze_gate.verdict.table import RULES, FailureClass
from tests.builders.evidence import (
    DRIFT,
    FLAKE,
    FREEZE,
    MISS,
    SPLIT,
    TODAY,
    UNPROVEN,
    X,
    make_case,
    make_pair,
    make_side,
)

FOLDER = Path(__file__).parents[2] / "src" / "freeze_gate" / "schemas"
SCHEMAS = {path.name.partition(".")[0]: json.loads(path.read_bytes()) for path in FOLDER.glob("*.json")}
REGISTRY: Registry[Any] = Registry().with_resources(
    (each["$id"], Resource.from_contents(each)) for each in SCHEMAS.values()
)
VALIDATORS = {name: Draft202012Validator(schema, registry=REGISTRY) for name, schema in SCHEMAS.items()}

RECORD = json.loads(encode_record(make_side(1).record or Record("", None, None, None, None)))
POLICY = {
    "schema": "freeze-gate/policy/1",
    "max_freeze_days": 30,
    "require": {"sealed_oracle": True},
    "freezes": [
        {
            "fixture_id": "sorted-patch",
            "fixture_sha256": X,
            "owner": "@octo-org/harness",
            "reason": "executor lane drops connections",
            "added": "2026-11-20",
            "expires": "2026-12-10",
            "unfreeze_when": "lane upgrade is out",
            "pull_request": 12,
        }
    ],
    "retention": {"fixtures_days": 90},
}

ABSENT = object()
VALUES = [
    ABSENT,
    None,
    True,
    False,
    0,
    1,
    -1,
    12,
    99,
    100,
    200,
    999,
    1000,
    90,
    91,
    36_500,
    36_501,
    1.5,
    -0.5,
    2**53 - 1,
    2**53,
]
VALUES += [
    "",
    " ",
    "x",
    "a b",
    "a\n",
    "a\nb",
    "\n",
    "\t",
    "a\x7f",
    "\u2028",
    "é",
    "\U0001f600",
    "x" * 129,
    "true",
    "1",
    "null",
]
VALUES += [
    X,
    X.upper(),
    X[1:],
    f"{X}\n",
    f"sha256:{X}",
    "c" * 40,
    "c" * 32,
    "octo-org/widgets",
    "a/b/c",
    "/",
    "a//b",
    "a/../b",
]
VALUES += [
    "./a",
    "..",
    "a/.b/..c",
    "/a",
    "a/",
    "fixtures/a.json",
    ".a",
    "-a",
    "a-",
    "timeout",
    "http_status",
    "passed",
    "sealed",
]
VALUES += [
    "2026-11-29T12:00:00Z",
    "2026-11-29",
    "2026-11-29\n",
    "29.11.2026",
    [],
    ["x"],
    {},
    {"x": 1},
    [{}],
    31_622_400,
    31_622_401,
]


def is_valid(name: str, instance: Any) -> bool:
    """Whether a schema accepts an instance."""
    return bool(VALIDATORS[name].is_valid(instance))


def is_record(instance: Any) -> bool:
    """Whether the reader accepts a record, in a file of the right name."""
    try:
        read_record(json.dumps(instance).encode(), str(instance.get("fixture_id")))
    except InvalidRecord:
        return False
    return True


def is_policy(instance: Any) -> bool:
    """Whether the reader accepts a policy; JSON is YAML."""
    return read_policy(json.dumps(instance, ensure_ascii=False).encode(), "p", date(2026, 12, 31)).state == "read"


def places(instance: Any, *path: Any) -> list[tuple[Any, ...]]:
    """Name the place of every value in an instance."""
    inner = (
        enumerate(instance) if isinstance(instance, list) else instance.items() if isinstance(instance, dict) else ()
    )
    return [*([path] if path else []), *(place for key, item in inner for place in places(item, *path, key))]


def changed(instance: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Return a copy with another value in one place, or without it."""
    changed = copy.deepcopy(instance)
    target = changed
    for key in place[:-1]:
        target = target[key]
    target.pop(place[-1]) if value is ABSENT else target.__setitem__(place[-1], value)
    return changed


def agree(name: str, instance: Any) -> bool:
    """Whether schema and reader say the same."""
    return is_valid(name, instance) == {"record": is_record, "policy": is_policy}[name](instance)


def wants_quotes(name: str, instance: Any) -> bool:
    """Whether a policy has a number or a truth value where words belong: fine for the reader, not for a schema."""
    entries = instance.get("freezes") if name == "policy" else None
    values = [item for entry in entries for item in entry.items()] if is_list_of_objects(entries) else []
    return any(key != "pull_request" and type(value) in (int, float, bool) for key, value in values)


def is_list_of_objects(value: Any) -> bool:
    """Whether there are entries to look into."""
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_schema_is_one(name: str) -> None:
    """They follow the draft that they name, are named after their format, and are all there."""
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["title"] == SCHEMAS[name]["properties"]["schema"]["const"] == f"freeze-gate/{name}/1"
    assert set(SCHEMAS) == {"record", "policy", "verdict"}


@pytest.mark.parametrize(("name", "base"), [("record", RECORD), ("policy", POLICY)])
def test_schema_and_reader_agree_on_every_field(name: str, base: Any) -> None:
    """Every field in turn is given every one of some eighty values, right ones and wrong ones, or left out."""
    assert is_valid(name, base)
    assert agree(name, base)
    instances = [(place, value, changed(base, place, value)) for place in places(base) for value in VALUES]
    disagree = [each for each in instances if not agree(name, each[2]) and not wants_quotes(name, each[2])]
    assert [(place, value) for place, value, _ in disagree] == []


@pytest.mark.parametrize(("name", "known"), [("record", True), ("policy", False)])
def test_unknown_keys_are_allowed_in_a_record_and_refused_in_a_policy(name: str, known: bool) -> None:
    """A newer tool may say more in a record; in a policy an unknown key is a slip of whoever meant something."""
    base = {"record": RECORD, "policy": POLICY}[name]
    for place in [(), *places(base)]:
        target = base
        for key in place:
            target = target[key]
        if isinstance(target, dict):
            instance = changed(base, (*place, "unknown"), 1)
            assert is_valid(name, instance) == known
            assert agree(name, instance)


SCALARS = (
    st.none() | st.booleans() | st.integers(-1, 2**53) | st.sampled_from([each for each in VALUES if type(each) is str])
)
JSON = SCALARS | st.lists(SCALARS, max_size=2) | st.just({})


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_schema_and_reader_agree_on_any_mixture(data: st.DataObject) -> None:
    """Several fields at once, with values of any kind."""
    for name, base in (("record", RECORD), ("policy", POLICY)):
        instance = base
        for _ in range(data.draw(st.integers(1, 3))):
            instance = changed(instance, data.draw(st.sampled_from(places(instance))), data.draw(JSON))
            if not places(instance):
                break
        assert agree(name, instance) or (wants_quotes(name, instance) and not is_valid(name, instance))


def every_case() -> list[Case]:
    """Return cases of every class, with everything in them that a case can hold."""
    lost = Pair(None, Side(Source("a", fault=CheckFailure("archive-invalid", "it is no zip"))), Side(Source("b")))
    bare = Pair(
        "a", Side(Source("a"), fault=CheckFailure("record-missing", "it is not there")), make_side(2, fixture_id="a")
    )
    read = PolicyReading("read", Policy(freezes=(FREEZE, FREEZE._replace(pull_request=7)), fixtures_days=90), "a" * 40)
    unusable = PolicyReading("unusable", problems=("p:1: schema: is required",))
    other_attempts = (OtherAttempt("sorted-patch", make_side(3, oracle=False)), OtherAttempt(None, Side(Source("c"))))
    cases = [make_case(each) for each in (make_pair(), FLAKE, MISS, DRIFT, SPLIT, UNPROVEN, lost, bare)]
    cases += [make_case(FLAKE, policy=policy) for policy in (read, unusable, PolicyReading("absent"))]
    cases += [make_case(FLAKE, policy=read, today=day) for day in (FREEZE.added, FREEZE.expires, date(2027, 1, 1))]
    cases += [
        make_case(UNPROVEN, policy=read),
        make_case(FLAKE, other_attempts=other_attempts),
        make_case(MISS, DRIFT, lost, expected=("*", "x")),
    ]
    return [*cases, Case(github_metadata=False, pairs=(FLAKE,), today=TODAY, fail_on="never")]


@pytest.mark.parametrize("given_case", every_case(), ids=lambda given_case: evaluate(given_case).reason)
def test_every_verdict_that_is_written_follows_its_schema(given_case: Case) -> None:
    """Green, of each class, with and without a policy, with what could not be read."""
    document = json.loads(encode(given_case, evaluate(given_case)))
    assert [error.message for error in VALIDATORS["verdict"].iter_errors(document)] == []


def test_the_verdict_schema_names_what_the_code_can_say() -> None:
    """Ids of checks and rules, classes and states: no more, no fewer."""
    defs = SCHEMAS["verdict"]["$defs"]
    rules = [rule.id for rule in RULES]
    evidence, flake = [check.id for check in EVIDENCE_CHECKS], [check.id for check in FLAKE_CHECKS]
    assert defs["class"]["enum"] == [each.value for each in FailureClass]
    assert defs["reason"]["enum"] == [GREEN, *rules, *evidence, *flake]
    assert defs["verdict"]["properties"]["rule"]["enum"] == [*rules, None]
    assert defs["verdict"]["properties"]["freeze_status"]["anyOf"][0]["properties"]["state"]["enum"] == list(STATES)
    assert list(defs["checks"]["properties"]) == [*evidence, *flake]
    assert defs["fault"]["properties"]["check"]["enum"] == evidence
    assert set(defs["side"]["properties"]["record"]["properties"]) == set(Record._fields)


def test_a_verdict_with_anything_more_or_less_is_refused() -> None:
    """The schema is closed: a field that it does not know is a field that nobody documented."""
    [flake] = [each for each in every_case() if each.policy.state == "read" and each.today == FREEZE.expires]
    document = json.loads(encode(flake, evaluate(flake)))
    for place in [(), *places(document)]:
        target = document
        for key in place:
            target = target[key]
        detail = {"transport", "checks", "oracle", "run", "sampler"} & set(place) and "record" in place
        if isinstance(target, dict) and not detail:
            assert not is_valid("verdict", changed(document, (*place, "unknown"), 1)), place
    newer = {check.id for check in (*EVIDENCE_CHECKS, *FLAKE_CHECKS) if check.since > 1}  # older verdicts have none
    for place in places(document["result"], "result"):
        if isinstance(place[-1], str) and place[-1] not in {"pull_request", *newer}:
            assert not is_valid("verdict", changed(document, place, ABSENT)), place
