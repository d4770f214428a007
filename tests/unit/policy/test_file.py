"""Tests of `policy_file` beyond the table of policies: whatever the bytes are, there is a clean answer."""

from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from freeze_gate.policy.file import read_policy
from freeze_gate.policy.freezes import Policy
from freeze_gate.validation.readers import CONTROL_CHARACTERS

TODAY = date(2026, 11, 29)
ENTRY = ("freezes:\n", "  - ", "    fixture_id: a\n", "    added: 2026-11-20\n", "    owner: '", "retention: {x: ", "}")
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
@given(st.lists(PIECES, max_size=30).map("".join).map(str.encode) | st.binary(max_size=200))
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
