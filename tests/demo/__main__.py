"""`script/demo [SCENE]`: every scene in a few lines, or one with its whole summary."""

import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from tests.demo.job import HEAD, PULL_REQUEST, REPOSITORY, Ended, capture, freeze_gate, gate
from tests.demo.sampler import sampler
from tests.demo.scenes import ID, SCENES
from tests.standin import Standin
from tests.standin.state import Repository

FREEZE = "freeze"
_POLICY = """\
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


def main(argv: list[str]) -> int:
    """Show all scenes, or the one that is named, whole."""
    names = [*SCENES, FREEZE]
    if len(argv) > 1 or not set(argv) <= set(names):
        print(f"usage: script/demo [{'|'.join(names)}]", file=sys.stderr)
        return 2
    egress = _egress()
    for name in argv or names:
        with tempfile.TemporaryDirectory() as folder, Standin() as github, sampler() as url:
            (_freeze if name == FREEZE else _scene)(name, Path(folder), github, url, egress, bool(argv))
    return 0


def _egress() -> list[str]:
    """Seal the oracles where that is possible, and say so where it is not."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = ["--bundle", f"{folder}/bundle"]
        path = Path(folder, "sample")
        path.write_bytes(b"sample")
        freeze_gate(["pin", "--id", "probe", *bundle, str(path)], {}, Path(folder))
        sealed = freeze_gate(["oracle", "--id", "probe", *bundle, "--", "true"], {}, Path(folder))
    if sealed.returncode == 0:
        return []
    print("No network namespace can be made here: the oracles of this demo run with --allow-egress.\n")
    return ["--allow-egress"]


def _scene(name: str, folder: Path, github: Standin, url: str, egress: list[str], whole: bool) -> None:  # noqa: PLR0913, FBT001
    repository, judge = _captured(name, folder, github, url, egress)
    print(f"=== {name}: {SCENES[name].story}\n")
    _show(judge(), repository, whole)


def _freeze(_name: str, folder: Path, github: Standin, url: str, egress: list[str], whole: bool) -> None:  # noqa: PLR0913, FBT001
    repository, judge = _captured("harness_flake", folder, github, url, egress)
    today = datetime.now(UTC).date()
    print("=== freeze: the same flake, red without a freeze, muted with one, red again the day after it expired\n")
    ended = judge()
    _show(ended, repository, whole)
    for words, added, last in (
        ("A reviewer merges a freeze", today, today + timedelta(days=10)),
        ("The day after its last", today - timedelta(days=10), today - timedelta(days=1)),
    ):
        repository.pulls[PULL_REQUEST].issue.labels.clear()
        repository.add_file(".github/freeze-gate.yml", _policy(ended.outputs["fixture-sha256"], added, last))
        print(f"--- {words} ({added} to {last}):\n")
        _show(judge(), repository, whole)


def _captured(
    name: str, folder: Path, github: Standin, url: str, egress: list[str]
) -> tuple[Repository, Callable[[], Ended]]:
    repository = github.repository(REPOSITORY)
    repository.add_pull(number=PULL_REQUEST, head_sha=HEAD)
    run = repository.add_run(head_sha=HEAD)
    capture(SCENES[name], run, folder, url, egress=egress)
    return repository, lambda: gate(github, repository, run, folder / "gate")


def _policy(sha256: str, added: date, expires: date) -> bytes:
    return _POLICY.format(id=ID, sha256=sha256, added=added, expires=expires).encode()


def _show(ended: Ended, repository: Repository, whole: bool) -> None:  # noqa: FBT001
    labels = repository.pulls[PULL_REQUEST].issue.labels
    tickets = [f"#{issue.number} {issue.title}" for issue in repository.issues.values() if issue.pull is None]
    if whole:
        print(ended.summary)
    else:
        print("\n".join(ended.summary.split("```")[1].strip().splitlines()))
    print(f"\n  reason:    {ended.outputs.get('reason')}")
    print(f"  label:     {', '.join(labels) or 'none'}")
    print(f"  ticket:    {', '.join(tickets) or 'none'}")
    print(f"  exit code: {ended.exit_code}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
