"""The README says what `action.yml` and the code say, and its workflows are accepted by those who judge workflows."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from freeze_gate.errors import NoVerdictError, UsageError
from freeze_gate.evidence.checks import EVIDENCE_CHECKS, FLAKE_CHECKS
from freeze_gate.verdict.table import RULES, FailureClass
from tests.support.recipes import README, RECIPES

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
    [*FailureClass, *(rule.id for rule in RULES), "green", *(check.id for check in (*EVIDENCE_CHECKS, *FLAKE_CHECKS))],
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


def _workflow(recipe: str) -> dict[str, Any]:
    return dict(yaml.safe_load(RECIPES[recipe]))


def _gate(recipe: str) -> dict[str, Any]:
    """Return the recipe's job that judges."""
    jobs = _workflow(recipe)["jobs"].values()
    (found,) = (job for job in jobs if any(_is(step, "OWNER/freeze-gate@") for step in job["steps"]))
    return dict(found)


def _is(step: Mapping[str, Any], action: str) -> bool:
    return str(step.get("uses", "")).startswith(action)


def test_each_required_job_has_a_name_of_its_own() -> None:
    """Branch protection knows a check by its name; the queue's is the pull request's, which it stands for."""
    names = {recipe: _gate(recipe)["name"] for recipe in RECIPES}
    assert names.pop("merge-queue") == names["two-jobs"]
    assert len(set(names.values())) == len(names)


def test_recipes_can_stand_side_by_side() -> None:
    """No two have one workflow name, which the companion goes by, or one group, in which a run ends the other."""
    for of in (lambda recipe: _workflow(recipe)["name"], lambda recipe: _workflow(recipe)["concurrency"]["group"]):
        assert len({of(recipe) for recipe in RECIPES}) == len(RECIPES)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_gate_of_each_recipe_has_the_block_to_paste(recipe: str) -> None:
    """Every line of it and no other, in the companion for forks too; all other jobs only read."""
    found = re.search(r"```yaml\n(permissions:\n.*?)```", _section("Permissions"), re.DOTALL)
    assert found
    assert _gate(recipe)["permissions"] == yaml.safe_load(found[1])["permissions"]
    others = [job["permissions"] for job in _workflow(recipe)["jobs"].values() if job != _gate(recipe)]
    assert {level for granted in others for level in granted.values()} <= {"read"}


def test_the_companion_follows_the_smallest_workflow() -> None:
    """It is started by that workflow's name, and asks for what its jobs upload."""
    companion = _workflow("fork")
    assert companion[True]["workflow_run"]["workflows"] == [_workflow("two-jobs")["name"]]  # YAML's idea of `on`
    asked = {
        key: value.replace("github.event.workflow_run.id", "github.run_id")
        for key, value in companion["jobs"]["gate"]["steps"][0]["with"].items()
    }
    named = {
        key: value.replace("${{ github.run_attempt }}", "{attempt}")
        for key, value in _gate("two-jobs")["steps"][0]["with"].items()
    }
    assert asked == {key: named[key] for key in asked}
    assert {"first-artifact", "rerun-artifact", "expected-fixtures"} == set(asked)


@pytest.mark.parametrize("recipe", [recipe for recipe in RECIPES if recipe != "fork"])
def test_each_fixture_that_is_captured_is_expected(recipe: str) -> None:
    """One that vanished from both sides is seen, and none is asked for that nobody captures."""
    captured = {
        step["with"]["fixture-id"].replace("${{ matrix.shard }}", shard)
        for job in _workflow(recipe)["jobs"].values()
        for shard in job.get("strategy", {}).get("matrix", {}).get("shard", [""])
        for step in job["steps"]
        if _is(step, "OWNER/freeze-gate/.github/actions/capture@")
    }
    (expected,) = (step["with"]["expected-fixtures"] for step in _gate(recipe)["steps"] if "with" in step)
    assert set(expected.split()) == captured


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_capture_is_the_last_step_of_its_job_and_no_failure_is_passed_over(recipe: str) -> None:
    """What failed after it would be in no evidence, and a failure that is passed over looks like a success."""
    for job in _workflow(recipe)["jobs"].values():
        captures = [step for step in job["steps"] if _is(step, "OWNER/freeze-gate/.github/actions/capture@")]
        assert captures in ([], job["steps"][-1:])
        assert not [one for one in (job, *job["steps"]) if "continue-on-error" in one]
