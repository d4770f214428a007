"""A Git LFS pointer is recognized by its whole content."""

import pytest

from freeze_gate.evidence.lfs import is_lfs_pointer

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"


@pytest.mark.parametrize(
    "content",
    [
        POINTER,
        POINTER.replace(b"git-lfs", b"hawser"),
        POINTER.replace(b"oid", b"ext-0-foo sha256:" + b"b" * 64 + b"\noid", 1),
    ],
)
def test_a_pointer_is_one(content: bytes) -> None:
    """The current form, the one before its renaming, and the one with an extension."""
    assert is_lfs_pointer(content)


@pytest.mark.parametrize(
    "content", [b"", b"{}", POINTER + b"more", POINTER[:-20], POINTER.replace(b"sha256:a", b"sha256:g"), POINTER * 10]
)
def test_what_only_quotes_a_pointer_is_none(content: bytes) -> None:
    """A sample about Git LFS is a sample."""
    assert not is_lfs_pointer(content)
