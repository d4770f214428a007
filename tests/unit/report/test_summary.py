"""The summary: the four lines first, then why, what next, and all that a reader needs to check it."""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freeze_gate.evidence.models import CheckFailure, OtherAttempt, Pair, Side, Source
from freeze_gate.policy.freezes import Policy, PolicyReading
from freeze_gate.report.outputs import FAIL_CLOSED_LINES, format_four_lines
from freeze_gate.report.published import MAX_BYTES as POSTED_BYTES
from freeze_gate.report.summary import MAX_BYTES, render_no_verdict_summary, render_summary
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.models import Case
from tests.builders.evidence import (
    CONTEXT,
    DRIFT,
    FLAKE,
    FREEZE,
    MISS,
    SPLIT,
    UNPROVEN,
    X,
    Y,
    make_case,
    make_pair,
    make_side,
)
from tests.builders.pages import make_pages
from tests.builders.record import REPOSITORY
from tests.support.github_markdown import hostile, plain_words, render

OURS = re.compile(
    rf"https://github\.com/({REPOSITORY}/(actions/runs|issues|edit|new)/|octo-org/freeze-gate#)[a-z0-9/.-]+"
)

OUR_HTML = re.compile(r"<br>|<details>\n<summary>[A-Za-z0-9 ]+</summary>\n?|</details>\n?")


def said(given: Case, **context: Any) -> str:
    """Return the summary of a case."""
    return render_summary(given, evaluate(given), CONTEXT._replace(**context))


@pytest.mark.parametrize("given_pair", [MISS, DRIFT, SPLIT, FLAKE, UNPROVEN, make_pair()])
def test_the_lines_come_first_and_why_next_and_the_two_runs_follow(given_pair: Pair) -> None:
    """After one heading stands the fenced block with exactly the four lines, then the rest in a fixed order."""
    given = make_case(given_pair)
    page = said(given)
    blocks = render(page).blocks
    assert blocks[:2] == ("heading_open", "fence")
    assert render(page).fences[0] == format_four_lines(evaluate(given))
    places = [
        page.index(mark)
        for mark in ("## Freeze Gate", "fixture_sha256=", "**Why:**", "**Next:**", "| run |", "<details>")
    ]
    assert places == sorted(places)


def test_files_of_macos_that_were_left_out_are_named() -> None:
    """Once for each artifact that holds them, with their names escaped."""
    source = FLAKE.first.source._replace(ignored_records=("records/._a`b.json",))
    first = FLAKE.first._replace(source=source)
    page = said(make_case(FLAKE._replace(first=first), FLAKE._replace(fixture_id="b", first=first)))
    assert page.count("macOS adds such files") == 1
    assert "Left out of freeze-gate-1: records/._a`b.json." in plain_words(page)


@pytest.mark.parametrize(
    ("given_pair", "kind"),
    [
        (MISS, "CAUTION"),
        (DRIFT, "WARNING"),
        (SPLIT, "WARNING"),
        (FLAKE, "NOTE"),
        (make_pair(), "TIP"),
    ],
)
def test_why_and_next_stand_in_an_alert_whose_colour_fits(given_pair: Pair, kind: str) -> None:
    """It follows the four lines at once: a tired reviewer needs nothing else."""
    page = said(make_case(given_pair))
    assert f"```\n\n> [!{kind}]\n> **Why:** " in page
    assert "\n>\n> **Next:** " in page


def test_with_twelve_pairs_the_reason_stands_above_their_table() -> None:
    """The table follows with its worst pair first, and then the two runs of the pair that decides."""
    pairs = [*_several(), *(make_pair(None, {"pin": Y}, f"x{place}") for place in range(7))]
    page = said(make_case(*pairs))
    places = [
        page.index(mark) for mark in ("> **Why:**", "> **Next:**", "| fixture |", "| `d` |", "| `x6` |", "| run |")
    ]
    assert places == sorted(places)


def test_with_two_hundred_pairs_the_two_runs_stay_in_reach() -> None:
    """The first pairs are in sight, and the others open with a click."""
    pairs = [make_pair({"oracle": False}, {"oracle": False}, f"f{place:03}") for place in range(200)]
    page = said(make_case(*pairs))
    assert "<summary>175 more pairs that are not green</summary>" in page
    assert page.index("| `f024` |") < page.index("<details>") < page.index("| `f025` |") < page.index("| run |")


