"""What reviewers decided: freezes, each bound to one digest, owned and with a last day. Values and rules, no YAML."""

from datetime import date, timedelta
from typing import Final, NamedTuple

from freeze_gate.evidence.digest import Sha256

LONGEST_FREEZE_DAYS: Final = 90
"""No policy may allow more: a mute that outlives a quarter is a deleted test."""

NOTICE: Final = timedelta(days=7)
"""How long before its last day an entry is worth a word."""


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
    """What came of reading the policy: `not_asked`, `absent`, `read`, or `unusable` (malformed, or not readable).

    `sha` is the blob's id in git, 40 hexadecimal characters. `problems` are sentences, one for each thing wrong.
    """

    state: str
    policy: Policy = Policy()
    sha: str | None = None
    problems: tuple[str, ...] = ()

    @property
    def requires_sealed_oracle(self) -> bool:
        """Whether an oracle must be sealed: what cannot be read counts as required."""
        return self.state == "unusable" or self.policy.sealed_oracle


NOT_ASKED: Final = PolicyReading("not_asked")

ACTIVE: Final = "active"

STATES: Final = (ACTIVE, "unproven", "other_pull_request", "too_long", "not_yet", "expired", "other_digest")
"""How near an entry is to muting a flake, nearest first.

`unproven`: neither oracle passed, so nothing shows that the patch works. `other_pull_request`: the entry names another
one. `too_long`: more days than `max_freeze_days`. `not_yet` and `expired`: today is before or after its days.
`other_digest`: the entry is about other bytes of this fixture id.
"""


class FreezeStatus(NamedTuple):
    """What the policy file says about one flake: one of `STATES`, and the entry that is in it."""

    state: str
    freeze: Freeze


def freeze_status(  # noqa: PLR0913 - the rule's facts, each by itself
    policy: Policy,
    fixture_id: str,
    fixture_sha256: Sha256,
    today: date,
    pull_request: int | None,
    *,
    oracle_passed: bool,
) -> FreezeStatus | None:
    """Say what the policy holds for a `harness_flake`: the nearest entry for its fixture id; None where there is none.

    `today` is the UTC date; both edge days count. `oracle_passed` says whether one of the pair's two oracles passed.
    The caller makes sure that the pair is a flake: for any other class there is nothing to ask.
    """

    def state(freeze: Freeze) -> str:
        obstacles = {
            "other_digest": freeze.fixture_sha256 != fixture_sha256,
            "expired": today > freeze.expires,
            "not_yet": today < freeze.added,
            "too_long": too_long(freeze, policy),
            "other_pull_request": freeze.pull_request not in (None, pull_request),
            "unproven": not oracle_passed,
        }
        return next((name for name, holds in obstacles.items() if holds), ACTIVE)

    found = [FreezeStatus(state(freeze), freeze) for freeze in policy.freezes if freeze.fixture_id == fixture_id]
    return min(found, key=_distance, default=None)


def _distance(found: FreezeStatus) -> tuple[int, timedelta]:
    return STATES.index(found.state), date.max - found.freeze.expires


def too_long(freeze: Freeze, policy: Policy) -> bool:
    """Whether an entry spans more days than the policy allows. Such an entry is never active; the others stand."""
    return (freeze.expires - freeze.added).days > policy.max_freeze_days


def overlap(one: Freeze, other: Freeze) -> bool:
    """Whether two entries are about the same bytes on the same day, so that one of them has no say."""
    same = (one.fixture_id, one.fixture_sha256) == (other.fixture_id, other.fixture_sha256)
    return same and one.added <= other.expires and other.added <= one.expires


def lapse(freeze: Freeze, today: date) -> str | None:
    """Say that an entry lapsed, or lapses within a week; None where it does neither."""
    if today > freeze.expires:
        return f"lapsed on {freeze.expires}"
    return f"lapses after {freeze.expires}" if today >= freeze.expires - NOTICE else None
