"""One case for each kind of verdict, for golden pages and documents."""

from datetime import date
from typing import Final

from freeze_gate.evidence.models import CheckFailure, OtherAttempt, Pair, Side, Source
from freeze_gate.policy.freezes import Policy, PolicyReading
from freeze_gate.verdict.models import Case
from tests.builders.evidence import DRIFT, FLAKE, FREEZE, MISS, SPLIT, UNPROVEN, Y, make_case, make_pair, make_side

_LAPSED: Final = FREEZE._replace(expires=date(2026, 11, 28))
_GONE: Final = Source(
    "freeze-gate-2",
    run_id=4242,
    newest_attempt=1,
    fault=CheckFailure("artifact-missing", "run 4242 has no freeze-gate-2"),
)
_ALONE: Final = make_side(1)._replace(source=make_side(1).source._replace(newest_attempt=1))


def _policy(freeze: object = None) -> PolicyReading:
    return PolicyReading("read", Policy(freezes=(freeze,) if freeze else ()))  # type: ignore[arg-type]


CASES: Final[dict[str, Case]] = {
    "miss": make_case(MISS),
    "drift": make_case(DRIFT),
    "drift-from-a-fork": make_case(DRIFT, from_fork=True),
    "split": make_case(SPLIT),
    "green": make_case(make_pair()),
    "flake": make_case(FLAKE, policy=PolicyReading("absent")),
    "flake-frozen": make_case(FLAKE, policy=_policy(FREEZE)),
    "flake-with-a-lapsed-freeze": make_case(FLAKE, policy=_policy(_LAPSED)),
    "flake-without-a-passing-oracle": make_case(UNPROVEN, policy=_policy(FREEZE)),
    "flake-with-an-unreadable-policy": make_case(
        FLAKE, policy=PolicyReading("unusable", problems=("GitHub refused to let the token read it (HTTP 403)",))
    ),
    "only-one-attempt-yet": make_case(Pair("sorted-patch", _ALONE, Side(_GONE))),
    "earlier-fail": make_case(
        Pair("sorted-patch", make_side(2, oracle=None, transport=False), make_side(3)),
        other_attempts=(OtherAttempt("sorted-patch", make_side(1, oracle=False)),),
    ),
    "set": make_case(
        make_pair(fixture_id="a"),
        make_pair(None, {"pin": Y}, "b"),
        make_pair({"oracle": None, "transport": False}, fixture_id="c"),
        make_pair({"oracle": False}, {"oracle": False}, "d"),
        fail_on="never",
    ),
}
