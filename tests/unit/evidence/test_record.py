"""The format of a record: what is read, and what is refused with every problem at once."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.record import (
    MAX_RECORD_BYTES,
    InvalidRecord,
    LengthChecks,
    Oracle,
    Record,
    Run,
    Sampler,
    Transport,
    encode_record,
    read_mapping,
    read_record,
    unknown_keys,
)
from tests.builders.evidence import X, Y
from tests.builders.record import make_mapping

ID = "sorted-patch"


def encoded(mapping: Any) -> bytes:
    """Write what may be no record."""
    return json.dumps(mapping).encode()


def problems(mapping: Any, stem: str = ID) -> list[str]:
    """Return what is wrong with a record, each with its address."""
    try:
        read_record(mapping if isinstance(mapping, bytes) else encoded(mapping), stem)
    except InvalidRecord as error:
        return list(map(str, error.problems))
    return []


def test_a_whole_record_is_read() -> None:
    """Every field, typed; null is unknown."""
    mapping = make_mapping(
        transport={"checks": {"min_bytes": 100, "ends_with": "}"}, "bytes_received": 1841},
        oracle={"seconds": 0.41, "runs": 1, "egress_attempts": 0},
        sampler={"model": "ü-1", "request_sha256": Y},
    )
    read = read_record(encoded(mapping), ID)
    assert read.transport == Transport(200, None, None, None, True, 1841, None, LengthChecks(100, None, "}"))
    assert read.oracle == Oracle("passed", 0, mapping["fixture_sha256"], "sealed", 0, 1, 0.41)
    assert read.run.replay_of is None
    assert read.sampler == Sampler("ü-1", Y)


def test_the_six_first_keys_are_enough() -> None:
    """All details are optional, as is each of their fields."""
    bare = {
        key: make_mapping()[key]
        for key in ("fixture_id", "fixture_sha256", "fixture_path", "oracle_passed", "transport_ok")
    }
    bare["schema"] = "freeze-gate/record/1"
    read = read_record(encoded(bare), ID)
    assert (read.transport, read.oracle, read.run, read.sampler) == (Transport(), Oracle(), Run(), Sampler())
    nulled = {**bare, "transport": None, "oracle": {}, "run": {"job": None}, "sampler": None}
    assert read_record(encoded(nulled), ID) == read
    for key in bare:
        assert any(key in problem for problem in problems({name: bare[name] for name in bare if name != key}))


def test_layout_and_a_byte_order_mark_have_no_effect() -> None:
    """The layout of a record's own bytes does not matter."""
    mapping = make_mapping()
    plain = read_record(encoded(mapping), ID)
    turned = dict(reversed(mapping.items()))
    for payload in (b"\xef\xbb\xbf" + encoded(mapping), json.dumps(turned, indent=4).encode() + b"\r\n\r\n"):
        assert read_record(payload, ID) == plain


@pytest.mark.parametrize("key", ["oracle_passed", "transport_ok"])
@pytest.mark.parametrize("odd", ["false", "False", "no", "true", "", 0, 1, 0.0, [], {}])
def test_a_verdict_is_exactly_true_false_or_null(key: str, odd: Any) -> None:
    """Read loosely, it would be a flake."""
    assert problems({**make_mapping(), key: odd}) == [f"{key}: must be true or false"]


@pytest.mark.parametrize("odd", [X.upper(), f"sha256:{X}", f"{X} ", X[:63], f"{X}0", "", 5, "g" * 64])
def test_a_digest_is_never_repaired(odd: Any) -> None:
    """An empty digest is invalid, not missing."""
    for mapping in (
        {**make_mapping(), "fixture_sha256": odd},
        make_mapping(oracle={"fixture_sha256": odd}),
    ):
        assert [each.split(": ")[1] for each in problems(mapping)] == ["must be 64 lower-case hexadecimal characters"]
    for tail in ("\n", "\r"):
        assert problems({**make_mapping(), "fixture_sha256": X + tail}) == [
            "holds a control character or a lone surrogate"
        ]


@pytest.mark.parametrize(
    "odd",
    [
        "",
        "/etc/passwd",
        "../x",
        "a/../b",
        "a//b",
        "a/",
        "./a",
        "a/.",
        r"a\b",
        "a b",
        "C:/a",
        "ü",
        "a" * 513,
        5,
        "~/a:b",
        "a`b",
    ],
)
def test_a_path_stays_below_the_bundle(odd: Any) -> None:
    """Relative, plain, and without parts that lead elsewhere."""
    assert [each.partition(":")[0] for each in problems({**make_mapping(), "fixture_path": odd})] == ["fixture_path"]


@pytest.mark.parametrize("good", ["a", "a/b/c.json", "fixtures/x..y", ".hidden/+=_-", "a" * 512])
def test_a_plain_path_is_read(good: str) -> None:
    """Every character that the capture side may write."""
    assert problems({**make_mapping(), "fixture_path": good}) == []


@pytest.mark.parametrize("odd", ["", ".a", "-a", "a b", "a/b", "ü", "a" * 129, "a\n", None, 5])
def test_a_fixture_id_is_plain_and_is_the_name_of_its_file(odd: Any) -> None:
    """Its first character is a letter or a digit."""
    assert len(problems({**make_mapping(), "fixture_id": odd}, str(odd))) == 1
    assert problems(make_mapping("a" * 128), "a" * 128) == []
    assert problems(make_mapping("a"), "b") == ["fixture_id: must be the file's name without .json"]


