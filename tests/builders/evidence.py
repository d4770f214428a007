"""Evidence as it could have come from two runs, for tests that are about what follows from it."""

from datetime import date
from typing import Any, Final

from freeze_gate.evidence.digest import ContentDigest, Sha256
from freeze_gate.evidence.models import Artifact, Pair, Side, Source
from freeze_gate.evidence.record import LengthChecks, Sampler
from freeze_gate.policy.freezes import Freeze
from freeze_gate.report.context import ReportContext
from freeze_gate.verdict.models import Case
from tests.builders.record import REPOSITORY, change_record, make_record

X: Final = Sha256.of(b"x")
Y: Final = Sha256.of(b"y")
TODAY: Final = date(2026, 11, 29)
CONTEXT: Final = ReportContext(
    repository=REPOSITORY, docs="https://github.com/octo-org/freeze-gate", default_branch="main"
)


def make_side(
    attempt: int,
    *,
    fixture_id: str = "sorted-patch",
    pin: Sha256 | None = X,
    oracle: bool | None = True,
    transport: bool | None = True,
) -> Side:
    """Return what one attempt of run 4242 shows."""
    record = change_record(
        make_record(fixture_id, pin, oracle=oracle, transport=transport, attempt=attempt),
        transport={
            "timed_out": False,
            "retry_count": attempt - 1,
            "bytes_received": 1841,
            "bytes_declared": 1841,
            "checks": LengthChecks(min_bytes=100),
        },
        run={"capture_id": f"{attempt:032x}", "recorded_at": "2026-11-29T12:00:00Z"},
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
    return Side(source, record, Sha256.of(repr(record).encode()), ContentDigest(pin, 1841) if pin else None)


def make_pair(
    first: dict[str, Any] | None = None, rerun: dict[str, Any] | None = None, fixture_id: str = "sorted-patch"
) -> Pair:
    """Return a green pair of attempts 1 and 2, but for what is given of either side."""
    return Pair(
        fixture_id,
        make_side(1, fixture_id=fixture_id, **first or {}),
        make_side(2, fixture_id=fixture_id, **rerun or {}),
    )


FLAKE: Final = make_pair({"oracle": None, "transport": False})
MISS: Final = make_pair({"oracle": False}, {"oracle": False})
DRIFT: Final = make_pair({"oracle": False}, {"pin": Y})
SPLIT: Final = make_pair({"oracle": False})
UNPROVEN: Final = make_pair({"oracle": None, "transport": False}, {"oracle": None})

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


def make_case(*pairs: Pair, **facts: Any) -> Case:
    """Return the case that the gate would make of some pairs on the day that the tests take for today."""
    given = {"github_metadata": True, "today": TODAY, "repository": REPOSITORY, "pull_request": 12, **facts}
    return Case(pairs=pairs, **given)
