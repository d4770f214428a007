"""Whether git would leave the bytes of a file alone. Read from the attribute files; git itself is never run here.

A checkout that somebody else filled can make git run programs of its choice, so its own answer is not asked for.
"""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

_MAX_BYTES: Final = 100_000
_UNSET: Final = frozenset({"-text", "binary"})
_CHANGED: Final = frozenset({"text", "!text"})


def checkout_of(folder: Path) -> Path | None:
    """Return the top of the git checkout that a folder is in; None where it is in none."""
    resolved = folder.resolve()
    return next((each for each in (resolved, *resolved.parents) if (each / ".git").exists()), None)


def keeps_bytes(file: Path, top: Path) -> bool:
    """Whether the attribute files of the checkout at `top` say `-text` (or `binary`) for a file in it.

    The last line that matches decides; a deeper file comes after a higher one, and `.git/info/attributes` after all.
    """
    kept = False
    for folder, lines in _attribute_files(file, top):
        names = file.relative_to(folder).parts
        for pattern, *attributes in map(str.split, filter(str.strip, lines)):
            if _matches(pattern, names):
                for attribute in attributes:
                    kept = (kept or attribute in _UNSET) and not _sets_text(attribute)
    return kept


def _sets_text(attribute: str) -> bool:
    return attribute in _CHANGED or attribute.startswith("text=")


def _attribute_files(file: Path, top: Path) -> Iterator[tuple[Path, list[str]]]:
    folders = [folder for folder in reversed(file.parents) if folder.is_relative_to(top)]
    for folder, path in (*((each, each / ".gitattributes") for each in folders), (top, top / ".git/info/attributes")):
        if path.is_file() and not path.is_symlink():  # git follows no link here either
            with path.open("rb") as stream:
                yield folder, stream.read(_MAX_BYTES).decode("utf-8", "replace").splitlines()


def _matches(pattern: str, names: Sequence[str]) -> bool:
    """Match as git does: without a slash the name at any depth, with one the path from the attribute file's folder."""
    if "/" not in pattern:
        return fnmatchcase(names[-1], pattern)
    return _matches_parts(pattern.removeprefix("/").split("/"), names)


def _matches_parts(parts: Sequence[str], names: Sequence[str]) -> bool:
    if not parts or not names:
        return not parts and not names
    if parts[0] == "**":
        return len(parts) == 1 or any(_matches_parts(parts[1:], names[start:]) for start in range(len(names)))
    return fnmatchcase(names[0], parts[0]) and _matches_parts(parts[1:], names[1:])
