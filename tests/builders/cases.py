"""One case for each kind of verdict, for golden pages and documents."""

from datetime import date
from typing import Final

from freeze_gate.evidence.side import Fault, Other, Pair, Side, Source
from freeze_gate.policy.freezes import Policy, PolicyReading
from freeze_gate.verdict.models import Case
from tests.builders.evidence import DRIFT, FLAKE, FREEZE, MISS, SPLIT, UNPROVEN, Y, case, pair, side

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
