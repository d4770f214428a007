"""The input and the output of the evaluation, a case and its result. `verdict.json` has both."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

from freeze_gate.evidence.checks import Finding
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.limits import Limits
from freeze_gate.evidence.models import OtherAttempt, Pair
from freeze_gate.policy.freezes import ACTIVE, NOT_ASKED, FreezeStatus, PolicyReading
from freeze_gate.verdict.table import FailureClass

GREEN: Final = "green"
"""The reason of a pair that is not red."""


class Case(NamedTuple):
    """Everything that a verdict is computed from.

    `github_metadata` says whether GitHub's metadata about the artifacts is there (the action) or not (`classify`).
    `repository` is `owner/name` as GitHub says it. `other_attempts` is what the run's other attempts show.
    `expected` are the fixture ids or globs that must be present. `today` is the UTC date. `from_fork` says that the
    evidence comes from another repository.
    """

    github_metadata: bool
    pairs: Sequence[Pair]
    today: date
    fail_on: str = "unfrozen"
    repository: str | None = None
    pull_request: int | None = None
    from_fork: bool = False
    expected: tuple[str, ...] = ()
    other_attempts: Sequence[OtherAttempt] = ()
    policy: PolicyReading = NOT_ASKED
    limits: Limits = Limits()


class Verdict(NamedTuple):
    """The class of one pair with its reason: a check's id, a rule's id, or `green`.

    `rule` is the row of the table that fired; None for a green pair, which never reaches it. `findings` are all
    checks that failed, the deciding one first. `flake_checks_run` says whether the flake checks were run.
    `fixture_sha256` and `fixture_path` are the first run's, where its record and its bytes agree.
    """

    fixture_id: str | None
    failure_class: FailureClass
    reason: str
    rule: str | None
    findings: tuple[Finding, ...]
    flake_checks_run: bool
    freeze_allowed: bool
    fixture_sha256: Sha256 | None
    fixture_path: str | None
    freeze_status: FreezeStatus | None

    @property
    def green(self) -> bool:
        """Whether there is nothing to mute."""
        return self.reason == GREEN

    @property
    def frozen(self) -> bool:
        """Whether a reviewer's freeze mutes this pair today."""
        return self.freeze_status is not None and self.freeze_status.state == ACTIVE


class Result(NamedTuple):
    """The outcome of a run: the deciding pair's verdict, what follows from all of them, and the exit code.

    `deciding` is an index into `verdicts`, which stand in the order of the case's pairs; `red` has the indices of those
    that are not green by their class, worst first.
    """

    deciding: int
    failure_class: FailureClass
    reason: str
    freeze_allowed: bool
    freeze_active: bool
    exit_code: int
    verdicts: Sequence[Verdict]
    red: Mapping[FailureClass, Sequence[int]]

    @property
    def verdict(self) -> Verdict:
        """The verdict of the deciding pair."""
        return self.verdicts[self.deciding]
