"""Pairs of bundles whose right answer is known, in folders: `tests/golden/<rule or check id>/<case>/`.

A case is written by hand and read by nothing but these tests:

- `first/` and `rerun/`: the bundles of the two runs. A case without `rerun/` has had no rerun.
- `case.toml`: `says` (one sentence), then what must come of it: `class`, `reason` and `exit` of the whole, and a
  `[fixtures]` entry for each fixture id whose own class and reason are others. Options: `expect` (ids or globs),
  `fail_on`, `today`, `only` ("classify" or "gate", where one of the two cannot show it), and `[artifacts.first]` or
  `[artifacts.rerun]`: what GitHub says about the artifact.
- `policy.yml`, `attempt-1/`: a policy, and the evidence of an attempt before these two.

Pins have short names here, so that every path fits into a checkout on Windows.
"""

import json
import tomllib
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any, Final

import pytest

from freeze_gate import cli
from freeze_gate.evidence.checks import EVIDENCE_CHECKS, FLAKE_CHECKS
from freeze_gate.github.wait_budget import Clock
from freeze_gate.verdict.table import RULES
from tests.builders.evidence import TODAY
from tests.builders.zip import zip_folder
from tests.standin import Standin
from tests.support.gate_job import Job
from tests.support.verdict_comparison import only_evidence

HERE: Final = Path(__file__).parent
CASES: Final = sorted(path.parent for path in HERE.glob("*/*/case.toml"))
POLICY: Final = ".github/freeze-gate.yml"
MAX_PATH: Final = 120
WITHOUT_CASE: Final = {
    "artifact-ambiguous": "needs several artifacts of one side: tests/integration/artifacts/test_select.py",
    "archive-invalid": "needs a broken zip: tests/unit/evidence/archive/test_zip.py",
    "archive-limits": "needs gigabytes, or other limits: tests/unit/evidence/archive/test_zip.py",
}
"""The ids that no pair of folders can show, and why."""


def read_case(folder: Path) -> dict[str, Any]:
    """Return the case file of a folder."""
    return tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))


def clock_of(case: dict[str, Any]) -> Clock:
    """Return a clock that stands at noon on the day of a case, and really waits."""
    today: date = case.get("today", TODAY)
    return Clock(epoch=datetime.combine(today, time(12), UTC).timestamp)


def run_classify(folder: Path, first: Path, rerun: Path, document: Path) -> int:
    """Run `freeze-gate classify` on two bundles with the options of a case, and return its exit code."""
    case = read_case(folder)
    options = [option for glob in case.get("expect", ()) for option in ("--expect", glob)]
    options += ["--fail-on", case.get("fail_on", "unfrozen"), "--verdict-file", str(document)]
    if (folder / "policy.yml").exists():
        options += ["--policy", str(folder / "policy.yml")]
    return cli.main(["classify", str(first), str(rerun), *options], {}, clock_of(case))


def run_gate(folder: Path, job: Job) -> tuple[int, bytes]:
    """Upload the bundles of a case, run the gate, and return its exit code and the verdict document."""
    case = read_case(folder)
    sides = [name for name in ("attempt-1", "first", "rerun") if (folder / name).is_dir()]
    job.attempts(max(2, len(sides)))
    for started, side in zip(job.run.attempts, sides, strict=False):
        facts = dict(case.get("artifacts", {}).get(side, {}))
        if facts.get("digest") is False:
            facts["digest"] = None
        content = zip_folder(folder / side)
        job.run.add_artifact(side, content, created_at=f"{started[:14]}10:00Z", **facts)
    if (folder / "policy.yml").exists():
        job.repository.add_file(POLICY, (folder / "policy.yml").read_bytes())
    outcome = job.gate(
        clock_of(case),
        dry_run="true",
        fail_on=case.get("fail_on", "unfrozen"),
        expected_fixtures="\n".join(case.get("expect", ())),
    )
    assert outcome.verdict is not None
    return outcome.code, outcome.verdict


def check(folder: Path, exit_code: int, document: bytes) -> None:
    """Compare an exit code and a verdict document with what the case file says."""
    case = read_case(folder)
    result = json.loads(document)["result"]
    whole = {"class": case["class"], "reason": case["reason"]}
    assert {"class": result["failure_class"], "reason": result["reason"]} == whole
    assert exit_code == result["exit_code"] == case["exit"]
    assert result["freeze_allowed"] is (case["class"] == "harness_flake")
    expected = case.get("fixtures", {})
    verdicts = {verdict["fixture_id"]: verdict for verdict in result["verdicts"]}
    assert expected.keys() <= verdicts.keys()
    for fixture_id, verdict in verdicts.items():
        actual = {"class": verdict["failure_class"], "reason": verdict["reason"]}
        assert actual == expected.get(fixture_id, whole), fixture_id


def name_of(folder: Path) -> str:
    """Return the id and the case, as pytest shows them."""
    return folder.relative_to(HERE).as_posix()


def cases_of(command: str) -> list[Path]:
    """Return the cases that a command can show."""
    return [folder for folder in CASES if read_case(folder).get("only", command) == command]


@pytest.mark.parametrize("folder", cases_of("classify"), ids=name_of)
def test_classify(folder: Path, tmp_path: Path) -> None:
    """The answer of `classify` is the one of the case file, and the same for folders and for zips."""
    document, zipped = tmp_path / "verdict.json", tmp_path / "zipped.json"
    check(folder, run_classify(folder, folder / "first", folder / "rerun", document), document.read_bytes())

    zips = {side: tmp_path / side for side in ("first", "rerun")}
    for side, path in zips.items():
        if (folder / side).is_dir():
            path.write_bytes(zip_folder(folder / side))
    run_classify(folder, zips["first"], zips["rerun"], zipped)
    assert zipped.read_bytes() == document.read_bytes()


@pytest.mark.parametrize("folder", cases_of("gate"), ids=name_of)
def test_gate(folder: Path, tmp_path: Path) -> None:
    """The answer of the gate is the one of the case file, and where both can know it, the document is `classify`'s."""
    with Standin() as standin:
        exit_code, document = run_gate(folder, Job(tmp_path, standin))
    check(folder, exit_code, document)
    if "only" not in read_case(folder) and (folder / "rerun").is_dir():
        offline = tmp_path / "offline.json"
        run_classify(folder, folder / "first", folder / "rerun", offline)
        assert only_evidence(document) == only_evidence(offline.read_bytes())


def test_every_id_has_a_case() -> None:
    """Each rule and each check has a folder with a case whose reason it is, or a reason to have none."""
    reasons = {(folder.parent.name, read_case(folder)["reason"]) for folder in CASES}
    shown = {name for name, reason in reasons if name == reason}
    ids = {row.id for row in (*RULES, *EVIDENCE_CHECKS, *FLAKE_CHECKS)}
    assert ids - shown == WITHOUT_CASE.keys()


def test_a_case_is_in_the_folder_of_its_reason() -> None:
    """The other folders are about what has no id: a green pair, a freeze, several pairs, `fail-on`."""
    others = {folder.parent.name for folder in CASES if read_case(folder)["reason"] != folder.parent.name}
    assert others == {"fail-on-never", "freeze", "several-pairs"}


def test_every_path_is_short() -> None:
    """Windows limits a path to 260 characters, of which a checkout may need the half."""
    root = HERE.parents[1]
    paths = [path.relative_to(root).as_posix() for path in HERE.rglob("*")]
    assert [path for path in paths if len(path) > MAX_PATH] == []
