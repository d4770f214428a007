"""Recognizes a Git LFS pointer: the small text that stands in a repository for a file stored elsewhere."""

import re
from typing import Final

MAX_POINTER_BYTES: Final = 1024
"""A pointer is shorter than this, by the specification of Git LFS."""

LFS_POINTER_WARNING: Final = (
    "the pinned file is a Git LFS pointer and not the content that it stands for: run `git lfs pull` before the "
    "capture, or check out with `lfs: true`"
)

_POINTER: Final = re.compile(
    rb"version https://(?:git-lfs|hawser)\.github\.com/spec/v\d+\n(?:ext-\d-\S+ .*\n)*"
    rb"oid sha256:[0-9a-f]{64}\nsize \d+\n?"
)


def is_lfs_pointer(content: bytes) -> bool:
    """Whether bytes are a Git LFS pointer instead of the content that it stands for.

    The format is that of https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md.
    """
    return len(content) < MAX_POINTER_BYTES and _POINTER.fullmatch(content) is not None
