"""The two runs side by side: what each left, and no guess about what is unknown."""

import pytest

from freeze_gate.evidence.models import CheckFailure, Pair, Side, Source
from freeze_gate.evidence.record import LengthChecks, Oracle, Run, Transport
from freeze_gate.report.comparison import render_comparison
from tests.builders.evidence import CONTEXT, X, Y, make_pair, make_side


def rows(given: Pair) -> dict[str, tuple[str, str]]:
    """Read the table: a row's name, and its cells."""
    lines = [line.strip("| ").split(" | ") for line in render_comparison(given, CONTEXT).splitlines()[2:]]
    return {name: (first, rerun) for name, first, rerun in lines}


def changed(**facts: object) -> Pair:
    """Return a pair whose first record says something else."""
    first = make_side(1)
    assert first.record
    return Pair("sorted-patch", first._replace(record=first.record._replace(**facts)), make_side(2))  # type: ignore[arg-type]


def test_what_a_run_left() -> None:
    """Each fact has its row, and what GitHub does not publish is said to be so."""
    shown = rows(make_pair({"oracle": False, "transport": False}, {"pin": Y}))
    assert shown["run"][0] == "[run 4242, attempt 1](https://github.com/octo-org/widgets/actions/runs/4242/attempts/1)"
    assert shown["artifact"][1].startswith(
        "[`freeze-gate-2`](https://github.com/octo-org/widgets/actions/runs/4242/artifacts/102)"
    )
    assert shown["published digest"] == (f"`sha256:{Y}`", "not published")
    assert shown["pinned bytes"] == (f"`{X}`, 1,841 bytes", f"`{Y}`, 1,841 bytes")
    assert shown["oracle"] == ("**failed** (exit code 1)", "passed (exit code 0)")
    assert shown["network"] == ("sealed, 0 blocked attempts",) * 2
    assert shown["transport"] == ("**fault**: `connection`", "ok")
    assert shown["status"] == ("200", "200")
    assert shown["timed out"] == ("no", "no")
    assert shown["retries"] == ("0", "1")
    assert shown["bytes on the wire"][0] == "1,841 of 1,841 declared"
    assert shown["length checks"][0] == "`min_bytes` `100`"


@pytest.mark.parametrize(
    ("facts", "row", "cell"),
    [
        ({"oracle_passed": None}, "oracle", "not known (exit code 0)"),
        (
            {"oracle_passed": False, "oracle": Oracle("timed_out", exit_code=124, runs=2)},
            "oracle",
            "**failed** (timed out, exit code 124, 2 runs)",
        ),
        ({"oracle": Oracle()}, "network", "not recorded"),
        ({"oracle": Oracle(egress_attempts=3)}, "network", "not known, 3 blocked attempts"),
        ({"transport_ok": None}, "transport", "not known"),
        (
            {"transport_ok": None, "run": Run(replay_of="0" * 32)},
            "transport",
            "no call: a replay of the other run's pin",
        ),
        ({"transport": Transport()}, "status", "-"),
        ({"transport": Transport(pin_complete=False)}, "complete", "no"),
        (
            {"transport": Transport(checks=LengthChecks(ends_with="|`"))},
            "length checks",
            "`ends_with` &#124;\\`",
        ),
        ({"fixture_sha256": Y}, "pinned bytes", f"`{X}`, 1,841 bytes; the record names `{Y}`"),
    ],
)
def test_what_is_unknown_is_said_to_be(facts: dict[str, object], row: str, cell: str) -> None:
    """Null is shown as not known: neither as a pass nor as a no."""
    assert rows(changed(**facts))[row][0] == cell


def test_a_side_without_evidence_shows_its_problem_and_no_more() -> None:
    """Where nothing was found, the cells of that side are empty and one row says why."""
    gone = Side(Source("freeze-gate-2", fault=CheckFailure("artifact-missing", "there is no such artifact")))
    shown = rows(Pair("sorted-patch", make_side(1), gone))
    assert shown["run"][1] == "not known"
    assert shown["problem"] == ("-", "`artifact-missing`: there is no such artifact")
    assert shown["pinned bytes"][1] == "nothing pinned"
    assert {shown[name][1] for name in ("oracle", "network", "transport", "status", "retries")} == {"-"}


def test_a_row_that_says_nothing_of_either_side_is_left_out() -> None:
    """Two sides without a record have no oracle and no transport to show."""
    gone = Side(Source("a.zip", fault=CheckFailure("archive-invalid", "not a zip")))
    assert set(rows(Pair(None, gone, gone))) == {"run", "artifact", "problem", "pinned bytes"}


def test_offline_nothing_is_linked() -> None:
    """Without a repository a run is a number and an artifact a name."""
    assert "](" not in render_comparison(make_pair(), CONTEXT._replace(repository=None))
