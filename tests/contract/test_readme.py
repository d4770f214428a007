"""The README says what `action.yml` and the code say, and its workflows are accepted by those who judge workflows."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from freeze_gate.errors import NoVerdictError, UsageError
from freeze_gate.evidence.checks import DOOR_CHECKS, EVIDENCE_CHECKS
from freeze_gate.verdict.table import RULES, FailureClass
from tests.recipes import README, RECIPES

ROOT = Path(__file__).parents[2]
ACTIONS = {
    "OWNER/freeze-gate": "action.yml",
    "OWNER/freeze-gate/.github/actions/capture": ".github/actions/capture/action.yml",
}


def _section(heading: str) -> str:
    """Return what stands below a heading, up to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", README, re.MULTILINE | re.DOTALL)
    assert found, f"the README has no heading {heading!r}"
    return found.group(1)


def _table(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading, without its head."""
    rows = [line.strip("|").split("|") for line in _section(heading).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def _action(path: str = "action.yml") -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / path).read_text(encoding="utf-8")))


def test_lists_every_input_with_its_default() -> None:
    """The table of inputs has exactly the inputs of `action.yml`, in their order, each with its default."""
    inputs = _action()["inputs"]
    table = {row[0].strip("`"): row[1] for row in _table("Inputs")}
    assert list(table) == list(inputs)
    shown = {name: table[name] for name, one in inputs.items() if "default" in one}
    assert shown == {name: f"`{inputs[name]['default']}`" for name in shown}


def test_lists_every_output() -> None:
    """The table of outputs has exactly the outputs of `action.yml`, in their order."""
    assert [row[0].strip("`") for row in _table("Outputs")] == list(_action()["outputs"])


def test_lists_every_exit_code() -> None:
    """The table of exit codes has those that the code can end with."""
    codes = [int(row[0]) for row in _table("Exit codes")]
    assert codes == sorted({0, 1, UsageError.exit_code, NoVerdictError.exit_code})


@pytest.mark.parametrize(
    "name",
    [*FailureClass, *(rule.id for rule in RULES), "green", *(check.id for check in (*EVIDENCE_CHECKS, *DOOR_CHECKS))],
)
def test_explains_every_answer(name: str) -> None:
    """Each class, rule and check has a heading of its own id, with its meaning, likely causes and what to do."""
    meaning, *rest = _section(str(name)).strip().split("\n\n")
    assert meaning
    assert "*Likely causes:*" in "".join(rest)
    assert "*What to do:*" in "".join(rest)


def test_links_lead_somewhere() -> None:
    """Every relative link names a file that is there, or a heading of the README."""
    headings = re.findall(r"^#+ (.*)", README, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    targets = [target for target in re.findall(r"\]\(([^)\s]+)\)", README) if "://" not in target]
    assert targets
    lost = [
        target
        for target in targets
        if not (target[1:] in anchors if target.startswith("#") else (ROOT / target.partition("#")[0]).exists())
    ]
    assert lost == []


def _steps(recipe: str) -> list[dict[str, Any]]:
    return [step for job in yaml.safe_load(recipe)["jobs"].values() for step in job.get("steps", [])]


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes_use_inputs_that_exist(recipe: str) -> None:
    """A recipe passes our actions only inputs that they have, and every input that they require."""
    ours = [step for step in _steps(RECIPES[recipe]) if step.get("uses", "").partition("@")[0] in ACTIONS]
    assert ours
    for step in ours:
        inputs = _action(ACTIONS[step["uses"].partition("@")[0]])["inputs"]
        given = step.get("with", {})
        assert set(given) <= set(inputs)
        assert {name for name, one in inputs.items() if one.get("required")} <= set(given)


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes_are_accepted(recipe: str, tmp_path: Path) -> None:
    """A recipe is a whole workflow: actionlint finds no mistake in it, and zizmor at its strictest no risk."""
    workflow = tmp_path / ".github" / "workflows" / f"{recipe}.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(RECIPES[recipe], encoding="utf-8")
    for command in (
        ["actionlint", str(workflow)],
        ["zizmor", "--offline", "--quiet", "--no-progress", "--no-config", "--persona", "pedantic", str(workflow)],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
