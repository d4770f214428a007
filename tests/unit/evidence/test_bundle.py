"""From an archive to what it shows: every record with its pin, hashed again, and what is wrong with each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from freeze_gate.evidence.archive import RecordBudget, open_archive
from freeze_gate.evidence.bundle import BundleReader, collect_records, printable_name, read_source
from freeze_gate.evidence.digest import ContentDigest, Sha256
from freeze_gate.evidence.models import CheckFailure, Side, Source
from freeze_gate.evidence.record import FIXTURE_ID, Record
from tests.builders.bundle import Files, make_files, write_files, write_zip
from tests.builders.evidence import Y, make_side
from tests.builders.record import SAMPLE, make_mapping
from tests.builders.zip import Member, craft

SOURCE = Source("freeze-gate")


@pytest.fixture(params=["folder", "zip"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[object]:
    """Keep files as a folder or as a zip; both show the same."""

    def store_files(contents: Files) -> Path:
        return (
            write_files(tmp_path / "b", contents)
            if request.param == "folder"
            else write_zip(tmp_path / "b.zip", contents, "")
        )

    return store_files  # type: ignore[return-value]


def read_sides(path: Path) -> dict[str, Side]:
    """Read all records of a bundle; no id is there twice."""
    with open_archive(path) as tree:
        sides = list(BundleReader(tree, SOURCE).sides())
    assert len(dict(sides)) == len(sides)
    return dict(sides)


def test_a_record_is_shown_with_its_pin(store) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """The digest is that of the bytes, not the record's word for it."""
    contents = make_files(make_mapping())
    side = read_sides(store(contents))["sorted-patch"]
    assert side.record
    assert side == Side(
        SOURCE,
        side.record,
        Sha256.of(contents["records/sorted-patch.json"]),
        ContentDigest(Sha256.of(SAMPLE), len(SAMPLE)),
    )


@pytest.mark.parametrize("root", ["", "freeze-gate/", "a/b/c/d/", "records/", "x/fixtures/"])
def test_a_bundle_may_stand_at_any_depth(tmp_path: Path, root: str) -> None:
    """One path more in the upload step puts everything one folder deeper."""
    for path in (
        write_zip(tmp_path / "b.zip", make_files(make_mapping()), root),
        write_files(tmp_path / "b" / root, make_files(make_mapping())) and tmp_path / "b",
    ):
        side = read_sides(path)["sorted-patch"]
        assert side.pin
        assert not side.faults


def test_several_bundles_side_by_side_keep_their_pins_apart(tmp_path: Path) -> None:
    """Each record points below its own root."""
    path = tmp_path / "b.zip"
    one, other = (
        make_files(make_mapping("a", b"1"), pins=(b"1",)),
        make_files(make_mapping("b", b"1"), pins=()),
    )
    members = {f"x/{name}": content for name, content in one.items()}
    members |= {f"y/{name}": content for name, content in other.items()}
    path.write_bytes(craft(*(Member(name, content) for name, content in members.items())))
    assert read_sides(path)["a"].pin
    assert read_sides(path)["b"].pin is None


def test_zero_bytes_are_a_pin_and_none_are_none(store) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """Zero bytes are a real pin; no bytes are missing."""
    sides = read_sides(
        store(make_files(make_mapping("empty", b""), make_mapping("none", None, oracle_passed=None), pins=(b"",)))
    )
    assert sides["empty"].pin == ContentDigest(Sha256.of(b""), 0)
    assert sides["none"].pin is None
    assert not sides["none"].faults


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[1", b"\xff", b"x" * (70 << 10), b'{"schema": "freeze-gate/record/1"}']
)
def test_an_unreadable_record_counts_under_its_file_name(store, content: bytes) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """It vanishes nowhere, and its neighbours are read."""
    sides = read_sides(store({**make_files(make_mapping()), "records/odd.json": content}))
    assert sides["odd"].record is None
    assert sides["odd"].fault
    assert sides["odd"].fault.check == "record-invalid"
    assert not sides["sorted-patch"].faults


def test_many_problems_are_said_in_one_line(store) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """The first three, and how many more there are."""
    odd = {
        **make_mapping("odd"),
        "oracle_passed": "no",
        "transport_ok": 1,
        "oracle": [],
        "run": 5,
        "schema": None,
    }
    assert read_sides(store(make_files(odd)))["odd"].fault == CheckFailure(
        "record-invalid",
        "schema: must be freeze-gate/record/1; oracle_passed: must be true or false; "
        "transport_ok: must be true or false; and 2 more",
    )


@pytest.mark.parametrize("stem", ["", "a" * 129, "a" * 200, "\x1b[31m", "a b", "ü", "a\n", "x" * 127 + "…"])
def test_a_file_that_is_named_like_no_id_is_nobodys_record(tmp_path: Path, stem: str) -> None:
    """Whatever stands in it; and what names it can be printed and is taken for no other."""
    claimed = make_mapping("a" * 128)
    path = write_files(
        tmp_path, {f"records/{stem}.json": make_files(claimed)[f"records/{'a' * 128}.json"], **make_files()}
    )
    ((name, side),) = read_sides(path).items()
    assert side.record is None
    assert side.fault
    assert side.fault.check == "record-invalid"
    assert name.isprintable()
    assert 0 < len(name) <= 128
    assert not __import__("re").fullmatch(FIXTURE_ID, printable_name(stem))


