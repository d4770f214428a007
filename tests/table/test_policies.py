"""The table of policy files: what is changed in a good one, and the exact line that it is refused with.

Line 1 is the schema, line 4 begins the entry; today is 2026-11-29.
"""

from datetime import date

import pytest

from freeze_gate.policy.file import MAX_POLICY_BYTES, read_policy
from freeze_gate.policy.freezes import Freeze, Policy, PolicyReading
from freeze_gate.validation.strict_yaml import NODES

TODAY = date(2026, 11, 29)
SHA = "0b5c" + "0" * 60

GOOD = f"""\
schema: freeze-gate/policy/1
max_freeze_days: 30
freezes:
  - fixture_id: sorted-patch
    fixture_sha256: {SHA}
    owner: "@octo-org/harness"
    reason: executor lane drops connections
    added: 2026-11-20
    expires: 2026-12-10          # last day, UTC
    unfreeze_when: lane upgrade is out
    pull_request: 12             # optional: only there
require: {{sealed_oracle: false}}
retention: {{fixtures_days: 90}}
"""

ENTRY = Freeze(
    fixture_id="sorted-patch",
    fixture_sha256=SHA,
    owner="@octo-org/harness",
    reason="executor lane drops connections",
    added=date(2026, 11, 20),
    expires=date(2026, 12, 10),
    unfreeze_when="lane upgrade is out",
    pull_request=12,
    line=4,
)

SECOND = f"""\
  - fixture_id: sorted-patch
    fixture_sha256: {SHA}
    owner: me
    reason: it came back
    added: ADDED
    expires: EXPIRES
    unfreeze_when: never
require:"""

ONE_LINE = "words on one line, and not blank"
AN_ID = "must be letters, digits, dots, underscores and hyphens, 128 at most"
A_DAY = "must be a day such as 2026-12-10"
CONTROL = "must not hold a control character or a lone surrogate"
NO_NAME = "has a key that is not a plain name; letters, digits, _ and - are allowed"
TOP = "allowed are schema, max_freeze_days, require, freezes, retention"
FIELDS = "allowed are fixture_id, fixture_sha256, owner, reason, added, expires, unfreeze_when, pull_request"
DEEP = "is nested too deeply; 8 levels are allowed"
UNCLOSED = "cannot be read as YAML: found unexpected end of stream, in what begins on line 10"


def read(payload: str | bytes, today: date = TODAY) -> PolicyReading:
    """Read a policy file."""
    return read_policy(payload if isinstance(payload, bytes) else payload.encode(), "p.yml", today)


def changed(old: str, new: str, text: str = GOOD) -> str:
    """Change the good file in one place."""
    assert text.count(old) == 1, old
    return text.replace(old, new)


def second(added: str, expires: str) -> str:
    """Add a second entry for the same id and digest."""
    return changed("require:", SECOND.replace("ADDED", added).replace("EXPIRES", expires))


