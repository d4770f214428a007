"""`action.yml`, the Dockerfile and the code name the same things."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from freeze_gate.action.inputs import INPUTS
from freeze_gate.action.runner import OUTPUTS
from freeze_gate.cli import COMMANDS

ROOT = Path(__file__).parents[2]
COLORS = frozenset({"white", "black", "yellow", "blue", "green", "orange", "red", "purple", "gray-dark"})
CAPTURE = ".github/actions/capture/action.yml"
LONGEST_DESCRIPTION = 124  # the marketplace's form refuses 125, at the tag of the release


def _action(path: str = "action.yml") -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / path).read_text()))


def test_inputs_are_those_that_the_code_reads() -> None:
    """Every input of `action.yml` is read, none is missing, and the defaults agree."""
    declared = {name: one.get("default", "") for name, one in _action()["inputs"].items()}
    token = declared.pop("github-token")
    assert token == "${{ github.token }}"
    assert declared == {name: one.default for name, one in INPUTS.items() if name != "github-token"}


def test_every_default_is_a_string() -> None:
    """A bare true or 120 would be YAML's idea of a value; the runner passes strings."""
    assert [name for name, one in _action()["inputs"].items() if not isinstance(one.get("default", ""), str)] == []


def test_outputs_are_those_that_the_code_sets() -> None:
    """Every output of `action.yml` is set by the code, and the code sets no other."""
    assert set(_action()["outputs"]) == set(OUTPUTS)


@pytest.mark.parametrize("path", ["action.yml", CAPTURE])
def test_descriptions_fit_the_marketplace(path: str) -> None:
    """The action's description is below 125 characters; every input and output says what it is."""
    action = _action(path)
    assert 0 < len(action["description"]) <= LONGEST_DESCRIPTION
    described = [*action["inputs"].values(), *action["outputs"].values()]
    assert all(one["description"].strip().endswith(".") for one in described)


def test_branding_is_allowed() -> None:
    """The colour is one of the marketplace's, the icon a name of the set that it uses."""
    branding = _action()["branding"]
    assert branding["color"] in COLORS
    assert branding["icon"] == "git-pull-request"


def test_the_runner_builds_our_dockerfile() -> None:
    """The action is a container built from the Dockerfile beside it, with no arguments that a shell could split."""
    assert _action()["runs"] == {"using": "docker", "image": "Dockerfile"}


def test_the_entry_point_is_a_real_command() -> None:
    """What the image starts, started here: it knows the command, and refuses to run without inputs."""
    entry = re.search(r"^ENTRYPOINT (.*)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert entry
    python, *words = json.loads(entry.group(1))
    assert python.startswith("/")
    assert words == ["-I", "-u", "-m", "freeze_gate", "gate"]
    assert words[-1] in COMMANDS
    done = subprocess.run([sys.executable, *words], env={}, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in {2, 3}
    assert "Traceback" not in done.stderr


def test_every_command_has_its_module() -> None:
    """Each name that the command line offers can be asked for help."""
    for command in COMMANDS:
        words = [sys.executable, "-I", "-m", "freeze_gate", command, "--help"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert done.stdout.startswith("usage: ")
