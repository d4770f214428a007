"""JSON with one meaning or none."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.validation.strict_json import InvalidJson, read_json


def test_a_byte_order_mark_and_any_layout_are_tolerated() -> None:
    """Editors write the one, printers the other."""
    assert read_json(b'\xef\xbb\xbf{ "b" : [1, 2.5, null],\r\n\t"a":"\\u00fc\\ud83d\\ude00"}\n', depth=2) == {
        "b": [1, 2.5, None],
        "a": "ü😀",
    }


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"{} {}", "is not JSON"),
        (b"{'a': 1}", "is not JSON"),
        (b'{"a": 1,}', "is not JSON"),
        (b"// x\n{}", "is not JSON"),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", "is not JSON"),
        (b'{"a": 01}', "is not JSON"),
        (b"1" * 5000, "is not JSON"),
        (b'"a\nb"', "is not JSON"),
        ("{}".encode("utf-16"), "is not UTF-8"),
        (b'"\xff"', "is not UTF-8"),
        (b'"\xed\xa0\x80"', "is not UTF-8"),
        (b'{"a": 1, "a": 1}', "gives a key twice"),
        (b'{"x": {"a": 1, "\\u0061": 2}}', "gives a key twice"),
        (b'{"a": NaN}', "holds NaN or an infinity"),
        (b"[-Infinity]", "holds NaN or an infinity"),
        (b"[1e999]", "holds a number that is too large"),
        (b"[-1e999]", "holds a number that is too large"),
        (b'["\\u0000"]', "holds a control character or a lone surrogate"),
        (b'["\\n"]', "holds a control character or a lone surrogate"),
        (b'{"\\u0085": 1}', "holds a control character or a lone surrogate"),
        (b'["\x7f"]', "holds a control character or a lone surrogate"),
        ('["\u2028"]'.encode(), "holds a control character or a lone surrogate"),
        (b'["\\ud800"]', "holds a control character or a lone surrogate"),
        (b'["\\ud83d", "\\ude00"]', "holds a control character or a lone surrogate"),
        (b'"\\r"', "holds a control character or a lone surrogate"),
        (b'{"a": {"b": {"c": 1}}}', "is nested too deeply"),
        (b"[[[]]]", "is nested too deeply"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"a":' * 100_000, "is nested too deeply"),
    ],
)
def test_what_has_two_meanings_is_refused(payload: bytes, words: str) -> None:
    """With words that quote nothing of it."""
    with pytest.raises(InvalidJson, match=f"^{words}$"):
        read_json(payload, depth=2)


@given(st.binary(max_size=50))
def test_random_bytes_raise_nothing_else(payload: bytes) -> None:
    """Alone, and inside an object."""
    for each in (payload, b'{"a": "' + payload + b'"}'):
        with contextlib.suppress(InvalidJson):
            read_json(each, depth=3)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("abü😀 ~"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abü"), inner, max_size=3),
    max_leaves=8,
)


@given(json_values, st.booleans())
def test_what_has_one_meaning_is_read_as_such(value: Any, ascii_only: bool) -> None:
    """Escaped or not, it comes back as it was."""
    assert read_json(json.dumps(value, ensure_ascii=ascii_only).encode(), depth=20) == value