# What is changed | into what | the problem, without the file's name
REFUSED = [
    # A field is missing
    ("schema: freeze-gate/policy/1\n", "", "1: schema: is required"),
    ("- fixture_id: sorted-patch\n    fixture_sha256", "- fixture_sha256", "4: freezes[0].fixture_id: is required"),
    (f"    fixture_sha256: {SHA}\n", "", "4: freezes[0].fixture_sha256: is required"),
    ('    owner: "@octo-org/harness"\n', "", "4: freezes[0].owner: is required"),
    ("    reason: executor lane drops connections\n", "", "4: freezes[0].reason: is required"),
    ("    added: 2026-11-20\n", "", "4: freezes[0].added: is required"),
    ("    expires: 2026-12-10          # last day, UTC\n", "", "4: freezes[0].expires: is required"),
    ("    unfreeze_when: lane upgrade is out\n", "", "4: freezes[0].unfreeze_when: is required"),
    # A field is blank, in each of the ways to be it
    ('"@octo-org/harness"', "", f"6: freezes[0].owner: must be {ONE_LINE}"),
    ('"@octo-org/harness"', '"  "', f"6: freezes[0].owner: must be {ONE_LINE}"),
    ('"@octo-org/harness"', "~", f"6: freezes[0].owner: must be {ONE_LINE}"),
    ("executor lane drops connections", "null", f"7: freezes[0].reason: must be {ONE_LINE}"),
    ("sorted-patch", "null", f"4: freezes[0].fixture_id: {AN_ID}"),
    ("lane upgrade is out", "# to be said", f"10: freezes[0].unfreeze_when: must be {ONE_LINE}"),
    (" 2026-11-20", "", f"8: freezes[0].added: {A_DAY}"),
    (" 12 ", "  ", "11: freezes[0].pull_request: must be a whole number of at least 1"),
    # A field holds only what nobody sees: a zero-width space, Hangul fillers, a Braille blank, marks on nothing
    ('"@octo-org/harness"', '"\\u200b"', f"6: freezes[0].owner: must be {ONE_LINE}"),
    ("executor lane drops connections", "\u3164 \uffa0\u115f\u1160", f"7: freezes[0].reason: must be {ONE_LINE}"),
    ("lane upgrade is out", "\u2800\u034f\ufe0f\u00ad", f"10: freezes[0].unfreeze_when: must be {ONE_LINE}"),
    # A value is not what it should be
    ("policy/1", "policy/2", "1: schema: must be freeze-gate/policy/1"),
    ("days: 30", "days: 91", "2: max_freeze_days: must be a whole number from 1 to 90"),
    ("days: 30", "days: 0", "2: max_freeze_days: must be a whole number from 1 to 90"),
    ("days: 30", "days: 3e1", "2: max_freeze_days: must be a whole number from 1 to 90"),
    ("days: 30", 'days: "30"', "2: max_freeze_days: must be a whole number from 1 to 90"),
    ("days: 30", "days: 030", "2: max_freeze_days: must be a whole number from 1 to 90"),
    ("sorted-patch", "-sorted", f"4: freezes[0].fixture_id: {AN_ID}"),
    (SHA, SHA[:-1], "5: freezes[0].fixture_sha256: must be 64 lower-case hexadecimal characters"),
    (SHA, SHA.upper(), "5: freezes[0].fixture_sha256: must be 64 lower-case hexadecimal characters"),
    (SHA, f"sha256:{SHA}", "5: freezes[0].fixture_sha256: must be 64 lower-case hexadecimal characters"),
    ("executor lane", "|\n      executor\n      lane", f"7: freezes[0].reason: must be {ONE_LINE}"),
    ("executor lane", '"executor\\e lane"\n    #', f"7: freezes[0].reason: {CONTROL}"),
    ('"@octo-org/harness"', "[me, you]", f"6: freezes[0].owner: must be {ONE_LINE}"),
    (" 12 ", " 0 ", "11: freezes[0].pull_request: must be a whole number of at least 1"),
    (" 12 ", " any ", "11: freezes[0].pull_request: must be a whole number of at least 1"),
    ("{sealed_oracle: false}", "{sealed_oracle: no}", "12: require.sealed_oracle: must be true or false"),
    ("{sealed_oracle: false}", '{sealed_oracle: "true"}', "12: require.sealed_oracle: must be true or false"),
    ("{sealed_oracle: false}", "sealed_oracle", "12: require: must be an object"),
    ("days: 90", "days: 0", "13: retention.fixtures_days: must be a whole number from 1 to 36500"),
    # A day is none, or lies where it must not
    ("2026-11-20", "2026-11-20T00:00:00Z", f"8: freezes[0].added: {A_DAY}"),
    ("2026-11-20", "2026-11-31", f"8: freezes[0].added: {A_DAY}"),
    ("2026-11-20", "20.11.2026", f"8: freezes[0].added: {A_DAY}"),
    ("2026-11-20", "2026-1-2", f"8: freezes[0].added: {A_DAY}"),
    ("2026-11-20", "2026-11-30", "8: freezes[0].added: lies in the future; 2026-11-29 (UTC) or earlier is allowed"),
    ("2026-12-10", "2026-11-19", "9: freezes[0].expires: lies before added; 2026-11-20 or later is allowed"),
    # A key is not known, given twice, or none
    ("pull_request:", "pull:", f"11: freezes[0].pull: is unknown; {FIELDS}"),
    ("max_freeze", "max_mute", f"2: max_mute_days: is unknown; {TOP}"),
    ("{sealed_oracle: false}", "{sealed: true}", "12: require.sealed: is unknown; allowed are sealed_oracle"),
    ("days: 90", "days: 90, size: 1", "13: retention.size: is unknown; allowed are fixtures_days"),
    ("pull_request: 12", "owner: me", "11: freezes[0].owner: is given twice, first on line 6; once is allowed"),
    ("max_freeze_days: 30", "freezes: []", "3: freezes: is given twice, first on line 2; once is allowed"),
    ("max_freeze_days: 30", "[a, b]: c", f"2: {NO_NAME}"),
    ("max_freeze_days: 30", '"::error::x": c', f"2: {NO_NAME}"),
    # YAML that stands for something else
    ("max_freeze_days: 30", "<<: {max_freeze_days: 90}", "2: has a merge key; write the values out"),
    ('"@octo-org/harness"', "&me harness", "6: freezes[0].owner: has an anchor; none is allowed"),
    ("  - fixture_id", "  - &entry\n    fixture_id", "4: freezes[0]: has an anchor; none is allowed"),
    ("policy/1", "policy/1\nx: *y", "2: x: is an alias; write the value out"),
    ("lane upgrade is out", "!!str lane", "10: freezes[0].unfreeze_when: has a tag; none is allowed"),
    ("lane upgrade is out", "! lane", "10: freezes[0].unfreeze_when: has a tag; none is allowed"),
    ("2026-11-20", "!!timestamp 2026-11-20", "8: freezes[0].added: has a tag; none is allowed"),
    (" {sealed_oracle: false}", " !!python/object/apply:os.system [echo]", "12: require: has a tag; none is allowed"),
    # YAML that is none
    ('"@octo-org/harness"', "@octo-org/harness", "6: has a value that begins with @; put it in quotes"),
    ("    owner:", "\towner:", "6: has a tab before a value; spaces are allowed"),
    ("lane upgrade is out", "lane: upgrade", "10: cannot be read as YAML: mapping values are not allowed here"),
    ("lane upgrade is out", '"lane', f"14: {UNCLOSED}"),
    ("lane upgrade is out", '"\\Uffffffff"', "10: cannot be read as YAML"),
    ("policy/1", "policy/1\n---\nschema: freeze-gate/policy/1", "2: starts a second document; one is allowed"),
    ("lane upgrade", "lane\0upgrade", "10: holds a control character; printable text is allowed"),
    ("lane upgrade", "lane\u2028upgrade", "10: holds a control character; printable text is allowed"),
    ("out\n", f"out\n    x: {'[' * 9}\n", f"11: {DEEP}"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "problem"), REFUSED, ids=[problem for _, _, problem in REFUSED])
