"""Which commit is checked out: HEAD of a work tree, read from the repository's files.

Git itself is not run: a job may have none, and a repository's configuration can make git start programs. The layout is
that of gitrepository-layout(5). What this cannot read, such as a repository with reftables, is unknown.
"""

import re
from pathlib import Path
from typing import Final

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF: Final = re.compile(r"ref: (refs/(?!.*\.\.)[^\x00-\x20\x7f]+)")
_MAX_FILE_BYTES: Final = 4096  # a path or a commit
_MAX_PACKED_LINE: Final = 8192
_MAX_SYMBOLIC_REFS: Final = 5  # as git follows them


def read_checkout(folder: Path) -> str | None:
    """Return the commit, 40 or 64 hexadecimal digits, that is checked out in the work tree around a folder.

    None where there is no work tree, where the branch has no commit yet, and where the repository cannot be read.
    """
    try:
        git_folder = _find_git_folder(folder.absolute())
        return _resolve(git_folder, _read_line(git_folder / "HEAD")) if git_folder else None
    except (OSError, UnicodeDecodeError, ValueError):
        return None


def _find_git_folder(folder: Path) -> Path | None:
    for parent in (folder, *folder.parents):
        path = parent / ".git"
        if path.is_dir():
            return path
        if path.is_file():  # a linked work tree, or a submodule
            return parent / _read_line(path).removeprefix("gitdir: ")
    return None


def _resolve(git_folder: Path, head: str) -> str | None:
    """Follow symbolic references to a commit. A linked work tree shares the references of its common folder."""
    common = git_folder
    if (git_folder / "commondir").is_file():
        common = git_folder / _read_line(git_folder / "commondir")
    for _ in range(_MAX_SYMBOLIC_REFS):
        if _COMMIT.fullmatch(head):
            return head
        ref = _REF.fullmatch(head)
        if not ref:
            return None
        loose = next((path for path in (git_folder / ref[1], common / ref[1]) if path.is_file()), None)
        if loose is None:
            return _find_packed(common / "packed-refs", ref[1])
        head = _read_line(loose)
    return None


def _find_packed(path: Path, ref: str) -> str | None:
    if not path.is_file():
        return None
    with path.open(encoding="utf-8", errors="replace") as lines:
        while line := lines.readline(_MAX_PACKED_LINE):
            commit, _, name = line.rstrip("\n").partition(" ")
            if name == ref and _COMMIT.fullmatch(commit):
                return commit
    return None


def _read_line(path: Path) -> str:
    with path.open("rb") as stream:
        return stream.read(_MAX_FILE_BYTES).decode().rstrip("\r\n")
