"""Which string of an answer a pointer names, and that anything else is none."""

import json

import pytest

from freeze_gate.capture.transport.selection import select_text, validate_pointer
from freeze_gate.errors import UsageError


@pytest.mark.parametrize(
    ("pointer", "selected"),
    [
        ("/choices/0/text", "sort\u00e9\n"),
        ("/choices/1/text", ""),
        ("/a~1b/~0", "escaped"),
        ("/", "empty key"),
        ("/choices/00/text", None),
        ("/choices/2/text", None),
        ("/choices/-1/text", None),
        ("/choices/-/text", None),
        ("/choices/text", None),
        ("/choices", None),
        ("/choices/0/text/0", None),
        ("/count", None),
        ("/null", None),
        ("/missing", None),
    ],
)
def test_a_pointer_names_one_string_or_none(pointer: str, selected: str | None) -> None:
    """RFC 6901, and only what is a string is text."""
    document = {
        "choices": [{"text": "sort\u00e9\n"}, {"text": ""}],
        "a/b": {"~": "escaped"},
        "": "empty key",
        "count": 7,
        "null": None,
    }
    expected = None if selected is None else selected.encode()
    assert select_text(json.dumps(document).encode(), pointer) == expected


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not JSON",
        b'{"a": "cut',
        b'{"a": "1", "a": "2"}',
        b'{"a": "\xff"}',
        b'{"a": "\\ud800"}',
        b"[" * 100_000,
        b'"a"',
        '{"a": "1"}'.encode("utf-16"),
    ],
)
def test_a_body_without_one_clear_string_has_no_sample(body: bytes) -> None:
    """No JSON, a key given twice, no UTF-8: null, and no exception."""
    assert select_text(body, "/a") is None


def test_a_byte_order_mark_is_no_part_of_the_document() -> None:
    """Some servers send one."""
    assert select_text(b'\xef\xbb\xbf{"a": "1"}', "/a") == b"1"


@pytest.mark.parametrize("pointer", ["", "choices", "$.a", "/~2", "/~", "/a\n", "/" + "a" * 500])
def test_what_is_no_pointer_is_refused(pointer: str) -> None:
    """Before any call is made."""
    with pytest.raises(UsageError, match="JSON pointer"):
        validate_pointer(pointer)