def test_digest_and_path_are_both_there_or_both_null() -> None:
    """A path without a digest says nothing, nor does a digest without a path."""
    words = "fixture_path: must be null where fixture_sha256 is, and only there"
    assert (
        problems({**make_mapping(), "fixture_path": None})
        == problems({**make_mapping(), "fixture_sha256": None})
        == [words]
    )
    assert problems(make_mapping(pin=None, oracle_passed=None)) == []


def test_all_problems_are_named_at_once() -> None:
    """Whoever mends it, mends it once."""
    mapping = make_mapping(
        schema="freeze-gate/record/2",
        transport={"retry_count": -1, "checks": {"min_bytes": "1"}},
        run={"commit": "HEAD"},
    )
    assert problems({**mapping, "oracle_passed": "no", "oracle": []}) == [
        "schema: must be freeze-gate/record/1",
        "oracle_passed: must be true or false",
        "transport.retry_count: must be a whole number of at least 0",
        "transport.checks.min_bytes: must be a whole number of at least 0",
        "oracle: must be an object",
        "run.commit: must be 40 or 64 lower-case hexadecimal characters",
    ]


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (encoded(make_mapping())[:200], "is not JSON"),
        (b"[]", "must be an object"),
        (b"null", "must be an object"),
        (encoded(make_mapping()).replace(b'"fixture_id"', b'"schema": 1, "fixture_id"', 1), "gives a key twice"),
        (encoded(make_mapping(x="y" * (70 << 10))), "is over 64 KiB"),
        (encoded(make_mapping(x="y" * (2 << 20))), "is over 64 KiB"),
        (encoded(make_mapping(sampler={"model": "\ud800"})), "holds a control character or a lone surrogate"),
        (encoded(make_mapping(x="\0")), "holds a control character or a lone surrogate"),
        (encoded(make_mapping(x=[[[1]]])), "is nested too deeply"),
        (encoded(make_mapping(transport={"checks": {"min_bytes": {}}})), "is nested too deeply"),
        (encoded(make_mapping(oracle={"seconds": float("nan")})), "holds NaN or an infinity"),
    ],
)
def test_what_is_no_record_is_refused_as_a_whole(payload: bytes, words: str) -> None:
    """With one sentence that quotes nothing of it."""
    assert problems(payload) == [words]


def test_the_largest_record_is_read() -> None:
    """64 KiB, not one byte more."""
    room = MAX_RECORD_BYTES - len(encoded(make_mapping(x="")))
    assert problems(make_mapping(x="y" * room)) == []
    assert problems(make_mapping(x="y" * (room + 1))) == ["is over 64 KiB"]


def test_unknown_keys_are_ignored_and_named() -> None:
    """A later version may say more."""
    mapping = make_mapping(x=1, transport={"y": 1, "checks": {"z": 1}})
    assert problems(mapping) == []
    assert unknown_keys(read_mapping(encoded(mapping))) == ["x", "transport.y", "transport.checks.z"]


def made_of(kind: type[Any], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Make values of these fields; the others stay unknown."""
    return st.fixed_dictionaries(fields).map(lambda found: kind(**found))


sha256 = st.sampled_from([X, Y, None])
flags = st.sampled_from([True, False, None])
counts = st.none() | st.integers(0, 2**53 - 1)
ids = st.none() | st.integers(1, 2**53 - 1)
words = st.none() | st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=8)
checks = made_of(LengthChecks, min_bytes=counts, max_bytes=counts, ends_with=words)
statuses = st.none() | st.integers(100, 999)
faults = st.sampled_from([None, "timeout", "http_status"])
durations = st.none() | st.floats(0, 1000)
records = st.builds(
    lambda pin, facts: Record(ID, pin, pin and f"fixtures/{pin}", **facts),
    sha256,
    st.fixed_dictionaries(
        {
            "oracle_passed": flags,
            "transport_ok": flags,
            "transport": made_of(
                Transport, status_code=statuses, timed_out=flags, fault=faults, bytes_received=counts, checks=checks
            ),
            "oracle": made_of(Oracle, fixture_sha256=sha256, seconds=durations, runs=counts),
            "run": made_of(Run, job=words, run_id=ids),
            "sampler": made_of(Sampler, model=words, request_sha256=sha256),
        }
    ),
)


@given(records)
def test_what_is_written_is_read_again(made: Record) -> None:
    """Whatever a capture puts in."""
    assert read_record(encode_record(made), ID) == made


@given(records, st.integers(0), st.binary(min_size=1, max_size=3))
def test_a_garbled_record_is_read_or_invalid(made: Record, place: int, garbage: bytes) -> None:
    """Nothing but `InvalidRecord` comes out, and what is read holds together."""
    payload = encode_record(made)
    place %= len(payload)
    with contextlib.suppress(InvalidRecord):
        contradictions(read_record(payload[:place] + garbage + payload[place + len(garbage) :], ID))


odd_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from([X, "passed", ID]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["checks", "fault", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(
    st.dictionaries(st.sampled_from(list(make_mapping())), odd_values),
    st.sampled_from(["transport", "oracle", "run"]),
    odd_values,
)
def test_odd_values_anywhere_raise_nothing_else(changed: dict[str, Any], name: str, odd: Any) -> None:
    """Of every type, in every place."""
    mapping = {**make_mapping(), **changed}
    for each in (mapping, {**mapping, name: dict.fromkeys(make_mapping()[name], odd)}):
        with contextlib.suppress(InvalidRecord):
            contradictions(read_record(encoded(each), ID))


@given(st.binary(max_size=100))
def test_random_bytes_are_no_record(payload: bytes) -> None:
    """And say so."""
    with pytest.raises(InvalidRecord):
        read_record(payload, ID)
