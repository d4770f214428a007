"""The two runs side by side: what each left, and no guess about what is unknown."""

import pytest

from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.models import CheckFailure, Pair, Side, Source
from freeze_gate.evidence.record import LengthChecks, Oracle, Run, Transport
from freeze_gate.report.comparison import render_comparison, render_facts
from freeze_gate.report.context import OFFLINE
from tests.builders.evidence import CONTEXT, X, Y, make_pair, make_side


def rows(given: Pair, reason: str = "nothing-to-blame") -> dict[str, tuple[str, str, str]]:
    """Read the table: a row's name, the cells of the two runs, and whether they are the same."""
    lines = [line[2:-2].split(" | ") for line in render_comparison(given, reason, CONTEXT).splitlines()[2:]]
    return {name: (first, rerun, same.strip()) for name, first, rerun, same in lines}


def facts(given: Pair) -> dict[str, str]:
    """Read the list: a fact's name, and what it says of the two runs."""
    lines = [line.removeprefix("- ").split(": ", 1) for line in render_facts(given, CONTEXT).splitlines()]
    return dict(line for line in lines if len(line) == 2)


def changed(**facts: object) -> Pair:
    """Return a pair whose first record says something else."""
    first = make_side(1)
    assert first.record
    return Pair("sorted-patch", first._replace(record=first.record._replace(**facts)), make_side(2))  # type: ignore[arg-type]


def test_the_table_has_the_facts_that_matter_and_what_is_the_same() -> None:
    """Bytes with their size, oracle, transport with its fault, and the run to open."""
    shown = rows(make_pair({"oracle": False, "transport": False}, {"pin": Y}))
    assert set(shown) == {"run", "pinned bytes", "oracle", "transport"}
    assert shown["run"][0] == "[run 4242, attempt 1](https://github.com/octo-org/widgets/actions/runs/4242/attempts/1)"
    assert shown["pinned bytes"] == (f"`{X[:12]}`, 1,841 bytes", f"`{Y[:12]}`, 1,841 bytes", "**differs**")
    assert shown["oracle"] == ("**failed**, exit code 1", "passed, exit code 0", "**differs**")
    assert shown["transport"] == ("**fault: connection**", "ok", "**differs**")
    assert rows(make_pair())["pinned bytes"][2] == "same"


def test_digests_that_begin_alike_are_not_called_the_same() -> None:
    """What is cut off for the reader is compared in full."""
    twin = Sha256(X[:12] + Y[12:])
    shown = rows(make_pair(None, {"pin": twin}))["pinned bytes"]
    assert shown[0] == shown[1]
    assert shown[2] == "**differs**"


@pytest.mark.parametrize(
    ("reason", "names"),
    [
        ("oracle-egress", {"network"}),
        ("commit-mismatch", {"commit"}),
        ("run-mismatch", {"commit", "run in the record", "artifact"}),
        ("oracle-input-mismatch", {"oracle's input"}),
        ("archive-digest-mismatch", {"published digest", "downloaded digest"}),
        ("digests-differ", {"model", "request"}),
    ],
)
def test_a_reason_brings_its_own_rows(reason: str, names: set[str]) -> None:
    """The fact that decided stands in the table."""
    assert set(rows(make_pair(), reason)) == {"run", "pinned bytes", "oracle", "transport", *names}


def test_every_fact_is_in_the_list_in_full() -> None:
    """Full digests, artifact ids, retries, checks, network: once where both runs say the same."""
    listed = facts(make_pair({"oracle": False, "transport": False}, {"pin": Y}))
    assert listed["pinned bytes"] == f"`{X}`, 1,841 bytes in the first run, `{Y}`, 1,841 bytes in the rerun"
    assert "artifacts/102), id 102 in the rerun" in listed["artifact"]
    assert listed["published digest"] == f"`sha256:{Y}` in the first run, not published in the rerun"
    assert listed["network"] == "sealed, 0 blocked attempts in both runs"
    assert listed["status"] == "200 in both runs"
    assert listed["timed out"] == "no in both runs"
    assert listed["retries"] == "0 in the first run, 1 in the rerun"
    assert listed["bytes on the wire"] == "1,841 of 1,841 declared in both runs"
    assert listed["length checks"] == "`min_bytes` `100` in both runs"


@pytest.mark.parametrize(
    ("facts", "row", "cell"),
    [
        ({"oracle_passed": None}, "oracle", "not known, exit code 0"),
        ({"oracle_passed": None, "oracle": Oracle("not_run")}, "oracle", "not run"),
        (
            {"oracle_passed": False, "oracle": Oracle("timed_out", exit_code=124, runs=2)},
            "oracle",
            "**failed**, timed out, exit code 124, 2 runs",
        ),
        ({"transport_ok": None}, "transport", "not known"),
        (
            {"transport_ok": False, "transport": Transport(503, fault="http_status")},
            "transport",
            "**fault: http\\_status 503**",
        ),
        (
            {"transport_ok": None, "run": Run(replay_of="0" * 32)},
            "transport",
            "no call: a replay of the other run's pin",
        ),
        ({"transport": Transport(pin_complete=False)}, "pinned bytes", f"`{X[:12]}`, 1,841 bytes, **cut off**"),
        ({"fixture_sha256": Y}, "pinned bytes", f"`{X[:12]}`, 1,841 bytes; the record names `{Y[:12]}`"),
    ],
)
def test_a_cell_says_what_the_record_says(facts: dict[str, object], row: str, cell: str) -> None:
    """Null is shown as not known: neither as a pass nor as a no."""
    assert rows(changed(**facts))[row][0] == cell


@pytest.mark.parametrize(
    ("given_facts", "name", "text"),
    [
        ({"oracle": Oracle()}, "network", "not recorded in the first run"),
        ({"oracle": Oracle(egress_attempts=3)}, "network", "not known, 3 blocked attempts in the first run"),
        ({"transport": Transport()}, "status", "- in the first run, 200 in the rerun"),
        ({"transport": Transport(pin_complete=False)}, "complete", "no in the first run, yes in the rerun"),
        ({"transport": Transport(checks=LengthChecks(ends_with="|`"))}, "length checks", "`ends_with` &#124;\\`"),
    ],
)
def test_the_list_says_what_is_unknown(given_facts: dict[str, object], name: str, text: str) -> None:
    """A dash stands for what one run does not say."""
    assert facts(changed(**given_facts))[name].startswith(text)


def test_a_side_without_evidence_shows_its_problem_and_no_more() -> None:
    """Where nothing was found, one row names the check, and nothing is called the same or different."""
    gone = Side(Source("freeze-gate-2", fault=CheckFailure("artifact-missing", "there is no such artifact")))
    shown = rows(Pair("sorted-patch", make_side(1), gone))
    assert shown["problem"] == ("-", "`artifact-missing`", "")
    assert {shown[name][1:] for name in ("pinned bytes", "oracle", "transport")} == {("-", "")}


def test_a_row_that_says_nothing_of_either_side_is_left_out() -> None:
    """Two sides without a record have no oracle and no transport to show."""
    gone = Side(Source("a.zip", fault=CheckFailure("archive-invalid", "not a zip")))
    assert set(rows(Pair(None, gone, gone))) == {"run", "problem"}


def test_offline_nothing_is_linked() -> None:
    """Without a repository a run is a number and an artifact a name."""
    assert "](" not in render_comparison(make_pair(), "artifact-same", OFFLINE) + render_facts(make_pair(), OFFLINE)
