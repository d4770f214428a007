"""What is declared of a sample in advance."""

import pytest

from freeze_gate.capture.transport.length_checks import BodyChecks, make_checks
from freeze_gate.errors import UsageError
from freeze_gate.evidence.record import Record, Transport, encode_record, read_record


@pytest.mark.parametrize(
    ("declared", "body", "short", "long"),
    [
        (BodyChecks(), b"", False, False),
        (BodyChecks(min_bytes=3), b"ab", True, False),
        (BodyChecks(min_bytes=3), b"abc", False, False),
        (BodyChecks(max_bytes=3), b"abc", False, False),
        (BodyChecks(max_bytes=3), b"abcd", False, True),
        (BodyChecks(ends_with=b"}\n"), b"{}\n", False, False),
        (BodyChecks(ends_with=b"}\n"), b"{}", True, False),
        (BodyChecks(ends_with=b"}\n"), b"", True, False),
    ],
)
def test_bounds_hold_to_the_byte(declared: BodyChecks, body: bytes, short: bool, long: bool) -> None:
    """Exactly as many bytes as declared are enough, and not too many."""
    assert (declared.is_too_short(body), declared.is_too_long(body)) == (short, long)


@pytest.mark.parametrize(
    ("end", "text"),
    [
        ("}", "}"),
        ("data: [DONE]\n\n", r"data: [DONE]\n\n"),
        ('"\\\t\x00\u2028é', r"\"\\\t\u0000\u2028\u00e9"),
        (b"\xff", r"\udcff"),
    ],
)
def test_any_end_can_be_recorded(end: str | bytes, text: str) -> None:
    """Control characters and odd bytes are written as inside a JSON string; the record stays readable."""
    checks = make_checks(ends_with=end).to_record()
    assert checks.ends_with == text
    record = Record("x", None, None, None, None, transport=Transport(checks=checks))
    assert read_record(encode_record(record), "x") == record


@pytest.mark.parametrize(
    ("bounds", "named"),
    [
        ({"min_bytes": -1}, "min-bytes"),
        ({"max_bytes": -1}, "max-bytes"),
        ({"min_bytes": 9, "max_bytes": 8}, "above max-bytes"),
        ({"ends_with": ""}, "ends-with"),
        ({"ends_with": b"x" * 1001}, "ends-with"),
    ],
)
def test_what_nothing_can_meet_is_refused(bounds: dict[str, int], named: str) -> None:
    """In a sentence that names it."""
    with pytest.raises(UsageError, match=named):
        make_checks(**bounds)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "two words", "x" * 51, "error\n", "\u00e9"])
def test_a_type_that_no_event_has_is_refused(text: str) -> None:
    """Letters, digits, dots, hyphens and underscores, as many as are kept of a line."""
    with pytest.raises(UsageError, match="error-event"):
        make_checks(error_events=[text])