@pytest.mark.parametrize(
    ("state", "path"),
    [("read", "edit/trunk/.github/freeze-gate.yml"), ("absent", "new/trunk?filename=.github/freeze-gate.yml")],
)
def test_a_request_links_to_the_editor_of_the_policy_file(state: str, path: str) -> None:
    """GitHub's editor opens on the default branch: on the file, or on a new one where there is none."""
    page = said(make_case(FLAKE, policy=PolicyReading(state)), default_branch="trunk")
    assert f"(https://github.com/octo-org/widgets/{path})" in page
    assert "Edit the policy" not in said(make_case(FLAKE, policy=PolicyReading(state)), default_branch=None)
    assert "Edit the policy" not in said(make_case(MISS), default_branch="trunk")


def test_an_unusable_policy_that_withdraws_a_flake_is_named_first() -> None:
    """It counts as requiring a seal, so it is the file that is mended first, and its problems stand in sight."""
    first, rerun = (
        side._replace(record=side.record._replace(oracle=side.record.oracle._replace(egress="open")))
        for side in (FLAKE.first, FLAKE.rerun)
        if side.record
    )
    policy = PolicyReading("unusable", problems=("line 3: not a date",))
    page = said(make_case(Pair("sorted-patch", first, rerun), policy=policy))
    assert "> **Next:** First fix the problem with the policy file" in page
    assert page.index("line 3: not a date") < page.index("<details>")


def _longest_words(cells: list[str]) -> int:
    words = [re.split(r"[ \n-]|<br>", re.sub(r"\]\([^)]*\)|<!--.*?-->", "", cell)) for cell in cells]
    return max(len(word) for line in words for word in line)


@pytest.mark.parametrize("name", sorted(make_pages()))
def test_no_table_is_wider_than_its_page(name: str) -> None:
    """What cannot be broken in a row of a table fits into 760 pixels: nine for a character, 27 for a cell."""
    for table in re.findall(r"(?:^\|.*\n)+", make_pages()[name], re.MULTILINE):
        columns = zip(*(line.strip("|\n").split(" | ") for line in table.splitlines()), strict=True)
        assert sum(9 * _longest_words(list(column)) + 27 for column in columns) <= 760


def test_a_missing_artifact_is_explained_once_and_our_words_are_markdown() -> None:
    """The same sentence about both runs is one sentence, and what we put in backticks is code."""
    detail = "artifact 5 does not exist, or the token lacks `actions: read`"
    gone = Side(Source("freeze-gate", run_id=4242, fault=CheckFailure("artifact-missing", detail)))
    page = said(make_case(Pair(None, gone, gone)))
    assert page.count("does not exist") == 1
    assert "(both runs: artifact 5 does not exist, or the token lacks `actions: read`)" in page
    page = render_no_verdict_summary("GitHub answered 401: the token lacks `actions: read`", CONTEXT)
    assert "lacks `actions: read`" in page


def test_beside_a_true_stands_what_it_is() -> None:
    """It only asks, it stays red, it says nothing about other jobs; and the label starts nothing."""
    words = plain_words(said(make_case(FLAKE)))
    for phrase in (
        "only asks for a freeze",
        "stays red until a reviewer merges one",
        "says nothing about other jobs",
        "set with the default token starts no workflow",
    ):
        assert phrase in words


@pytest.mark.parametrize("given_pair", [MISS, DRIFT, SPLIT, make_pair()])
def test_without_a_true_nothing_speaks_of_a_request(given_pair: Pair) -> None:
    """A fail-closed result is not explained as an allowed freeze."""
    page = said(make_case(given_pair))
    assert "freeze_allowed=true" not in page
    assert "asks for a freeze" not in page


def test_a_muted_flake_is_not_said_to_stay_red() -> None:
    """Under an active freeze it is green today, and still says nothing about other jobs."""
    words = plain_words(said(make_case(FLAKE, policy=PolicyReading("read", Policy(freezes=(FREEZE,))))))
    assert "stays red" not in words
    assert "A merged freeze mutes it today" in words
    assert "It says nothing about other jobs" in words


