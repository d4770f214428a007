"""The verdict document: canonical bytes, computed again from itself alone; what was changed is found out or refused."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.models import CheckFailure, OtherAttempt, Pair, Side, Source
from freeze_gate.policy.freezes import Policy, PolicyReading
from freeze_gate.verdict.document import Header, TooLargeError, encode
from freeze_gate.verdict.document_reader import InvalidDocument, decode, recompute
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.models import Case
from freeze_gate.version import RULES_VERSION, VERSION
from tests.builders.evidence import DRIFT, FLAKE, FREEZE, MISS, UNPROVEN, X, make_case, make_pair, make_side
from tests.builders.record import change_record

DOCUMENTS = sorted((Path(__file__).parents[2] / "golden" / "document").glob("*.json"))

RICH = make_case(
    FLAKE,
    MISS._replace(fixture_id="zz")._replace(
        first=make_side(1, fixture_id="zz", oracle=False), rerun=make_side(2, fixture_id="zz", oracle=False)
    ),
    Pair("a", Side(Source("x", fault=CheckFailure("archive-invalid", "it is no zip"))), make_side(2, fixture_id="a")),
    other_attempts=(
        OtherAttempt("sorted-patch", make_side(3)),
        OtherAttempt(None, Side(Source("y", ignored_records=("records/._a.json",)))),
    ),
    expected=("a*",),
    policy=PolicyReading("read", Policy(freezes=(FREEZE, FREEZE._replace(pull_request=3))), "b" * 40),
)


def document(given: Case = RICH) -> bytes:
    """Return a case with its result."""
    return encode(given, evaluate(given))


def dumped(value: Any) -> bytes:
    """Write JSON in the canonical layout."""
    return (json.dumps(value, sort_keys=True, indent=1) + "\n").encode("ascii")


@pytest.mark.parametrize(
    "given",
    [
        RICH,
        make_case(FLAKE),
        make_case(DRIFT),
        make_case(make_pair()),
        make_case(UNPROVEN, policy=PolicyReading("unusable", problems=("p: ü",))),
    ],
)
def test_a_case_comes_back_from_its_document(given: Case) -> None:
    """The same value, so the same result, so the same bytes."""
    payload = document(given)
    assert decode(payload).case == given
    assert decode(payload).header == Header(VERSION, RULES_VERSION)
    assert recompute(payload) == payload


def test_the_layout_is_canonical() -> None:
    """Sorted keys, one-space indent, ASCII, one newline at the end, as the standard library writes it."""
    payload = document()
    assert payload == dumped(json.loads(payload))
    assert set(json.loads(payload)) == {"schema", "tool", "case", "result"}


def test_a_flood_makes_no_document() -> None:
    """What `verify` would refuse to read is not written in the first place."""
    size = len(document())
    assert len(encode(RICH, evaluate(RICH), max_bytes=size)) == size
    with pytest.raises(TooLargeError, match="was not written"):
        encode(RICH, evaluate(RICH), max_bytes=size - 1)


def test_two_gates_that_saw_the_same_write_the_same() -> None:
    """Though each made its own values; a source stands once, and the sides name it by its place."""
    twin = Case(*(value if name != "pairs" else copied(value) for name, value in zip(Case._fields, RICH, strict=True)))
    assert document(twin) == document(RICH)
    assert len(json.loads(document(twin))["case"]["sources"]) == 5


def copied(pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
    """Return equal pairs whose sources are other objects."""
    return tuple(
        each._replace(
            first=each.first._replace(source=Source(*each.first.source)),
            rerun=each.rerun._replace(source=Source(*each.rerun.source)),
        )
        for each in pairs
    )


def test_an_older_tools_document_is_computed_by_the_same_rules() -> None:
    """Its version stays in it; the rules of a newer tool are refused."""
    payload = encode(RICH, evaluate(RICH), Header("0.0.9"))
    assert recompute(payload) == payload
    with pytest.raises(InvalidDocument, match=rf"tool\.rules: must be a whole number from 1 to {RULES_VERSION}"):
        recompute(encode(RICH, evaluate(RICH), Header(VERSION, RULES_VERSION + 1)))


def test_a_record_is_judged_by_the_contradictions_of_its_documents_rules() -> None:
    """A verdict that was reached before a contradiction was known is still consistent."""
    pair = make_pair({"oracle": None, "transport": False})
    assert pair.rerun.record
    record = change_record(pair.rerun.record, oracle={"exit_code": 137})
    case = make_case(pair._replace(rerun=pair.rerun._replace(record=record)))
    payload = encode(case, evaluate(case, 1), Header("0.0.9", 1))
    assert evaluate(case).reason == "record-contradiction"
    assert evaluate(case, 1).reason == "transport-fault"
    assert recompute(payload) == payload


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """List the places of all values in a document."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in children:
        yield (*path, key)
        yield from places(inner, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a copy of a document with another value in one place; `...` removes it."""
    key, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copy[key] = changed(value[key], tuple(rest), new)
    elif new is ...:
        del copy[key]
    else:
        copy[key] = new
    return copy


NEW: tuple[Any, ...] = (
    ..., None, True, False, 0, 1, 2, -1, 10**15, 2**60, 0.5, "", "x", "first", "2026-11-28", "9999-12-31", "0001-01-01",
    X, "harness_flake", "read", "never", [], {}, [{}], {"a": 1}, [None],
)  # fmt: skip


def found_out(payload: bytes, result_was: Any) -> bool:
    """Whether a changed document is refused, or is not what it should be, or is that of a case with another result."""
    try:
        again = recompute(payload)
    except InvalidDocument as error:
        return 0 < max(len(str(problem)) for problem in error.problems) < 400
    if again != payload:
        return True
    assert json.loads(payload)["result"] == json.loads(again)["result"]
    return bool(json.loads(again)["result"] != result_was)


@pytest.mark.parametrize("part", ["result", "case", "tool", "schema"])
def test_any_changed_value_is_refused_or_followed(part: str) -> None:
    """A changed result is always found out; a changed case is refused, or its result is that of the changed case."""
    whole = json.loads(document())
    silent = set()
    rng = random.Random(4)  # noqa: S311 - chosen, not secret
    for place in places(whole):
        if place[0] != part:
            continue
        for new in rng.sample(NEW, 3 if part == "case" else 1):
            mutated = changed(whole, place, new)
            if json.dumps(mutated) == json.dumps(whole):
                continue
            if not found_out(dumped(mutated), whole["result"]):
                silent.add(place)
    if part == "tool":
        assert silent <= {("tool", "version")}
    elif part == "case":
        assert not silent & {("case", "pairs"), ("case", "sources"), ("case", "fail_on")}
        told = {place[-2:] for place in silent if place[1] == "pairs"}
        assert not told & {("record", name) for name in ("fixture_id", "fixture_sha256", "oracle_passed")}
        assert not told & {("first", "pin"), ("rerun", "pin"), ("pin", "sha256"), ("first", "fault")}
    else:
        assert not silent


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_golden_document_whose_verdict_was_edited_is_found_out(path: Path) -> None:
    """What is stored as its result is not looked at, so that nothing in it can be believed."""
    payload = path.read_bytes()
    whole = json.loads(payload)
    rng = random.Random(6)  # noqa: S311 - as above
    for place in rng.sample(list(places(whole["result"])), 5):
        for new in ("harness_flake", None):
            mutated = dumped({**whole, "result": changed(whole["result"], place, new)})
            assert mutated == payload or recompute(mutated) == payload


def test_any_changed_byte_is_refused_or_found_out_or_another_case() -> None:
    """Thousands of garbled documents, and no traceback."""
    payload = document()
    rng = random.Random(5)  # noqa: S311 - as above
    for _ in range(1500):
        garbled = bytearray(payload)
        place = rng.randrange(len(payload))
        action = rng.randrange(3)
        if action == 0:
            garbled[place] = rng.randrange(256)
        elif action == 1:
            del garbled[place : place + rng.randrange(1, 40)]
        else:
            garbled[place:place] = payload[rng.randrange(len(payload)) :][: rng.randrange(1, 40)]
        if bytes(garbled) != payload:
            found_out(bytes(garbled), None)


def test_a_document_cut_anywhere_is_refused_or_found_out() -> None:
    """The last newline counts too."""
    payload = document(make_case(FLAKE))
    for length in range(0, len(payload), 13):
        assert found_out(payload[:length], None)
    assert found_out(payload[:-1], None)
    assert found_out(payload + b"\n", None)


REFUSED: dict[str, tuple[tuple[Any, ...], Any, str]] = {
    "no pairs": (("case", "pairs"), [], "case.pairs: must not be empty"),
    "a source that is not there": (("case", "pairs", 0, "first", "source"), 9, "whole number from 0 to"),
    "a record of another id": (
        ("case", "pairs", 0, "first", "record", "fixture_id"),
        "b",
        r"case.pairs\[0\].first.record.fixture_id: must be the file's name",
    ),
    "a digest without a path": (
        ("case", "pairs", 0, "first", "record", "fixture_path"),
        ...,
        r"case.pairs\[0\].first.record.fixture_path: must be null where fixture_sha256 is",
    ),
    "another attempt's record of another id": (
        ("case", "other_attempts", 0, "side", "record", "fixture_id"),
        "b",
        r"case.other_attempts\[0\].side.record.fixture_id",
    ),
    "a fault of no check": (("case", "sources", 2, "fault", "check"), "oracle-egress", r"fault.check: must be one of"),
    "endless freezes": (("case", "policy", "policy", "max_freeze_days"), 2**53 - 1, "from 0 to 90"),
    "a far day": (("case", "today"), "10000-01-01", "case.today: must be a day"),
    "another schema": (("schema",), "freeze-gate/verdict/2", "schema: must be one of freeze-gate/verdict/1"),
    "a string for a boolean": (("case", "github_metadata"), "false", "case.github_metadata: must be true or false"),
    "a list for the case": (("case",), [], "case: must be an object"),
}


@pytest.mark.parametrize(("place", "new", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_computed_is_refused_with_its_address(place: tuple[Any, ...], new: Any, words: str) -> None:
    """So that a person finds it."""
    with pytest.raises(InvalidDocument, match=words):
        recompute(dumped(changed(json.loads(document()), place, new)))


@given(st.binary(max_size=100) | st.recursive(st.none() | st.text("ab"), st.lists, max_leaves=3).map(dumped))
def test_what_is_no_document_is_refused(payload: bytes) -> None:
    """Random bytes, and JSON that is something else."""
    with pytest.raises(InvalidDocument):
        recompute(payload)


texts = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20)


@given(texts, texts, st.floats(0, 10**6), st.sampled_from([None, 0, 2**53 - 1]))
def test_whatever_a_record_may_say_comes_back(job: str, label: str, seconds: float, size: int | None) -> None:
    """Every text and every number that the format allows."""
    made = make_side(1)
    assert made.record
    made = made._replace(
        source=made.source._replace(label=label),
        record=made.record._replace(
            run=made.record.run._replace(job=job),
            oracle=made.record.oracle._replace(seconds=seconds),
            transport=made.record.transport._replace(bytes_received=size, bytes_declared=size),
        ),
        record_sha256=Sha256.of(job.encode()),
    )
    payload = document(make_case(Pair("sorted-patch", made, make_side(2))))
    assert recompute(payload) == payload == dumped(json.loads(payload))
