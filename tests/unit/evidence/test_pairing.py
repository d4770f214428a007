"""From the records of two runs to pairs: nothing can vanish between the two sides."""

from collections.abc import Iterable
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.evidence.bundle import SourceRecords, collect_records
from freeze_gate.evidence.digest import ContentDigest
from freeze_gate.evidence.models import CheckFailure, Pair, Side, Source
from freeze_gate.evidence.pairing import RunEvidence, build_pairs, merge_sources
from tests.builders.evidence import X, Y, make_side

ONE, OTHER = Source("one"), Source("other")
BROKEN = Source("broken", fault=CheckFailure("archive-invalid", "it is no zip"))
GONE = Source("gone", fault=CheckFailure("artifact-missing", "nothing found"))


def make_side_of(source: Source, fixture_id: str = "a", **facts: object) -> Side:
    """Return a sound side of some source."""
    return make_side(1, fixture_id=fixture_id)._replace(source=source, **facts)  # type: ignore[arg-type]


def make_run(*names: str, sources: tuple[Source, ...] = (ONE,)) -> RunEvidence:
    """Return a run that shows these ids, in its first source."""
    first, *others = sources
    return merge_sources(
        [
            make_source_records(first, *((name, make_side_of(first, name)) for name in names)),
            *map(make_source_records, others),
        ]
    )


def make_source_records(source: Source, *sides: tuple[str, Side]) -> SourceRecords:
    """Return what was read of a source."""
    return collect_records(source, sides) if sides or not source.fault else SourceRecords(source)


def resolved(*sides: Side) -> Side:
    """Return what counts of several records of one id, each of a source of its own."""
    return merge_sources([make_source_records(side.source, ("a", side)) for side in sides]).sides["a"]


def failed_checks(pairs: Iterable[Pair]) -> list[tuple[str | None, list[str], list[str]]]:
    """Return the ids and the checks that failed on either side."""
    return [
        (pair.fixture_id, *([fault.check for fault in each.faults] for each in (pair.first, pair.rerun)))  # type: ignore[misc]
        for pair in pairs
    ]


def test_records_are_paired_by_their_id_and_in_order() -> None:
    """Each fixture id has one pair."""
    assert failed_checks(build_pairs(make_run("b", "a", "C"), make_run("a", "C", "b"))) == [
        (name, [], []) for name in ("C", "a", "b")
    ]


def test_an_id_that_one_side_lacks_is_a_pair() -> None:
    """On either side."""
    assert failed_checks(build_pairs(make_run("a", "b"), make_run("b", "c"))) == [
        ("a", [], ["record-missing"]),
        ("b", [], []),
        ("c", ["record-missing"], []),
    ]


def test_two_empty_runs_are_a_pair_too() -> None:
    """An empty zip is no green run."""
    assert failed_checks(build_pairs(make_run(), make_run())) == [(None, ["record-missing"], ["record-missing"])]


@pytest.mark.parametrize(
    ("expected", "missing"),
    [
        (["a"], []),
        (["x"], ["x"]),
        (["a*", "?"], []),
        (["x*"], ["x*"]),
        (["x", "x"], ["x"]),
        (["b", "0"], ["0"]),
        (["A"], ["A"]),
    ],
)
def test_an_expected_id_that_neither_side_has_is_a_pair(expected: list[str], missing: list[str]) -> None:
    """An id, or a glob that nothing matches, in its place in the order."""
    pairs = failed_checks(build_pairs(make_run("a"), make_run("a", "b"), expected))
    assert [name for name, first, rerun in pairs if first == rerun == ["record-missing"]] == missing
    assert [name for name, *_ in pairs] == sorted({"a", "b", *missing})


def test_a_broken_archive_stands_for_what_it_should_have_shown() -> None:
    """Its own fault is the reason, not that a record is missing."""
    broken = merge_sources([make_source_records(BROKEN)])
    assert failed_checks(build_pairs(make_run("a"), broken)) == [("a", [], ["archive-invalid"])]
    assert failed_checks(build_pairs(broken, make_run("a"), ["x"])) == [
        ("a", ["archive-invalid"], []),
        ("x", ["archive-invalid"], ["record-missing"]),
    ]
    assert failed_checks(build_pairs(broken, merge_sources([make_source_records(GONE)]))) == [
        (None, ["archive-invalid"], ["artifact-missing"])
    ]
    assert failed_checks(build_pairs(merge_sources([make_source_records(GONE)]), make_run())) == [
        (None, ["artifact-missing"], ["record-missing"])
    ]