def test_each_broken_rule_is_one_line_that_says_where_and_what_is_allowed(old: str, new: str, problem: str) -> None:
    """A file with one thing wrong is unusable, mutes nothing, and is refused with exactly that line."""
    reading = read(changed(old, new))

    assert (reading.state, reading.problems, reading.policy) == ("unusable", (f"p.yml:{problem}",), Policy())
    assert reading.requires_sealed_oracle


# What the whole file is | the problem
WHOLE = [
    ("", "1: schema: is required"),
    ("# nothing yet\n", "1: schema: is required"),
    ("---\n", "1: schema: is required"),
    ("[]", "1: must be an object"),
    ("freeze everything", "1: must be an object"),
    ("x" * 1_000_000, "1: is over 256 KiB; a policy is a page of entries"),
    (GOOD.encode("utf-16"), "1: is not UTF-8 from here"),
    (GOOD.encode().replace(b"lane upgrade", b"lane \xff"), "10: is not UTF-8 from here"),
    ("[" * 100_000, f"1: {DEEP}"),
    ("- \n" * (NODES + 1), f"{NODES}: holds over 20000 values"),
]


@pytest.mark.parametrize(("payload", "problem"), WHOLE, ids=[problem for _, problem in WHOLE])
def test_a_file_that_is_no_policy_at_all(payload: str | bytes, problem: str) -> None:
    """What cannot be a policy is refused with one line, however large or deep it is."""
    assert read(payload).problems == (f"p.yml:{problem}",)


def test_an_alias_bomb_is_never_unfolded() -> None:
    """Nine levels of nine aliases each are 27 short lines to us, not a billion values."""
    bomb = "a0: &a0 x\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
    problems = read("schema: freeze-gate/policy/1\n" + bomb).problems
    assert "p.yml:2: a0: has an anchor; none is allowed" in problems
    assert "p.yml:11: a9[8]: is an alias; write the value out" in problems
    assert len(problems) == 10 + 9 * 9


def test_all_problems_are_named_at_once_in_the_order_of_their_lines() -> None:
    """Whoever mends the file sees everything that is wrong with it."""
    text = GOOD
    for old, new in (("days: 30", "days: x"), (SHA, "abc"), ("2026-11-20", "2027-01-01"), ("policy/1", "policy/9")):
        text = changed(old, new, text)
    assert read(text).problems == (
        "p.yml:1: schema: must be freeze-gate/policy/1",
        "p.yml:2: max_freeze_days: must be a whole number from 1 to 90",
        "p.yml:5: freezes[0].fixture_sha256: must be 64 lower-case hexadecimal characters",
        "p.yml:8: freezes[0].added: lies in the future; 2026-11-29 (UTC) or earlier is allowed",
        "p.yml:9: freezes[0].expires: lies before added; 2027-01-01 or later is allowed",
    )


def test_a_garbled_file_does_not_flood_the_summary() -> None:
    """After a hundred problems the rest is counted."""
    problems = read(GOOD + "x: y\n" * 501).problems
    assert len(problems) == 101
    assert problems[-1] == "and 400 more"


