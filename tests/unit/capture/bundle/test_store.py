"""The bundle's folder."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from freeze_gate.capture.bundle.store import Pin, Store, bundle_folder, has_oracle_started
from freeze_gate.errors import NoVerdictError, UsageError
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import InvalidRecord, Oracle, Record

BLANK = Record("x", None, None, None, None)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a store whose folder is not there yet."""
    return Store(tmp_path / "a" / "freeze-gate")


def test_a_record_comes_back_as_it_was_written(store: Store) -> None:
    """And before it is written there is none."""
    assert store.read("x") is None
    store.write(BLANK)
    assert store.read("x") == BLANK
    assert store.record_file("x").read_bytes().endswith(b"\n")


def test_a_pin_is_named_by_its_digest_and_read_only(store: Store) -> None:
    """Zero bytes are bytes."""
    pin = store.pin(b"")
    assert pin == Pin(Sha256.of(b""), f"fixtures/{Sha256.of(b'')}")
    assert stat.S_IMODE((store.folder / pin.path).stat().st_mode) == 0o444


def test_equal_bytes_are_stored_once(store: Store) -> None:
    """The second time, the file stays the one that it is."""
    pin = store.pin(b"sample", ".json")
    before = (store.folder / pin.path).stat()
    assert store.pin(iter([b"sam", b"ple"]), ".json") == pin
    assert (store.folder / pin.path).stat().st_ino == before.st_ino
    assert len(list((store.folder / "fixtures").iterdir())) == 1


def test_a_pin_that_something_changed_is_not_repaired(store: Store) -> None:
    """Putting the right bytes back would make good what spoiled another record."""
    path = store.folder / store.pin(b"sample").path
    path.chmod(0o644)
    path.write_bytes(b"changed")
    with pytest.raises(UsageError, match="the pin was modified"):
        store.pin(b"sample")
    assert path.read_bytes() == b"changed"


def test_bytes_that_are_not_the_expected_ones_are_not_stored(store: Store) -> None:
    """Nothing of them is left."""
    with pytest.raises(UsageError, match="not what was pinned"):
        store.pin(b"sample", expected=Sha256.of(b"other"))
    assert not list((store.folder / "fixtures").iterdir())


def test_a_source_that_breaks_off_leaves_nothing(store: Store) -> None:
    """Half a file is no pin."""

    def broken() -> Iterator[bytes]:
        yield b"half"
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with pytest.raises(NoVerdictError, match="cannot write"):
        store.pin(broken())
    assert not list((store.folder / "fixtures").iterdir())


@pytest.mark.parametrize("suffix", ["json", ".", "..", "./x", ".a/b", ".a\\b", ".é", ".x" * 5, ". "])
def test_a_suffix_leads_nowhere(store: Store, suffix: str) -> None:
    """Letters and digits behind a dot, up to four times."""
    with pytest.raises(UsageError, match="suffix"):
        store.pin(b"sample", suffix)
    assert not store.folder.exists()


@pytest.mark.parametrize("fixture_id", ["", ".", "..", ".x", "a/b", "a\\b", "a\nb", "é", "x" * 129, "-x"])
def test_an_id_leads_nowhere(store: Store, fixture_id: str) -> None:
    """Not for reading, not for writing."""
    with pytest.raises(UsageError, match="fixture id"):
        store.read(fixture_id)
    with pytest.raises(UsageError, match="fixture id"):
        store.write(BLANK._replace(fixture_id=fixture_id))


def test_what_nobody_could_use_is_never_written(store: Store) -> None:
    """A record that contradicts itself, or that no reader takes, is a mistake of the caller."""
    for record in (BLANK._replace(transport_ok=False), BLANK._replace(fixture_sha256=Sha256.of(b""))):
        with pytest.raises(InvalidRecord):
            store.write(record)
    assert store.read("x") is None


def test_a_file_that_is_no_record_is_not_written_over_unseen(store: Store) -> None:
    """It says what is wrong and what to do."""
    store.write(BLANK)
    store.record_file("x").write_bytes(b"{")
    with pytest.raises(UsageError, match=r"is not a record .* remove it"):
        store.read("x")


@pytest.mark.parametrize(
    ("record", "started"),
    [
        (BLANK, False),
        (BLANK._replace(oracle=Oracle(outcome="not_run", runs=0)), False),
        (BLANK._replace(oracle=Oracle(runs=1)), True),
        (BLANK._replace(oracle_passed=False), True),
        (BLANK._replace(oracle_passed=True), True),
    ],
)
def test_an_oracle_that_could_not_be_sealed_has_not_started(record: Record, started: bool) -> None:
    """Every other trace of one has."""
    assert has_oracle_started(record) is started


def test_after_an_oracle_only_an_oracle_goes_on(store: Store) -> None:
    """A verdict is not washed away by sampling again."""
    pin = store.pin(b"sample")
    store.write(BLANK._replace(fixture_sha256=pin.sha256, fixture_path=pin.path, oracle_passed=False))
    with pytest.raises(UsageError, match="an oracle has already run"):
        store.read_unless_checked("x")


def test_the_pinned_file_is_named_whether_it_is_there_or_not(store: Store) -> None:
    """An absolute path, for whoever runs somewhere else; None where nothing is pinned."""
    pin = store.pin(b"sample")
    path = store.pinned_file(BLANK._replace(fixture_sha256=pin.sha256, fixture_path=pin.path))
    assert path is not None
    assert path.is_absolute()
    assert path.read_bytes() == b"sample"
    assert store.pinned_file(BLANK) is None


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """A file where the folder should be."""
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(UsageError, match="Not a directory"):
        Store(tmp_path / "a" / "b").pin(b"sample")


def test_the_lock_can_be_taken_again_by_who_holds_it(store: Store) -> None:
    """The garbage collector may end an abandoned call in the middle of a write."""
    with store.locked(), store.locked():
        store.write(BLANK)


@pytest.mark.parametrize(
    ("given", "environ", "folder"),
    [
        (None, {}, "freeze-gate"),
        ("", {"FREEZE_GATE_BUNDLE": ""}, "freeze-gate"),
        (None, {"FREEZE_GATE_BUNDLE": "there"}, "there"),
        ("here", {"FREEZE_GATE_BUNDLE": "there"}, "here"),
    ],
)
def test_the_folder_has_one_default(given: str | None, environ: dict[str, str], folder: str) -> None:
    """An empty word is no word."""
    assert bundle_folder(given, environ) == Path(folder)