def test_files_of_macos_are_left_out_and_named(store) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """Beside a record, and in the folder that macOS adds to a zip; the list of their names is short."""
    path = store(
        {
            **make_files(make_mapping()),
            "__MACOSX/records/._sorted-patch.json": b"\0\5\x16\7",
            **{f"records/._{number}\n.json": b"" for number in range(30)},
        }
    )
    records = read_source(path, SOURCE, RecordBudget())
    assert list(records.sides) == ["sorted-patch"]
    names = records.source.ignored_records
    assert (names[0], names[-1], len(names)) == ("__MACOSX/records/._sorted-patch.json", "and 11 more", 21)
    assert "".join(names).isprintable()


def test_a_bundle_of_files_of_macos_alone_has_no_record(store) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """What is left out stands for nothing."""
    fault = read_source(store({"records/._a.json": b""}), SOURCE, RecordBudget()).source.fault
    assert fault
    assert fault.check == "record-missing"


def test_a_member_that_cannot_be_read_is_the_fault_of_what_needs_it(tmp_path: Path) -> None:
    """A broken pin spoils its record, a broken record itself; the others are read."""
    contents = make_files(
        make_mapping("a", b"1"),
        make_mapping("b", b"2"),
        make_mapping("c", b"3"),
        pins=(b"1", b"2", b"3"),
    )
    members = [Member(name, content) for name, content in contents.items()]
    broken = {make_mapping("a", b"1")["fixture_path"], "records/b.json"}
    path = tmp_path / "b.zip"
    path.write_bytes(craft(*(m._replace(crc=1) if m.name in broken else m for m in members)))
    sides = read_sides(path)
    assert [bool(sides[name].faults) for name in "abc"] == [True, True, False]
    assert (sides["a"].record, sides["a"].pin, sides["b"].record) == (sides["a"].record, None, None)
    assert {sides[name].fault.check for name in "ab" if sides[name].fault} == {"archive-invalid"}  # type: ignore[union-attr]


@pytest.mark.parametrize(("size", "times"), [(16 << 10, 5), ((16 << 10) + 1, 1)])
def test_a_large_pin_that_many_records_share_is_read_once(tmp_path: Path, size: int, times: int) -> None:
    """And says the same to each; a small one is sooner hashed again than remembered."""
    pin = bytes(size)
    path = write_zip(tmp_path / "b.zip", make_files(*(make_mapping(f"r{n}", pin) for n in range(5)), pins=(pin,)))
    assert len({id(side.pin) for side in read_sides(path).values()}) == times
    assert {side.pin for side in read_sides(path).values()} == {ContentDigest(Sha256.of(pin), size)}


def test_a_path_may_lead_to_any_file_of_the_bundle_but_not_out_of_it(tmp_path: Path) -> None:
    """A record may even name another record: its bytes are hashed like any others."""
    other = make_files(make_mapping("b"))["records/b.json"]
    odd = {**make_mapping("a"), "fixture_path": "records/b.json", "fixture_sha256": Sha256.of(other)}
    odd["oracle"] = {}
    side = read_sides(write_files(tmp_path, {**make_files(odd), "records/b.json": other}))["a"]
    assert side.pin == ContentDigest(Sha256.of(other), len(other))


def test_the_attempt_is_that_of_all_records_or_none() -> None:
    """One record of another attempt, or of none, and nothing is said."""
    source = Source("one")
    unread = Side(source, record_sha256=Y)
    nameless = make_side(1)._replace(record=Record("a", None, None, None, None))
    for sides, attempt in (
        ([make_side(2), make_side(2)], 2),
        ([make_side(2), unread], 2),
        ([make_side(2), make_side(1)], None),
        ([make_side(2), nameless], None),
        ([nameless], None),
        ([unread], None),
        ([], None),
    ):
        assert collect_records(source, (("a", each) for each in sides)).attempt == attempt


def test_records_can_turn_out_to_come_from_elsewhere() -> None:
    """What GitHub says of the run is known only when the artifact is chosen."""
    other = Source("other", attempt=3)
    records = collect_records(Source("one"), [("a", make_side(1))]).with_source(other)
    assert records == (other, {"a": [make_side(1)._replace(source=other)]})


def test_the_records_of_all_archives_of_a_run_are_limited(tmp_path: Path) -> None:
    """By their number and by their bytes, because all of them are kept in memory."""
    budget = RecordBudget()
    path = write_zip(tmp_path / "b.zip", {f"records/r{n}.json": b"" for n in range(30_000)}, "")
    assert read_source(path, Source("one"), budget).source.fault is None
    assert read_source(path, Source("two"), budget) == (
        Source("two", fault=CheckFailure("archive-limits", "the archives of this run hold over 50000 records")),
        {},
    )
    large = write_zip(tmp_path / "c.zip", {"records/r.json": b" " * (33 << 20)}, "")
    budget = RecordBudget()
    failures = [read_source(large, Source("one"), budget).source.fault for _ in range(2)]
    assert failures == [None, CheckFailure("archive-limits", "the archives of this run hold over 64 MiB of records")]
