"""Writing into a folder that a stranger prepared."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from freeze_gate.errors import NoVerdictError
from freeze_gate.files import HAS_DIR_FD, write_file

SWAPPER = Path(__file__).parents[1] / "support" / "folder_swapper.py"


def test_a_file_is_written_whole_with_its_folders(tmp_path: Path) -> None:
    """Mode 644, whatever the umask, and nothing else is left."""
    before = os.umask(0o077)
    try:
        write_file(tmp_path, "a/b/c.json", [b"n", b"ew"])
    finally:
        os.umask(before)

    path = tmp_path / "a/b/c.json"
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [entry.name for entry in path.parent.iterdir()] == ["c.json"]


def test_a_file_is_replaced_and_not_written_into(tmp_path: Path) -> None:
    """A hard link to it elsewhere keeps the old bytes."""
    (tmp_path / "v.json").write_bytes(b"old")
    (tmp_path / "elsewhere").hardlink_to(tmp_path / "v.json")

    write_file(tmp_path, "v.json", [b"n", b"ew"])

    assert (tmp_path / "v.json").read_bytes() == b"new"
    assert (tmp_path / "elsewhere").read_bytes() == b"old"


@pytest.mark.parametrize("place", ["v.json", "a"])
@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "other"])
def test_what_is_odd_is_refused_in_every_place(tmp_path: Path, place: str, kind: str) -> None:
    """The file itself or a folder above it; nothing outside is touched, and nothing waits."""
    outside = tmp_path / "outside"
    outside.mkdir()
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    path = workspace / place
    if kind == "link":
        path.symlink_to(outside)
    elif kind == "dangling":
        path.symlink_to(outside / "nothing")
    elif kind == "fifo":
        os.mkfifo(path)
    elif place == "a":
        path.write_text("a file where a folder must be")
    else:
        path.mkdir()

    with pytest.raises(NoVerdictError, match="was not written"):
        write_file(workspace, "v.json" if place == "v.json" else "a/v.json", [b"n", b"ew"])

    assert not list(outside.iterdir())
    assert [entry.name for entry in workspace.iterdir()] == [place]


def test_a_link_deep_in_the_path_is_not_followed(tmp_path: Path) -> None:
    """Also where it leads back inside."""
    (tmp_path / "real").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").symlink_to(tmp_path / "real")

    with pytest.raises(NoVerdictError):
        write_file(tmp_path, "a/b/c.json", [b"n", b"ew"])
    assert not list((tmp_path / "real").iterdir())


@pytest.mark.skipif(not HAS_DIR_FD, reason="Windows has no calls that work on an open folder")
@pytest.mark.parametrize("writer", ["verdict", "record", "pin"])
def test_a_folder_that_is_swapped_for_a_link_at_any_moment_leads_nothing_outside(tmp_path: Path, writer: str) -> None:
    """Before each step in the file system: what is written stays in the folder that was opened."""
    result = subprocess.run(
        [sys.executable, str(SWAPPER), writer, str(tmp_path)], capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) >= 4


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """The workspace itself is not made."""
    with pytest.raises(NoVerdictError):
        write_file(tmp_path / "none", "v.json", [b"n", b"ew"])
    assert not (tmp_path / "none").exists()


def test_a_name_that_the_system_does_not_take_is_refused(tmp_path: Path) -> None:
    """With the system's own words."""
    with pytest.raises(NoVerdictError, match="too long"):
        write_file(tmp_path, "x" * 300, [b"n", b"ew"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can leave a file to somebody else")
def test_root_leaves_what_it_writes_to_the_folder_s_owner(tmp_path: Path) -> None:
    """The image runs as root; files of root break the next checkout on a runner that is kept."""
    os.chown(tmp_path, 1001, 1002)

    write_file(tmp_path, "a/v.json", [b"n", b"ew"])

    assert [(tmp_path / part).stat().st_uid for part in ("a", "a/v.json")] == [1001, 1001]
    assert [(tmp_path / part).stat().st_gid for part in ("a", "a/v.json")] == [1002, 1002]
