"""Freezes: entries that reviewers merged, each for one digest, with an owner and a last day. No YAML here."""

from datetime import date, timedelta
from typing import Final, NamedTuple

from freeze_gate.evidence.digest import Sha256

SCHEMA: Final = "freeze-gate/policy/1"
"""The format of the policy file."""

LONGEST_FREEZE_DAYS: Final = 90
"""No policy may allow more: a mute that outlives a quarter is a deleted test."""

EXPIRY_NOTICE: Final = timedelta(days=7)
"""How long before its last day an entry is mentioned."""


class Freeze(NamedTuple):
    """An entry that a reviewer merged. `expires` is its last day, UTC. `line` is where it stands in the file."""

    fixture_id: str
    fixture_sha256: Sha256
    owner: str
    reason: str
    added: date
    expires: date
    unfreeze_when: str
    pull_request: int | None = None
    line: int = 0


class Policy(NamedTuple):
    """The policy file, well-formed. `fixtures_days` is None where no retention is set."""

    max_freeze_days: int = 30
    sealed_oracle: bool = False
    freezes: tuple[Freeze, ...] = ()
    fixtures_days: int | None = None


class PolicyReading(NamedTuple):
    """The policy as it was read: `not_asked`, `absent`, `read`, or `unusable` (malformed, or not readable).

    `sha` is the blob's id in git, 40 hexadecimal characters. `problems` are sentences.
    """

    state: str
    policy: Policy = Policy()
    sha: str | None = None
    problems: tuple[str, ...] = ()

    @property
    def requires_sealed_oracle(self) -> bool:
        """Whether an oracle must be sealed. A policy that cannot be read counts as requiring it."""
        return self.state == "unusable" or self.policy.sealed_oracle


NOT_ASKED: Final = PolicyReading("not_asked")

ACTIVE: Final = "active"

STATES: Final = (ACTIVE, "unproven", "other_pull_request", "too_long", "not_yet", "expired", "other_digest")
"""The states of an entry for a flake, the nearest to `active` first.

`unproven`: neither oracle passed, so nothing shows that the patch works. `other_pull_request`: the entry is for another
one. `too_long`: more days than `max_freeze_days`. `not_yet` and `expired`: today is before or after its days.
`other_digest`: the entry is about other bytes of this fixture id.
"""


class FreezeStatus(NamedTuple):
    """What the policy file says about one flake: an entry, and which of `STATES` it has."""

    state: str
    freeze: Freeze


def freeze_statuses(  # noqa: PLR0913 - the rule's facts, each by itself
    policy: Policy,
    fixture_id: str,
    fixture_sha256: Sha256,
    today: date,
    pull_request: int | None,
    *,
    oracle_passed: bool,
) -> list[FreezeStatus]:
    """Return the status of each entry for a fixture id, the nearest to active first.

    `today` is the UTC date; both edge days count. `oracle_passed` says whether one of the pair's two oracles passed.
    The caller makes sure that the pair is a `harness_flake`: no other class can be frozen.
    """

    def state_of(freeze: Freeze) -> str:
        obstacles = {
            "other_digest": freeze.fixture_sha256 != fixture_sha256,
            "expired": today > freeze.expires,
            "not_yet": today < freeze.added,
            "too_long": is_too_long(freeze, policy),
            "other_pull_request": freeze.pull_request not in (None, pull_request),
            "unproven": not oracle_passed,
        }
        return next((state for state, applies in obstacles.items() if applies), ACTIVE)

    statuses = [FreezeStatus(state_of(freeze), freeze) for freeze in policy.freezes if freeze.fixture_id == fixture_id]
    statuses.sort(key=lambda status: status.freeze.expires, reverse=True)  # of two in one state, the later one
    return sorted(statuses, key=lambda status: STATES.index(status.state))


def is_too_long(freeze: Freeze, policy: Policy) -> bool:
    """Whether an entry spans more days than the policy allows. Such an entry is never active; the others are."""
    return (freeze.expires - freeze.added).days > policy.max_freeze_days


def overlaps(freeze: Freeze, other: Freeze) -> bool:
    """Whether two entries are for the same bytes on the same day, so that nobody could say which of them applies."""
    is_same_fixture = freeze.fixture_id == other.fixture_id and freeze.fixture_sha256 == other.fixture_sha256
    return is_same_fixture and freeze.added <= other.expires and other.added <= freeze.expires


def expiry_notice(freeze: Freeze, today: date) -> str | None:
    """Say that an entry expired, or expires within a week; None if neither."""
    if today > freeze.expires:
        return f"expired on {freeze.expires}"
    return f"expires after {freeze.expires}" if today >= freeze.expires - EXPIRY_NOTICE else None
