"""What reviewers decided: freezes, each bound to one digest, owned and with a last day. Values and rules, no YAML."""

from datetime import date
from typing import Final, NamedTuple

from freeze_gate.evidence.digest import Sha256


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


NOT_ASKED: Final = PolicyReading("not_asked")
