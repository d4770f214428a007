"""Zips and folders as evidence arrives: opened in place, whole or not at all, and nothing is waited for."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from freeze_gate.evidence.archive import ArchiveError, base, open_archive
from freeze_gate.evidence.archive.base import archive_errors, is_record
from freeze_gate.evidence.models import CheckFailure
from tests.builders.bundle import write_files
from tests.builders.zip import Member, craft


def refused(path: Path) -> CheckFailure:
    """Return what a path is refused with."""
    with pytest.raises(ArchiveError) as caught, open_archive(path):
        pass
    return caught.value.fault


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with a file two steps down, and a hidden one."""
    (tmp_path / "it/records").mkdir(parents=True)
    (tmp_path / "it/records/a.json").write_bytes(b"{}")
    (tmp_path / "it/.lock").write_bytes(b"")
    return tmp_path / "it"


def test_a_folder_and_its_zip_show_the_same(folder: Path, tmp_path: Path) -> None:
    """Names with `/`, and the bytes."""
    zipped = tmp_path / "it.zip"
    zipped.write_bytes(craft(Member("records/a.json", b"{}"), Member(".lock")))
    for path in (folder, zipped):
        with open_archive(path) as found, found.open("records/a.json") as stream:
            assert sorted(found) == [".lock", "records/a.json"]
            with pytest.raises(KeyError):
                found.open("records")
            assert stream.read() == b"{}"


def test_reading_leaves_nothing_behind(tmp_path: Path) -> None:
    """Nothing is extracted, wherever a member's name points."""
    path = tmp_path / "it.zip"
    path.write_bytes(craft(Member("../../x", b"1"), Member("y", b"2")))
    assert refused(path).check == "archive-invalid"
    assert [each.name for each in tmp_path.rglob("*")] == ["it.zip"]


def test_what_is_not_there_or_no_file_is_refused(tmp_path: Path) -> None:
    """A missing path, an empty file, a FIFO that nobody writes to: none of them makes the reader wait."""
    (tmp_path / "empty").write_bytes(b"")
    os.mkfifo(tmp_path / "fifo")
    for name in ("missing", "empty", "fifo"):
        assert refused(tmp_path / name).check == "archive-invalid"


@pytest.mark.parametrize("kind", ["link to a file", "link to a folder", "link to itself", "FIFO", "socket"])
def test_a_link_or_special_file_makes_a_folder_unreadable(folder: Path, kind: str) -> None:
    """Anywhere below it: what it leads to is no evidence of this run."""
    odd = folder / "records" / "b.json"
    if kind == "FIFO":
        os.mkfifo(odd)
    elif kind == "socket":
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.path.relpath(odd))
        listener.close()
    else:
        odd.symlink_to({"link to a file": "a.json", "link to a folder": "/etc", "link to itself": "b.json"}[kind])
    assert refused(folder) == CheckFailure("archive-invalid", "it holds a link or a special file: records/b.json")


def test_a_folder_given_by_a_link_is_read(folder: Path, tmp_path: Path) -> None:
    """What the user names is what the user means."""
    (tmp_path / "link").symlink_to(folder)
    with open_archive(tmp_path / "link") as found:
        assert set(found) == {"records/a.json", ".lock"}


@pytest.mark.parametrize("swap", ["gone", "a link", "a FIFO", "a folder"])
def test_a_file_that_was_swapped_meanwhile_is_not_followed(folder: Path, swap: str) -> None:
    """Whatever took its place since the folder was looked through: it is refused, and nothing is waited for."""
    path = folder / "records/a.json"
    with open_archive(folder) as found:
        path.unlink()
        if swap == "a link":
            path.symlink_to("/etc/hostname")
        elif swap == "a FIFO":
            os.mkfifo(path)
        elif swap == "a folder":
            path.mkdir()
        with pytest.raises(ArchiveError, match=r"record cannot be read|special file"), archive_errors("a record"):
            found.open("records/a.json").close()


def test_names_that_are_no_utf8_are_read(folder: Path) -> None:
    """On Linux a name is bytes; such a file is none of ours and harms nobody."""
    (Path(os.fsdecode(os.fsencode(folder) + b"/records/\xff\n.json"))).write_bytes(b"{}")
    with open_archive(folder) as found:
        assert len(list(found)) == 3


def test_a_very_deep_folder_is_read(tmp_path: Path) -> None:
    """A stranger decides how deep it is; the reader's stack does not."""
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    try:
        with open_archive(tmp_path) as found:
            assert list(found) == []
    finally:
        subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)  # too deep for Python's own


def test_a_folder_is_limited_as_a_zip_is(folder: Path) -> None:
    """Sparse files cost nothing to make, and much to read."""
    with (folder / "pin").open("wb") as stream:
        stream.truncate((4 << 30) + 1)
    assert refused(folder) == CheckFailure("archive-limits", "it holds a member of over 4 GiB")


@pytest.mark.parametrize("other", ["Records/s.json", "records/s.JSON", "records/S.json", "Records/t.json"])
@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_names_that_are_equal_but_for_case_make_an_archive_invalid(tmp_path: Path, kind: str, other: str) -> None:
    """One of the two would be neither read nor named: the message names both, also if only their folders differ."""
    names = ("records/s.json", other)
    if kind == "zip":
        path = tmp_path / "b.zip"
        path.write_bytes(craft(*(Member(name, b"{}") for name in names)))
    else:
        path = write_files(tmp_path / "b", dict.fromkeys(names, b"{}"))
    fault = refused(path)
    prefix, spellings = fault.detail.split(": ")
    assert (fault.check, prefix) == ("archive-invalid", "it holds names that are equal but for case")
    first, second = spellings.split(" and ")
    assert all(name.startswith((first, second)) for name in names)
    assert first != second
    assert first.lower() == second.lower()


def test_folders_of_one_spelling_are_no_clash(tmp_path: Path) -> None:
    """Whether a zip names its folders or not, and in which order."""
    path = tmp_path / "b.zip"
    path.write_bytes(craft(Member("b/Records/", attributes=0), Member("b/Records/s.json"), Member("b/", attributes=0)))
    with open_archive(path) as archive:
        assert list(archive) == ["b/Records/s.json"]


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("records/a.json", True),
        ("x/y/records/a.json", True),
        ("records/records/a.json", True),
        ("records/x/a.json", False),
        ("a.json", False),
        ("my-records/a.json", False),
        ("Records/a.json", False),
        ("records/a.JSON", False),
        ("records/a.json.tmp", False),
        ("records/._a.json", False),
        ("__MACOSX/records/._a.json", False),
        ("._x/records/a.json", True),
        ("records", False),
    ],
)
def test_a_record_is_a_json_file_directly_in_a_folder_records(name: str, is_one: bool) -> None:
    """At any depth, and nothing else is one."""
    assert is_record(name) is is_one


def test_there_is_one_set_of_limits() -> None:
    """A verdict names the limits that it was reached under: these."""
    assert base.LIMITS.members == 50_000