# Two entries for one id and digest; the first is there from 2026-11-20 to 2026-12-10
SECONDS = [
    ("2026-11-01", "2026-11-19", True),  # ends the day before
    ("2026-11-01", "2026-11-20", False),  # ends on its first day
    ("2026-11-25", "2026-11-26", False),  # within it
    ("2026-11-01", "2026-12-31", False),  # around it
]


@pytest.mark.parametrize(("added", "expires", "allowed"), SECONDS)
def test_two_entries_for_one_id_and_digest_may_not_share_a_day(added: str, expires: str, allowed: bool) -> None:
    """Where two entries cover one day, nobody could say whose the freeze is."""
    problem = "p.yml:12: freezes[1]: overlaps freezes[0]; the days of two entries for one id and digest may not"
    assert read(second(added, expires)).problems == (() if allowed else (problem,))


def test_entries_for_other_bytes_or_another_id_may_share_their_days() -> None:
    """Only one id and one digest together are one freeze."""
    for old, new in (("sorted-patch\n    fixture", "other\n    fixture"), (SHA, "f" * 64)):
        text = second("2026-11-25", "2026-11-26")
        at = text.rindex(old)
        assert read(text[:at] + new + text[at + len(old) :]).state == "read"


# What is changed in the good file | into what
ACCEPTED = [
    ("policy/1", "policy/1"),
    ("schema: freeze-gate/policy/1", 'schema: "freeze-gate/policy/1"'),
    ("2026-11-20", '"2026-11-20"'),
    ("2026-11-20", "'2026-11-20'"),
    ('"@octo-org/harness"', ">\n      @octo-org/harness"),
    ("schema:", "---\nschema:"),
    ("schema:", "%YAML 1.1\n---\nschema:"),
    ("days: 90}\n", "days: 90}\n...\n"),
    ("days: 90}\n", "days: 90}"),
]


@pytest.mark.parametrize(("old", "new"), ACCEPTED)
def test_ways_to_write_the_same_policy(old: str, new: str) -> None:
    """Quotes, folded text and document marks are a matter of taste."""
    policy = read(changed(old, new)).policy
    assert [freeze._replace(line=4) for freeze in policy.freezes] == [ENTRY]
    assert policy._replace(freezes=()) == Policy(30, fixtures_days=90)


@pytest.mark.parametrize(
    "payload",
    [b"\xef\xbb\xbf" + GOOD.encode(), GOOD.replace("\n", "\r\n").encode(), GOOD.replace("\n", "\r").encode()],
    ids=["byte-order mark", "CRLF", "CR"],
)
def test_editors_may_differ(payload: bytes) -> None:
    """A byte-order mark and any line ends read the same, lines included."""
    assert read(payload).policy.freezes == (ENTRY,)


def test_only_the_schema_is_required() -> None:
    """A policy without anything in it is one: 30 days, nothing frozen, nothing required, nothing pruned."""
    for rest in ("", "freezes:\n", "freezes: []\nrequire:\nretention:\n", "require: {}\n"):
        assert read("schema: freeze-gate/policy/1\n" + rest)[:2] == ("read", Policy())


def test_words_are_read_by_their_place_and_never_guessed() -> None:
    """An id, a reason or an owner that YAML would take for a number, a truth value or a date stays what is written."""
    for old in ("sorted-patch", '"@octo-org/harness"', "executor lane drops connections"):
        for word in ("no", "012", "1e3", "2026-11-20", "0x1F", "1_000", "3.10"):
            assert word in read(changed(old, word)).policy.freezes[0]


def test_a_horizon_that_is_too_long_is_left_to_the_use_of_the_entry() -> None:
    """2099 spoils its own entry, not the file: see `freeze_status` and `freeze-gate check`."""
    reading = read(changed("2026-12-10", "2099-12-31"))
    assert (reading.state, reading.policy.freezes[0].expires) == ("read", date(2099, 12, 31))


def test_an_entry_added_today_is_not_in_the_future() -> None:
    """The day that the entry was added on is its first."""
    assert read(GOOD, date(2026, 11, 20)).state == "read"
    assert read(GOOD, date(2026, 11, 19)).state == "unusable"


def test_the_largest_size_is_still_read() -> None:
    """The limit is inclusive."""
    padded = GOOD.encode().ljust(MAX_POLICY_BYTES, b"\n")
    assert read(padded).state == "read"
    assert read(padded + b"\n").state == "unusable"


def test_the_reading_names_the_blob_as_git_does() -> None:
    """The id is what `git hash-object` prints, for good and bad files alike."""
    assert read("").sha == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert read("schema: freeze-gate/policy/1\n").sha == "ee9981947d4be907529b7ee0b7a5694a0289d931"