def test_without_a_passing_oracle_the_summary_says_that_nothing_shows_that_the_patch_works() -> None:
    """A request may be made, and a freeze would not mute."""
    words = plain_words(said(make_case(UNPROVEN)))
    assert "freeze_allowed=true only asks for a freeze" in words
    assert "nothing shows that the patch works" in words


def _several() -> tuple[Pair, ...]:
    return (
        make_pair(fixture_id="a"),
        make_pair(None, {"pin": Y}, "b"),
        make_pair({"oracle": None, "transport": False}, fixture_id="c"),
        make_pair({"oracle": False}, {"oracle": False}, "d"),
        make_pair({"oracle": False}, fixture_id="e"),
    )


def test_every_pair_that_is_not_green_has_its_row_worst_first() -> None:
    """The miss decides, each red pair has its class, its reason and its digest, the green one is counted."""
    page = said(make_case(*_several()))
    rows = [line.split(" | ") for line in page.splitlines() if re.match(r"\| `[b-e]` \|", line)]
    assert [row[0] for row in rows] == ["| `d`", "| `b`", "| `e`", "| `c`"]
    assert [row[1] for row in rows] == ["`property_miss`", "`fixture_drift`", "`unclassified`", "`harness_flake`"]
    assert {row[3] for row in rows} == {f"`{X[:12]}` |"}
    assert "5 pairs: 1 `property_miss`, 1 `fixture_drift`, 1 `unclassified`, 1 `harness_flake`, 1 green." in page
    assert "No freeze is requested" in page


def test_a_thousand_pairs_are_counted_and_not_all_shown() -> None:
    """The page stays readable and small; the verdict file has them all."""
    pairs = [make_pair({"oracle": False}, {"oracle": False}, f"f{place:05}") for place in range(1000)]
    page = said(make_case(*pairs))
    assert "Not in this table: 700 more red pairs." in page
    assert len(page.encode()) <= MAX_BYTES


def test_a_set_without_expected_fixtures_says_so() -> None:
    """A fixture that vanished from both runs would not be seen; one pair alone is no set."""
    assert "`expected-fixtures` is not set" in said(make_case(*_several()))
    assert "expected-fixtures" not in said(make_case(*_several(), expected=("a", "b")))
    assert "expected-fixtures" not in said(make_case(MISS))


def test_an_empty_pin_is_warned_of() -> None:
    """Zero bytes are a real pin, and seldom what was meant."""
    pin = make_side(1).pin
    assert pin is not None
    pair = MISS._replace(rerun=MISS.rerun._replace(pin=pin._replace(size=0)))
    assert "**Warning:** zero bytes are pinned" in said(make_case(pair))
    assert "zero bytes" not in said(make_case(MISS))


def test_evidence_from_a_fork_is_said_to_be() -> None:
    """The reader knows who wrote it, and why there is no ticket."""
    assert "The evidence came from a fork" in said(make_case(DRIFT, from_fork=True))


def test_observation_only_is_said_where_it_hides_a_block() -> None:
    """`fail-on: never` is loud, except where there was nothing to block."""
    assert "**Observation only**" in said(make_case(MISS, fail_on="never"))
    assert "Observation only" not in said(make_case(make_pair(), fail_on="never"))


def test_all_attempts_are_listed() -> None:
    """A fail of another attempt forbids the freeze, and the attempt that recorded it can be opened from here."""
    pinned = Pair("sorted-patch", make_side(2, oracle=None, transport=False), make_side(3))
    lost = Side(Source("freeze-gate-0", run_id=4242, fault=CheckFailure("artifact-expired", "it expired")))
    page = said(
        make_case(
            pinned, other_attempts=(OtherAttempt("sorted-patch", make_side(1, oracle=False)), OtherAttempt(None, lost))
        )
    )
    assert "`earlier-fail`" in page
    assert (
        "- [run 4242, attempt 1](https://github.com/octo-org/widgets/actions/runs/4242/attempts/1): `sorted-patch`"
        in page
    )
    assert "oracle failed, transport ok" in page
    assert page.index("oracle failed, transport ok") < page.index("<details>")
    assert "could not be read" in page


