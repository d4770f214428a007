"""What must hold for the files of the repository, whoever wrote them."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
USES = re.compile(r"^\s*(?:- )?uses:\s*(\S+)(.*)$", re.MULTILINE)
PINNED = re.compile(r"[A-Za-z0-9._/-]+@[0-9a-f]{40}")
VERSION = re.compile(r" # v\d+\.\d+\.\d+")

# Put together here so that this file does not hold them.
FORBIDDEN = {
    "a resolved download address in a lock": r'"resolved": *"' + "http",
    "an index line": "--(?:extra-)?" + "index-url",
    "a registry line": r"(?m)^registry *" + "=",
    "the host of a package registry": "|".join(
        (r"pypi\." + "org", r"pythonhosted\." + "org", r"registry\.npmjs\." + "org", r"deb\.debian\." + "org")
    ),
    "a path of somebody's machine": r"(?<![\w.-])/(?:home|" + r"Users|work)/[a-z]",
    "a merge left open": r"(?m)^(?:<{7}|>{7}) ",
}


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def _yaml_files() -> list[Path]:
    return [ROOT / "action.yml", *sorted((ROOT / ".github").rglob("*.yml"))]


@pytest.mark.parametrize("path", _yaml_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_use_is_pinned(path: Path) -> None:
    """An action of somebody else is named by its full commit, with the version beside it for a reader."""
    for target, rest in USES.findall(path.read_text()):
        assert target.startswith("./") or (PINNED.fullmatch(target) and VERSION.match(rest)), target


def test_one_action_has_one_pin() -> None:
    """The same action is at the same commit wherever it is used."""
    pins = {target for path in _yaml_files() for target, _ in USES.findall(path.read_text()) if "@" in target}
    assert len(pins) == len({pin.partition("@")[0] for pin in pins})


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_workflows_grant_nothing_by_default(path: Path) -> None:
    """A workflow grants nothing; each job asks for what it needs, and each that runs steps ends by itself."""
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        assert job["permissions"]
        assert "timeout-minutes" in job or "uses" in job


def test_the_base_image_is_pinned_by_digest() -> None:
    """Both stages stand on one image, named by its digest."""
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^ARG BASE_IMAGE=\S+@sha256:[0-9a-f]{64}$", dockerfile, re.MULTILINE)
    assert set(re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)) == {"${BASE_IMAGE}"}


@pytest.mark.parametrize("name", ["runtime", "test"])
def test_locks_are_whole(name: str) -> None:
    """Every locked requirement is exact and has its hashes."""
    lock = (ROOT / "requirements" / f"{name}.txt").read_text().replace("\\\n", "")
    lines = [line for line in lock.splitlines() if line.strip() and not line.startswith("#")]
    assert lines
    assert [line for line in lines if not re.match(r"[a-z0-9-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line)] == []


def test_the_locks_agree() -> None:
    """What is tested is what runs: every runtime pin is in the test lock too."""
    runtime, test = (
        set(re.findall(r"^[a-z0-9-]+==\S+", (ROOT / "requirements" / f"{name}.txt").read_text(), re.MULTILINE))
        for name in ("runtime", "test")
    )
    assert runtime <= test


@pytest.mark.parametrize("what", FORBIDDEN)
def test_nothing_of_this_machine_is_in_the_repository(what: str) -> None:
    """No registry's address and no path of a machine is committed: a clone works wherever its own tools are set up."""
    pattern = re.compile(FORBIDDEN[what].encode())
    assert [str(path.relative_to(ROOT)) for path in _tracked() if pattern.search(path.read_bytes())] == []