def test_a_broken_shard_cannot_vanish() -> None:
    """Where no pair shows it, it is one of its own, before all others; shards of one label are one pair."""
    with_broken = make_run("a", sources=(ONE, BROKEN))
    whole = make_run("a")
    assert failed_checks(build_pairs(with_broken, whole)) == [
        (None, ["archive-invalid"], ["record-missing"]),
        ("a", [], []),
    ]
    assert failed_checks(build_pairs(whole, with_broken)) == [
        (None, ["record-missing"], ["archive-invalid"]),
        ("a", [], []),
    ]
    assert failed_checks(build_pairs(with_broken, with_broken)) == [
        (None, ["archive-invalid"], ["archive-invalid"]),
        ("a", [], []),
    ]
    assert failed_checks(build_pairs(with_broken, make_run("a", sources=(ONE, GONE)))) == [
        (None, ["archive-invalid"], ["record-missing"]),
        (None, ["record-missing"], ["artifact-missing"]),
        ("a", [], []),
    ]
    two = make_run("a", sources=(ONE, BROKEN, GONE))
    assert [name for name, *_ in failed_checks(build_pairs(two, whole))] == [None, None, "a"]


def test_equal_bytes_count_as_one_record() -> None:
    """A merged artifact beside its parts."""
    assert resolved(make_side_of(ONE), make_side_of(OTHER)) == make_side_of(ONE)
    twice = merge_sources(
        [make_source_records(ONE, ("a", make_side_of(ONE)), ("b", make_side_of(ONE, "b")), ("a", make_side_of(ONE)))]
    )
    assert dict(twice.sides) == {"a": make_side_of(ONE), "b": make_side_of(ONE, "b")}


def test_other_bytes_are_a_duplicate() -> None:
    """Nothing says which of the two is the run's word, and it does not matter where either stands."""
    for second in (
        make_side_of(OTHER, record_sha256=Y),
        make_side_of(OTHER, record=None, record_sha256=Y),
        make_side_of(OTHER, record_sha256=None),
    ):
        for candidates in permutations([make_side_of(ONE), second, make_side_of(ONE)]):
            for found in (
                resolved(*candidates),
                merge_sources([make_source_records(ONE, *(("a", each) for each in candidates))]).sides["a"],
            ):
                assert found.record is None
                assert found.fault == CheckFailure("record-duplicate", "3 different records say that they are a")
    unread = make_side_of(ONE, record=None, record_sha256=None, pin=None, fault=CheckFailure("archive-invalid", ""))
    assert [fault.check for fault in resolved(unread, unread).faults] == ["record-duplicate"]


def test_of_several_pins_under_one_record_the_worst_counts() -> None:
    """A wrong one is not outvoted by a right one; a missing one is found in the other copy."""
    good, none = make_side_of(ONE), make_side_of(ONE, pin=None)
    wrong = make_side_of(OTHER, pin=ContentDigest(Y, 1))
    unread = make_side_of(OTHER, pin=None, fault=CheckFailure("archive-invalid", "a pinned file cannot be read"))
    for candidates, expected in (((none, good), good), ((good, wrong, none), wrong), ((none, good, unread), unread)):
        for order in permutations(candidates):
            assert resolved(*order) == expected


def test_of_several_copies_that_are_worth_the_same_the_first_counts() -> None:
    """In one archive and in several: the same evidence gives the same document."""
    wrong = [make_side_of(ONE, pin=ContentDigest(Y, size)) for size in (1, 2, 3)]
    for order in permutations(wrong):
        assert resolved(*order) == order[0]
        assert merge_sources([make_source_records(ONE, *(("a", each) for each in order))]).sides["a"] == order[0]


names = st.lists(st.sampled_from("abcde"), unique=True)
kinds = st.lists(st.sampled_from([ONE, OTHER, BROKEN, GONE]), min_size=1, unique=True).map(tuple)


@given(names, names, kinds, kinds, st.lists(st.sampled_from(["a", "z", "z*", "?"])))
def test_nothing_vanishes(
    first: list[str], rerun: list[str], ours: tuple[Source, ...], theirs: tuple[Source, ...], expected: list[str]
) -> None:
    """Each id of either side, each expected one and each broken archive is in some pair, and each id in one only."""
    runs = make_run(*first, sources=ours), make_run(*rerun, sources=theirs)
    pairs = build_pairs(*runs, expected)
    ids = [pair.fixture_id for pair in pairs if pair.fixture_id is not None]
    assert ids == sorted(set(ids))
    assert {*first, *rerun} <= set(ids) <= {*first, *rerun, *expected}
    assert pairs
    for place, run in enumerate(runs):
        in_pairs = {(pair.first, pair.rerun)[place].source for pair in pairs}
        assert {source for source in run.sources if source.fault} <= in_pairs
    for pair in pairs:
        sound = pair.fixture_id in first and pair.fixture_id in rerun
        assert sound or pair.first.faults or pair.rerun.faults


def test_hashes_of_sides_do_not_matter() -> None:
    """Two sources that say the same are the same."""
    copy = Source("broken", fault=CheckFailure("archive-invalid", "it is no zip"))
    assert failed_checks(
        build_pairs(RunEvidence((BROKEN,), {}), RunEvidence((ONE,), {"a": make_side_of(ONE)}))
    ) == failed_checks(build_pairs(RunEvidence((copy,), {}), RunEvidence((Source("one"),), {"a": make_side_of(ONE)})))
    assert X != Y
