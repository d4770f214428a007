"""What a reader sees, one page for each kind of verdict, kept as Markdown so that a change of wording is looked at.

`python -m tests.golden.test_summaries` writes the pages anew, from the root of the repository; look at the difference.
"""

from datetime import date
from pathlib import Path
from typing import Final

import pytest

from freeze_gate.evidence.difference import Difference
from freeze_gate.evidence.side import Fault, Other, Pair, Side, Source
from freeze_gate.policy.freezes import Policy, PolicyReading
from freeze_gate.report.published import PLANNED, Posted, Ticket, posted
from freeze_gate.report.refresh_ticket import Drift, body
from freeze_gate.report.summary import summary, unreached
from freeze_gate.verdict.evaluate import judge
from freeze_gate.verdict.models import Case
from tests.builders.evidence import DRIFT, FLAKE, FREEZE, MISS, SPLIT, TODAY, UNPROVEN, VIEW, Y, case, pair, side

PAGES: Final = Path(__file__).parent / "summary"

_LAPSED: Final = FREEZE._replace(expires=date(2026, 11, 28))
_GONE: Final = Source(
    "freeze-gate-2", run_id=4242, newest_attempt=1, fault=Fault("artifact-missing", "run 4242 has no freeze-gate-2")
)
_ALONE: Final = side(1)._replace(source=side(1).source._replace(newest_attempt=1))


def _policy(freeze: object = None) -> PolicyReading:
    return PolicyReading("read", Policy(freezes=(freeze,) if freeze else ()))  # type: ignore[arg-type]


CASES: Final[dict[str, Case]] = {
    "miss": case(MISS),
    "drift": case(DRIFT),
    "drift-from-a-fork": case(DRIFT, from_fork=True),
    "split": case(SPLIT),
    "green": case(pair()),
    "flake": case(FLAKE, policy=PolicyReading("absent")),
    "flake-frozen": case(FLAKE, policy=_policy(FREEZE)),
    "flake-with-a-lapsed-freeze": case(FLAKE, policy=_policy(_LAPSED)),
    "flake-without-a-passing-oracle": case(UNPROVEN, policy=_policy(FREEZE)),
    "flake-with-an-unreadable-policy": case(
        FLAKE, policy=PolicyReading("unusable", problems=("GitHub refused to let the token read it (HTTP 403)",))
    ),
    "only-one-attempt-yet": case(Pair("sorted-patch", _ALONE, Side(_GONE))),
    "earlier-fail": case(
        Pair("sorted-patch", side(2, oracle=None, transport=False), side(3)),
        other_attempts=(Other("sorted-patch", side(1, oracle=False)),),
    ),
    "set": case(
        pair(fixture_id="a"),
        pair(None, {"pin": Y}, "b"),
        pair({"oracle": None, "transport": False}, fixture_id="c"),
        pair({"oracle": False}, {"oracle": False}, "d"),
        fail_on="never",
    ),
}


def pages() -> dict[str, str]:
    """Return every page by its name."""
    tickets = (Ticket("a", "created", 5), Ticket("b", "left-alone", 4))
    what = Posted(12, tickets, ("c", "d"), ("the label needs `issues: write`",))
    planned = Posted(12, (Ticket("a", PLANNED),))
    return {
        **{name: summary(given, judge(given), VIEW) for name, given in CASES.items()},
        "no-verdict": unreached("GitHub answered 503 for 120 seconds, asked to list the artifacts of run 4242", VIEW),
        "posted": posted(what, VIEW),
        "posted-dry-run": posted(planned, VIEW._replace(dry_run=True)),
        "ticket": body(Drift(DRIFT, TODAY, 12, Difference((1841, 1840), 97, ("/choices/0/*",), 3)), VIEW, follows=7),
    }


@pytest.mark.parametrize("name", sorted(pages()))
def test_the_page_reads_as_it_was_last_looked_at(name: str) -> None:
    """The page is byte for byte the one that is kept."""
    assert pages()[name].encode() == (PAGES / f"{name}.md").read_bytes()


def test_no_page_is_kept_that_nothing_writes() -> None:
    """A page whose case went away goes with it."""
    assert {path.stem for path in PAGES.iterdir()} == set(pages())


if __name__ == "__main__":
    PAGES.mkdir(exist_ok=True)
    for path in PAGES.iterdir():
        path.unlink()
    for name, page in pages().items():
        (PAGES / f"{name}.md").write_bytes(page.encode())