def test_all_that_is_wrong_with_the_evidence_is_listed() -> None:
    """The first finding is the why, the others follow."""
    page = said(
        make_case(Pair("sorted-patch", make_side(1)._replace(pin=None), make_side(2, pin=Y)._replace(pin=None)))
    )
    assert "(the first run: there is no fixtures/" in page
    assert "- `fixture-missing`: the rerun: there is no fixtures/" in page


def test_no_verdict_has_its_own_page() -> None:
    """The closed lines, what is wrong, what to do, and no word of a class."""
    page = render_no_verdict_summary(
        "GitHub answered 503 for 120 seconds to the list of artifacts", CONTEXT._replace(notes=("first",))
    )
    assert render(page).fences == (FAIL_CLOSED_LINES,)
    assert "GitHub answered 503" in page
    assert "Re-run failed jobs" in page
    assert "- first" in page


@given(hostile(), hostile())
def test_a_page_without_a_verdict_quotes_no_stranger_as_markdown(message: str, note: str) -> None:
    """An HTTP body in the message does nothing."""
    rendered = render(render_no_verdict_summary(message, CONTEXT._replace(notes=(note,))))
    assert (rendered.links, rendered.images, rendered.html, rendered.by_itself) == ((), (), (), ())
    assert rendered.fences == (FAIL_CLOSED_LINES,)


def _poisoned(text: str, more: str) -> Case:
    """Put a stranger's text wherever a stranger's text can be, and further than any reader of records lets it."""
    first, rerun = make_side(1, oracle=None, transport=False), make_side(2)
    assert first.record
    assert first.source.artifact
    record = first.record._replace(
        fixture_path=text,
        transport=first.record.transport._replace(
            fault=text, checks=first.record.transport.checks._replace(ends_with=more)
        ),
        oracle=first.record.oracle._replace(egress=more),
        run=first.record.run._replace(job=text, commit=rerun.record and rerun.record.run.commit),
        sampler=first.record.sampler._replace(model=more),
    )
    artifact = first.source.artifact._replace(name=text, digest=None)
    evil = first._replace(record=record, source=first.source._replace(label=more, artifact=artifact))
    lost = Side(Source(text, fault=CheckFailure("archive-invalid", more)), fault=CheckFailure("record-invalid", text))
    freeze = FREEZE._replace(owner=text, reason=more, unfreeze_when=text)
    return make_case(
        Pair(text, evil, rerun),
        Pair("sorted-patch", evil, rerun),
        Pair(None, lost, lost),
        Pair(more, lost, rerun),
        policy=PolicyReading("unusable", Policy(freezes=(freeze,)), problems=(text, more)),
        other_attempts=(OtherAttempt(text, lost), OtherAttempt(more, rerun)),
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(hostile(), hostile(), st.integers(0, 3))
def test_nothing_that_a_stranger_wrote_is_more_than_text(text: str, more: str, deciding: int) -> None:
    """Four lines in their block, our own links, our own table, and no image, HTML, mention or reference."""
    given_case = _poisoned(text, more)
    result = evaluate(given_case)
    if result.verdicts[deciding].reason != "green":
        result = result._replace(deciding=deciding)
    page = render_summary(given_case, result, CONTEXT._replace(notes=(text, more)))
    rendered = render(page)
    assert rendered.fences[0].count("\n") == 4
    assert re.fullmatch(
        r"fixture_sha256=\S+\nfailure_class=[a-z_]+\nfreeze_allowed=(true|false)\nfixture_path=.*\n", rendered.fences[0]
    )
    assert all(OURS.fullmatch(address) for address in rendered.links)
    assert (rendered.images, rendered.by_itself) == ((), ())
    assert all(OUR_HTML.fullmatch(html) for html in rendered.html)
    assert rendered.blocks.count("heading_open") == 1
    assert rendered.blocks.count("table_open") == 2
    assert page.isascii() or all(char.isprintable() or char in "\n\u200b" for char in page)


def test_two_megabytes_in_every_field_make_a_small_page() -> None:
    """Whatever the input, the page and its section "Posted" stay under 900 KiB."""
    huge = "<@#`|" * 400_000
    given_case = _poisoned(huge, huge)
    page = render_summary(given_case, evaluate(given_case), CONTEXT._replace(notes=(huge,) * 1000))
    assert len(page.encode()) < 100 * 1024
    assert MAX_BYTES + POSTED_BYTES < 900 * 1024
