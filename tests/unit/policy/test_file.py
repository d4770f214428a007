"""Tests of `policy_file` beyond the table of policies: whatever the bytes are, there is a clean answer."""

import json
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freeze_gate.policy.file import read_policy
from freeze_gate.policy.freezes import Policy
from freeze_gate.validation.readers import CONTROL_CHARACTERS

TODAY = date(2026, 11, 29)
ENTRY = ("freezes:\n", "  - ", "    fixture_id: a\n", "    added: 2026-11-20\n", "    owner: '", "retention: {x: ", "}")
MARKED_NON_UTF8 = b"\xef\xbb\xbfschema: \xc3\xa9\xff\n"
SYNTAX = (
    "[",
    "]",
    "? ",
    ": ",
    "- ",
    "\n",
    "&a ",
    "*a",
    "!!int ",
    "<<: ",
    "|\n",
    ">-\n",
    '"',
    "\\U0011",
    "\\x",
    "#",
    "@",
)
DOCUMENT = ("schema: freeze-gate/policy/1\n", "%YAML 1.1\n", "%TAG ! x\n", "---\n", "...\n", "%YAML 9" * 900)
ODD = ("\t", "\ufeff", "\r", "`", "\u2028", "\x85", "null", "9" * 5000, "é", "\U0001f600", "::error::", "##[x]")
PIECES = st.sampled_from(ENTRY + SYNTAX + DOCUMENT + ODD)


@settings(max_examples=300)
@given(
    st.lists(PIECES, max_size=30).map("".join).map(str.encode)
    | st.binary(max_size=200)
    | st.tuples(st.text(max_size=5), st.binary(max_size=9)).map(
        lambda parts: b"\xef\xbb\xbf" + parts[0].encode() + parts[1]
    )
)
def test_no_bytes_whatever_make_it_raise_or_print_anything_odd(payload: bytes) -> None:
    """Any file is read or refused; what it is refused with is harmless text, and it then freezes nothing."""
    reading = read_policy(payload, "p.yml", TODAY)
    assert reading.state == ("unusable" if reading.problems else "read")
    assert reading.policy == Policy() or not reading.problems
    for problem in reading.problems:
        assert problem.startswith("p.yml:")
        assert not CONTROL_CHARACTERS.search(problem)
        assert "::" not in problem
        assert "##[" not in problem


def test_a_byte_that_is_no_utf8_is_named_by_its_line() -> None:
    """Behind a byte-order mark and a letter beyond ASCII too: neither moves the place of the byte."""
    for lines, payload in enumerate((MARKED_NON_UTF8, b"\xef\xbb\xbf# \xc3\xa9\n\xff", b"\xc3\xa9\n\n\xc3"), 1):
        reading = read_policy(payload, "p.yml", TODAY)
        assert (reading.state, reading.problems) == ("unusable", (f"p.yml:{lines}: is not UTF-8 from here",))


@pytest.mark.parametrize("owner", ["한국어", "ไทย", "😀", "@octo-org/harness", "é", "\u200bé"])
def test_words_of_any_script_are_not_blank(owner: str) -> None:
    """A character that can be seen is enough."""
    entry = {
        "fixture_id": "a",
        "fixture_sha256": "0" * 64,
        "owner": owner,
        "reason": owner,
        "added": "2026-11-20",
        "expires": "2026-12-10",
        "unfreeze_when": owner,
    }
    payload = json.dumps({"schema": "freeze-gate/policy/1", "freezes": [entry]}, ensure_ascii=False).encode()
    assert read_policy(payload, "p.yml", TODAY).state == "read"
