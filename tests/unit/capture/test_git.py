"""The commit that is checked out, compared with what git itself says."""

import subprocess
from pathlib import Path

import pytest

from freeze_gate.capture.git import read_checkout

IDENTITY = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": "/usr/bin:/bin"}


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return what it prints."""
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
    done = subprocess.run([*command, *arguments], cwd=folder, env=IDENTITY, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(params=["sha1", "sha256"])
def repository(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return a repository with two commits on its branch, in each of git's two object formats."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main", f"--object-format={request.param}")
    for message in ("one", "two"):
        git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return folder


def test_a_branch(repository: Path) -> None:
    """HEAD names the branch, and a file the branch's commit."""
    assert read_checkout(repository) == git(repository, "rev-parse", "HEAD")


def test_a_folder_below_the_root(repository: Path) -> None:
    """The work tree is looked for upwards."""
    folder = repository / "a" / "b"
    folder.mkdir(parents=True)
    assert read_checkout(folder) == git(repository, "rev-parse", "HEAD")


def test_a_commit_without_a_branch(repository: Path) -> None:
    """A pull request's merge commit is checked out so."""
    git(repository, "checkout", "--quiet", "--detach", "HEAD~1")
    assert read_checkout(repository) == git(repository, "rev-parse", "HEAD")


def test_packed_references(repository: Path) -> None:
    """A fresh clone has its branches in one file."""
    git(repository, "tag", "--annotate", "--message=v1", "v1")
    git(repository, "pack-refs", "--all")
    assert read_checkout(repository) == git(repository, "rev-parse", "HEAD")


def test_a_branch_that_moved_after_it_was_packed(repository: Path) -> None:
    """The branch's own file goes before the packed line."""
    git(repository, "pack-refs", "--all")
    git(repository, "commit", "--quiet", "--allow-empty", "--message", "three")
    assert read_checkout(repository) == git(repository, "rev-parse", "HEAD")


@pytest.mark.parametrize("packed", [False, True])
def test_a_linked_work_tree(repository: Path, tmp_path: Path, packed: bool) -> None:
    """It has a HEAD of its own, and shares the branches."""
    linked = tmp_path / "linked"
    git(repository, "worktree", "add", "--quiet", "-b", "topic", str(linked), "HEAD~1")
    if packed:
        git(repository, "pack-refs", "--all")
    assert read_checkout(linked) == git(linked, "rev-parse", "HEAD") != git(repository, "rev-parse", "HEAD")


def test_a_submodule(repository: Path, tmp_path: Path) -> None:
    """It names its repository by a relative path."""
    outer = tmp_path / "outer"
    outer.mkdir()
    format_name = git(repository, "rev-parse", "--show-object-format")
    git(outer, "init", "--quiet", f"--object-format={format_name}")
    git(outer, "submodule", "--quiet", "add", str(repository), "inner")
    assert read_checkout(outer / "inner") == git(repository, "rev-parse", "HEAD")


def test_a_branch_without_a_commit(tmp_path: Path) -> None:
    """There is nothing checked out yet."""
    git(tmp_path, "init", "--quiet")
    assert read_checkout(tmp_path) is None


def test_no_work_tree(tmp_path: Path) -> None:
    """A bundle can be made outside of any repository."""
    assert read_checkout(tmp_path) is None


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"ref: refs/heads/../../secret\n",
        b"ref: ../secret\n",
        b"ref: refs/heads/\xff\n",
        b"ref: refs/heads/.invalid\n",
        b"ref: refs/heads/a\0b\n",
        b"0123456\n",
        b"A" * 40,
        b"ref: refs/heads/loop\n",
        b"x" * 100_000,
    ],
)
def test_what_is_no_commit_is_unknown(tmp_path: Path, head: bytes) -> None:
    """The job may write anything into its repository; nothing outside of it is read as a reference."""
    folder = tmp_path / "repository" / ".git"
    (folder / "refs" / "heads").mkdir(parents=True)
    (folder / "refs" / "heads" / "loop").write_bytes(b"ref: refs/heads/loop\n")
    (folder / "HEAD").write_bytes(head)
    (tmp_path / "secret").write_text("a" * 40)
    (folder.parent / "secret").write_text("b" * 40)
    assert read_checkout(folder.parent) is None
