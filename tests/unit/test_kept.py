"""Sides outside of memory: what comes back is what was put there."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.evidence.digest import Observed, Sha256
from freeze_gate.evidence.kept import keep
from freeze_gate.evidence.record import LengthChecks, Oracle, Record, Run, Sampler, Transport
from freeze_gate.evidence.side import Fault, Side, Source
from freeze_gate.shelf import Shelf
from tests.builders.evidence import Y, make_side

SOURCE = Source("one")

texts = st.text(max_size=5)
digests = st.binary(max_size=2).map(Sha256.of)
flags = st.none() | st.booleans()
counts = st.none() | st.integers(0, 2**53)


def some(kind: Any, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Build named tuples of which any field may be unknown."""
    return st.builds(kind, **{name: st.none() | field for name, field in fields.items()})


transports = some(Transport, status_code=counts, timed_out=flags, fault=texts, bytes_received=counts).flatmap(
    lambda made: st.builds(made._replace, checks=some(LengthChecks, min_bytes=counts, ends_with=texts))
)
records = st.builds(
    Record,
    texts,
    st.none() | digests,
    st.none() | texts,
    flags,
    flags,
    transports,
    some(Oracle, outcome=texts, fixture_sha256=digests, seconds=st.floats(0, 1e7) | st.integers(0, 9), runs=counts),
    some(Run, repository=texts, run_id=counts, run_attempt=counts, recorded_at=texts),
    some(Sampler, model=texts, request_sha256=digests),
)
sides = st.builds(
    Side,
    st.just(SOURCE),
    st.none() | records,
    st.none() | digests,
    st.none() | st.builds(Observed, digests, st.integers(0, 2**40)),
    st.none() | st.builds(Fault, texts, texts),
)


@given(st.lists(st.tuples(st.sampled_from("ab"), sides), max_size=5))
def test_what_comes_back_is_what_was_kept(found: list[tuple[str, Side]]) -> None:
    """Every field with its type, however odd its text, and each of several of one id, the last one first."""
    reading = keep(SOURCE, Shelf(), found)
    assert set(reading.places) == {name for name, _ in found}
    for name in ("a", "b", "c"):
        expected = [each for given_name, each in reversed(found) if given_name == name]
        assert [*reading.sides(name)] == expected
        assert [*map(repr, reading.sides(name))] == [*map(repr, expected)]


def test_digests_are_digests_again() -> None:
    """Text that is none cannot come back as one."""
    whole = make_side(1)
    (back,) = keep(whole.source, Shelf(), [("a", whole)]).sides("a")
    assert back == whole
    assert back.record
    assert back.pin
    kept = (back.record.fixture_sha256, back.record.oracle.fixture_sha256, back.record.sampler.request_sha256)
    assert {type(each) for each in (*kept, back.record_sha256, back.pin.sha256)} == {Sha256}


def test_what_was_read_may_turn_out_to_come_from_elsewhere() -> None:
    """What GitHub says of the run is known only when the artifact is chosen; the rows do not know it."""
    reading = keep(SOURCE, Shelf(), [("a", make_side(1))])
    other = Source("other", attempt=3)
    assert [*reading._replace(source=other).sides("a")] == [make_side(1)._replace(source=other)]


def test_the_attempt_is_that_of_all_records_or_none() -> None:
    """One record of another attempt, or of none, and nothing is said."""
    unread = Side(SOURCE, record_sha256=Y)
    nameless = make_side(1)._replace(record=Record("a", None, None, None, None))
    for found, attempt in (
        ([make_side(2), make_side(2)], 2),
        ([make_side(2), unread], 2),
        ([make_side(2), make_side(1)], None),
        ([make_side(2), nameless], None),
        ([nameless], None),
        ([unread], None),
        ([], None),
    ):
        assert keep(SOURCE, Shelf(), (("a", each) for each in found)).attempt == attempt
