"""A scene set up and played: a repository with one pull request, two runs' evidence in it, and a gate to judge it."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

from tests.demo.job import HEAD, PULL_REQUEST, REPOSITORY, GateResult, capture, gate
from tests.demo.sampler import sampler
from tests.demo.scenes import ID, Scene
from tests.standin import Standin
from tests.standin.state import Repository, Run

POLICY = ".github/freeze-gate.yml"
_FREEZE = """\
schema: freeze-gate/policy/1
freezes:
  - fixture_id: {id}
    fixture_sha256: {sha256}
    owner: "@octo-org/harness"
    reason: the executing lane drops connections
    added: {added}
    expires: {expires}
    unfreeze_when: the lane's upgrade is out
"""


class Stage(NamedTuple):
    """Where a scene was played; `judge` may be asked more than once."""

    github: Standin
    repository: Repository
    run: Run
    folder: Path

    def judge(self, *, wait_seconds: int = 120) -> GateResult:
        """Run the gate, which may wait that long for what is not listed yet."""
        return gate(self.github, self.repository, self.run, self.folder / "gate", wait_seconds=wait_seconds)

    def freeze(self, sha256: str, added: date, last: date) -> None:
        """Let a reviewer merge a freeze of these bytes; the label has done its work."""
        self.repository.pulls[PULL_REQUEST].issue.labels.clear()
        freeze = _FREEZE.format(id=ID, sha256=sha256, added=added, expires=last)
        self.repository.add_file(POLICY, freeze.encode())

    @property
    def labels(self) -> list[str]:
        """The labels of the pull request."""
        return self.repository.pulls[PULL_REQUEST].issue.labels

    @property
    def tickets(self) -> list[str]:
        """The issues, each as `#13 Refresh fixture: …`."""
        issues = self.repository.issues.values()
        return [f"#{issue.number} {issue.title}" for issue in issues if issue.pull is None]


@contextmanager
def staged(scene: Scene, *, egress: Sequence[str] = ()) -> Iterator[Stage]:
    """Capture both runs of a scene with the real commands. `egress` are options of every oracle."""
    with tempfile.TemporaryDirectory() as folder, Standin() as github, sampler() as url:
        repository = github.repository(REPOSITORY)
        repository.add_pull(number=PULL_REQUEST, head_sha=HEAD)
        run = repository.add_run(head_sha=HEAD)
        capture(scene, run, Path(folder), url, egress=egress)
        yield Stage(github, repository, run, Path(folder))


def freeze_and_lapse(stage: Stage, today: date) -> Iterator[tuple[str, GateResult]]:
    """Judge without a freeze, with one, and on the day after its last, with words for each."""
    ended = stage.judge()
    yield "Without a freeze", ended
    for words, added, last in (
        ("A reviewer merges a freeze", today, today + timedelta(days=10)),
        ("The day after its last", today - timedelta(days=10), today - timedelta(days=1)),
    ):
        stage.freeze(ended.outputs["fixture-sha256"], added, last)
        yield f"{words} ({added} to {last})", stage.judge()
