"""Lines in a file: any thread gets back what it put there, and a full disk is said in words."""

import resource
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from freeze_gate.errors import NoVerdictError
from freeze_gate.shelf import Shelf, whole
from freeze_gate.verdict.document import TooLargeError

LITTLE, MUCH = 900_000, 4_000_000


def test_lines_come_back_in_any_order_while_others_are_put_there() -> None:
    """Eight threads that put and get in turns: each line is whole, and is found by its place."""

    def work(thread: int) -> bool:
        lines = [b"%d-%d " % (thread, number) + b"x" * (number * 37 % 9000) for number in range(200)]
        places = []
        for number, line in enumerate(lines):
            places.append(shelf.put(line))
            if shelf.get(places[number // 2]) != lines[number // 2] + b"\n":
                return False
        return [shelf.get(place) for place in reversed(places)] == [line + b"\n" for line in reversed(lines)]

    with Shelf() as shelf, ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_nothing_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither while it is used nor afterwards: the file has no name."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Shelf() as shelf:
        _fill(shelf, MUCH)
        assert _is_open_in(tmp_path)
        assert not list(tmp_path.iterdir())
    assert not _is_open_in(tmp_path)


def test_little_needs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be written, a small run is judged all the same."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with Shelf() as shelf:
        _fill(shelf, LITTLE)


def _is_open_in(folder: Path) -> bool:
    """Whether this process has a file of a folder open, with or without a name."""
    return any(
        str(each.readlink()).startswith(f"{folder}/") for each in Path("/proc/self/fd").iterdir() if each.is_symlink()
    )


def test_a_full_disk_is_said_in_words() -> None:
    """Sooner or later, but before anything that was lost is taken for evidence."""
    words = r"File too large.*free some space"
    with pytest.raises(NoVerdictError, match=words), _files_up_to(MUCH // 2), Shelf() as shelf:
        _fill(shelf, MUCH)


def test_what_is_made_piece_by_piece_is_handed_out_whole_or_not_at_all() -> None:
    """Not before the last piece is there, not where making one fails, and not where the disk is full."""
    with whole(b"%d " % number for number in range(5)) as file:
        assert file.read() == b"0 1 2 3 4 "

    def failing() -> Iterator[bytes]:
        yield b"a"
        raise TooLargeError("too large")

    with pytest.raises(TooLargeError), whole(failing()):
        pytest.fail("a part was handed out")
    much = (b"x" * 1000 for _ in range(MUCH // 1000))
    with pytest.raises(NoVerdictError, match="File too large"), _files_up_to(MUCH // 2), whole(much):
        pytest.fail("a part was handed out")


def _fill(shelf: Shelf, size: int) -> None:
    for number in range(size // 5000):
        line = b"%d " % number + b"x" * 5000
        assert shelf.get(shelf.put(line)) == line + b"\n"


@contextmanager
def _files_up_to(size: int) -> Iterator[None]:
    """Let this process write no file beyond a size: as a full disk, but for the words."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_no_temporary_folder_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A root file system that is read-only, for one."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with (
        pytest.raises(NoVerdictError, match="name a folder in TMPDIR"),
        Shelf() as shelf,
    ):
        _fill(shelf, MUCH)
