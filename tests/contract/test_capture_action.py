"""The capture action: what its steps promise."""

from pathlib import Path

import yaml

ACTION = Path(__file__).parents[2] / ".github" / "actions" / "capture"


def test_evidence_is_uploaded_whatever_happened_unless_it_would_hide_that() -> None:
    """The upload comes last, and only if the step before it says so; its name ends as `{attempt}` expects."""
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    _install, *before, status, upload = action["runs"]["steps"]
    assert status["if"] == "${{ always() && steps.install.outcome == 'success' }}"
    outcomes = [f"${{{{ steps.{step['id']}.outcome }}}}" for step in before]
    assert status["env"]["OUTCOMES"].replace("}} ", "}}\n").splitlines() == outcomes
    assert upload["if"] == "${{ always() && steps.status.outputs.upload == 'true' }}"
    assert action["outputs"]["failure-explained"]["value"] == "${{ steps.status.outputs.failure-explained }}"
    assert upload["with"]["name"] == action["outputs"]["artifact-name"]["value"]
    assert upload["with"]["name"].endswith("-${{ github.run_id }}-${{ github.run_attempt }}")


def test_no_expression_stands_in_a_script() -> None:
    """Inputs reach the shell as variables: an expression inside a script would be code."""
    steps = yaml.safe_load((ACTION / "action.yml").read_text())["runs"]["steps"]
    assert [step["name"] for step in steps if "${{" in step.get("run", "")] == []
