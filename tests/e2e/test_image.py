"""What is in the image that the runner builds, and what is not."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.conftest import PYTHON, ROOT, Docker

MOST_BYTES_OVER_BASE = 12_000_000

Inside = Callable[[str], Any]


@pytest.fixture(scope="session")
def inspected(docker: Docker, image: str, base_image: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ask the engine about the image and its base."""
    ours, base = json.loads(docker("image", "inspect", image, base_image))
    return ours, base


@pytest.fixture(scope="session")
def inside(docker: Docker, image: str) -> Inside:
    """Run a Python program in the image, with the gate's own interpreter; give what it prints, read as JSON."""

    def run(program: str) -> Any:
        command = ("run", "--rm", "--interactive", "--network", "none", "--entrypoint", PYTHON, image, "-I", "-")
        return json.loads(docker(*command, stdin=program))

    return run


def test_is_small(inspected: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """The image is one layer and at most 12 MB over its base."""
    ours, base = inspected
    assert ours["Size"] - base["Size"] <= MOST_BYTES_OVER_BASE
    assert ours["RootFS"]["Layers"][:-1] == base["RootFS"]["Layers"]


def test_starts_the_gate_isolated_and_as_root(inspected: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """The entry point is exec form with an absolute interpreter in isolated mode; nothing else is configured."""
    config = inspected[0]["Config"]
    assert config["Entrypoint"] == [PYTHON, "-I", "-u", "-m", "freeze_gate", "gate"]
    assert config["User"] in {"", "0", "root"}
    assert not config["Volumes"]
    assert not config.get("ExposedPorts")
    assert config["Env"] == inspected[1]["Config"]["Env"]


def test_has_exactly_the_locked_dependencies(inside: Inside) -> None:
    """The installed distributions are those of the lock file, at its versions, and no others."""
    lock = (ROOT / "requirements" / "runtime.txt").read_text()
    locked = dict(re.findall(r"^([A-Za-z0-9_-]+)==(\S+)", lock, re.MULTILINE))
    installed = inside("""
import json, re
from importlib.metadata import distributions
own = [d for d in distributions() if str(d.locate_file("")).startswith("/opt/freeze-gate")]
print(json.dumps({re.sub(r"[-_.]+", "-", d.name).lower(): d.version for d in own}))
""")
    assert installed == locked


def test_carries_bytecode_that_is_never_checked(inside: Inside) -> None:
    """Every module has bytecode of the unchecked kind, so that a start compiles nothing and compares nothing."""
    assert inside("""
import json, sysconfig
from importlib.util import cache_from_source
from pathlib import Path
def unchecked(path):
    cached = Path(cache_from_source(path))
    return cached.exists() and int.from_bytes(cached.read_bytes()[4:8], "little") == 1
modules = list(Path(sysconfig.get_path("purelib")).rglob("*.py"))
print(json.dumps([len(modules) > 50, [str(path) for path in modules if not unchecked(path)]]))
""") == [True, []]


def test_has_no_writable_surprise(inside: Inside) -> None:
    """All of it belongs to root, nobody else may write to it, and nothing runs as somebody else."""
    assert (
        inside("""
import json, os, stat
from pathlib import Path
def odd(path):
    facts = path.lstat()
    loose = not stat.S_ISLNK(facts.st_mode) and facts.st_mode & 0o6022
    return bool(loose) or facts.st_uid != 0 or facts.st_gid != 0
print(json.dumps([str(path) for path in [Path("/opt/freeze-gate"), *Path("/opt/freeze-gate").rglob("*")] if odd(path)]))
""")
        == []
    )


def test_leaves_the_tools_of_the_build_behind(inside: Inside) -> None:
    """There is no pip, no compiler and no cache of ours, and of the repository only the package."""
    assert (
        inside("""
import json, shutil
from importlib.util import find_spec
from pathlib import Path
left = [name for name in ("pip", "setuptools", "pytest", "tests") if find_spec(name)]
left += [name for name in ("cc", "gcc", "g++", "make", "git") if shutil.which(name)]
left += [name for name in ("/build", "/root/.cache", "/root/.npm") if Path(name).exists()]
print(json.dumps(left))
""")
        == []
    )


def test_imports_what_the_gate_needs(inside: Inside) -> None:
    """The gate's modules and its dependencies import in isolated mode, from the image's own folder."""
    assert (
        inside("""
import json
import freeze_gate.cli, requests, urllib3, yaml
modules = (freeze_gate.cli, requests, urllib3, yaml)
print(json.dumps([module.__file__.startswith("/opt/freeze-gate/") for module in modules]))
""")
        == [True] * 4
    )
