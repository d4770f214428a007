"""The decision table: what a red pair means. All branching about the class of a pair is in this table.

Two records of one fixture id are compared, never one alone. The rows are read from the top, and the first that holds
decides. Their order is the specification. A missing digest comes first, because without the bytes nothing can be
compared. A recorded fail comes before every transport fault, because a dropped connection can be provoked and does not
explain a failed property. A pair without a fault to name stays `unclassified`.

Never reorder the rows and never add one. Whatever is wrong with the evidence acts before the table, by making a digest
missing (`freeze_gate.evidence.checks`).
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, Final, NamedTuple, Self


class FailureClass(StrEnum):
    """What a red pair means."""

    PROPERTY_MISS = "property_miss"
    FIXTURE_DRIFT = "fixture_drift"
    HARNESS_FLAKE = "harness_flake"
    UNCLASSIFIED = "unclassified"


class _Claims(NamedTuple):
    fixture_sha256: str | None
    oracle_passed: bool | None
    transport_ok: bool | None


class RunRecord(_Claims):
    """The three facts about one run that the decision uses. Frozen and positional.

    `fixture_sha256`: digest of the pinned bytes; None or "" is missing. `oracle_passed` and `transport_ok`: True,
    False, or None if unknown. Raises `TypeError` for a value of any other type: a fail must not be lost because it came
    as 0 or "false".
    """

    __slots__ = ()

    def __new__(
        cls,
        fixture_sha256: str | None,
        oracle_passed: bool | None,  # noqa: FBT001 - public, and positional
        transport_ok: bool | None,  # noqa: FBT001 - as above
    ) -> Self:
        """Check the types of the three facts."""
        if fixture_sha256 is not None and not isinstance(fixture_sha256, str):
            raise TypeError("fixture_sha256 must be a str or None")
        for name, verdict in (("oracle_passed", oracle_passed), ("transport_ok", transport_ok)):
            if verdict is not None and type(verdict) is not bool:
                raise TypeError(f"{name} must be True, False or None")
        return super().__new__(cls, fixture_sha256, oracle_passed, transport_ok)

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> Self:  # type: ignore[override]
        """Make `_replace` validate like the constructor."""
        return cls(*iterable)


class Rule(NamedTuple):
    """One row of the table: its id, when it holds, and the class that it gives."""

    id: str
    holds: Callable[[RunRecord, RunRecord], bool]
    failure_class: FailureClass


RULES: Final = (
    Rule(
        "digest-missing",
        lambda a, b: not a.fixture_sha256 or not b.fixture_sha256,
        FailureClass.UNCLASSIFIED,
    ),
    Rule(
        "digests-differ",
        lambda a, b: a.fixture_sha256 != b.fixture_sha256,
        FailureClass.FIXTURE_DRIFT,
    ),
    Rule(
        "both-oracles-failed",
        lambda a, b: a.oracle_passed is False and b.oracle_passed is False,
        FailureClass.PROPERTY_MISS,
    ),
    Rule(
        "split-oracle",
        lambda a, b: a.oracle_passed is False or b.oracle_passed is False,
        FailureClass.UNCLASSIFIED,
    ),
    Rule(
        "transport-fault",
        lambda a, b: a.transport_ok is False or b.transport_ok is False,
        FailureClass.HARNESS_FLAKE,
    ),
    Rule(
        "nothing-to-blame",
        lambda _a, _b: True,
        FailureClass.UNCLASSIFIED,
    ),
)


def match_rule(left: RunRecord, right: RunRecord) -> Rule:
    """Return the first rule that holds. Symmetric in its arguments."""
    return next(rule for rule in RULES if rule.holds(left, right))


def classify(left: RunRecord, right: RunRecord) -> FailureClass:
    """Return the class of a red pair. Symmetric in its arguments."""
    return match_rule(left, right).failure_class


def freeze_allowed(kind: FailureClass) -> bool:
    """Whether a freeze may be *requested* for a pair of this class: for `harness_flake` alone."""
    return kind == FailureClass.HARNESS_FLAKE
