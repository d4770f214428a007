"""Evidence as it could have come from two runs, for tests that are about what follows from it."""

from datetime import date
from typing import Any, Final

from freeze_gate.evidence.digest import Observed, Sha256
from freeze_gate.evidence.record import LengthChecks, Oracle, Record, Run, Sampler, Transport
from freeze_gate.evidence.side import Artifact, Pair, Side, Source
from freeze_gate.policy.freezes import Freeze
from freeze_gate.report.context import View
from freeze_gate.verdict.models import Case

X: Final = Sha256.of(b"x")
Y: Final = Sha256.of(b"y")
TODAY: Final = date(2026, 11, 29)
REPOSITORY: Final = "octo-org/widgets"
VIEW: Final = View(repository=REPOSITORY, docs="https://github.com/octo-org/freeze-gate")

_OUTCOMES: Final = {True: ("passed", 0), False: ("failed", 1), None: ("not_run", None)}


def side(
    attempt: int,
    *,
    fixture_id: str = "sorted-patch",
    pin: Sha256 | None = X,
    oracle: bool | None = True,
    transport: bool | None = True,
) -> Side:
    """Return what one attempt of run 4242 shows."""
    outcome, exit_code = _OUTCOMES[oracle]
    whole = transport is not False
    record = Record(
        fixture_id=fixture_id,
        fixture_sha256=pin,
        fixture_path=f"fixtures/{pin}.json" if pin else None,
        oracle_passed=oracle,
        transport_ok=transport,
        transport=Transport(
            status_code=200,
            timed_out=False,
            retry_count=attempt - 1,
            fault=None if whole else "connection",
            pin_complete=True,
            bytes_received=1841,
            bytes_declared=1841,
            checks=LengthChecks(min_bytes=100),
        ),
        oracle=Oracle(outcome, exit_code, fixture_sha256=pin, egress="sealed", egress_attempts=0, runs=1),
        run=Run(
            repository=REPOSITORY,
            run_id=4242,
            run_attempt=attempt,
            job="agent-patch",
            commit="c" * 40,
            capture_id=f"{attempt:032x}",
            recorded_at="2026-11-29T12:00:00Z",
        ),
        sampler=Sampler("octo/model-1", Y),
    )
    artifact = Artifact(
        id=100 + attempt,
        name=f"freeze-gate-{attempt}",
        size=4000,
        digest=f"sha256:{Y}" if attempt == 1 else None,
        run_id=4242,
    )
    source = Source(artifact.name, artifact, sha256=Y, run_id=4242, attempt=attempt, newest_attempt=3)
    return Side(source, record, Sha256.of(repr(record).encode()), Observed(pin, 1841) if pin else None)


def pair(
    first: dict[str, Any] | None = None, rerun: dict[str, Any] | None = None, fixture_id: str = "sorted-patch"
) -> Pair:
    """Return a green pair of attempts 1 and 2, but for what is given of either side."""
    return Pair(
        fixture_id, side(1, fixture_id=fixture_id, **first or {}), side(2, fixture_id=fixture_id, **rerun or {})
    )


FLAKE: Final = pair({"oracle": None, "transport": False})
MISS: Final = pair({"oracle": False}, {"oracle": False})
DRIFT: Final = pair({"oracle": False}, {"pin": Y})
SPLIT: Final = pair({"oracle": False})
UNPROVEN: Final = pair({"oracle": None, "transport": False}, {"oracle": None})

FREEZE: Final = Freeze(
    fixture_id="sorted-patch",
    fixture_sha256=X,
    owner="@octo-org/harness",
    reason="executor lane drops connections",
    added=date(2026, 11, 20),
    expires=date(2026, 12, 10),
    unfreeze_when="lane upgrade is out",
    line=9,
)


def case(*pairs: Pair, **facts: Any) -> Case:
    """Return the case that the gate would make of some pairs on the day that the tests take for today."""
    given = {"github_metadata": True, "today": TODAY, "repository": REPOSITORY, "pull_request": 12, **facts}
    return Case(pairs=pairs, **given)
