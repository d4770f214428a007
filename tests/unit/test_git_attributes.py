"""Tests of `git_attributes`: the answers are those of git itself."""

import os
import subprocess
from pathlib import Path

import pytest

from freeze_gate.upkeep.git_attributes import checkout_of, keeps_bytes

FILE = "a/b/fixtures/0b5c.json"


def git(folder: Path, *words: str) -> str:
    """Run git without the settings of whoever runs the tests."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1"}
    return subprocess.run(["git", *words], cwd=folder, env=environ, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Make a git checkout."""
    git(tmp_path, "init", "-q")
    (tmp_path / FILE).parent.mkdir(parents=True)
    return tmp_path


# Where | what it says
ATTRIBUTES = [
    {},
    {".gitattributes": "* -text"},
    {".gitattributes": "* binary"},
    {".gitattributes": "* text=auto"},
    {".gitattributes": "* -text\n*.json text"},
    {".gitattributes": "*.json text\n* -text"},
    {".gitattributes": "* -text\n*.json !text"},
    {".gitattributes": "* -text\n*.json text=auto eol=lf"},
    {".gitattributes": "* text -text"},
    {".gitattributes": "* -text diff"},
    {".gitattributes": "*.json -text"},
    {".gitattributes": "*.txt -text"},
    {".gitattributes": "fixtures -text"},
    {".gitattributes": "fixtures/ -text"},
    {".gitattributes": "fixtures/** -text"},
    {".gitattributes": "fixtures/* -text"},
    {".gitattributes": "**/fixtures/** -text"},
    {".gitattributes": "**/fixtures/* -text"},
    {".gitattributes": "/a/b/fixtures/* -text"},
    {".gitattributes": "a/*/fixtures/0b5c.???? -text"},
    {".gitattributes": "a/*/0b5c.json -text"},
    {".gitattributes": "a/** -text"},
    {".gitattributes": "a/**/0b5c.json -text"},
    {".gitattributes": "a/**/b/**/0b5c.json -text"},
    {".gitattributes": "[0-9]*.json -text"},
    {".gitattributes": "[!0-9]*.json -text"},
    {".gitattributes": "# * -text\n\n   \n"},
    {".gitattributes": "\t* -text"},
    {".gitattributes": "* -text\r"},
    {"a/b/.gitattributes": "fixtures/** -text"},
    {"a/b/.gitattributes": "/fixtures/0b5c.json -text"},
    {"a/b/fixtures/.gitattributes": "* -text"},
    {".gitattributes": "* text", "a/b/.gitattributes": "* -text"},
    {".gitattributes": "* -text", "a/b/fixtures/.gitattributes": "* text"},
    {"c/.gitattributes": "* -text"},
    {".git/info/attributes": "* -text"},
    {".git/info/attributes": "a/b/** -text", "a/b/.gitattributes": "* text"},
]


@pytest.mark.parametrize("files", ATTRIBUTES, ids=lambda files: "; ".join(f"{k}={v}" for k, v in files.items()))
def test_the_answer_is_gits(top: Path, files: dict[str, str]) -> None:
    """Patterns, their order, deeper files and the repository's own."""
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", newline="")
    said = git(top, "check-attr", "text", FILE)
    assert keeps_bytes(top / FILE, top) == said.endswith("text: unset\n")


def test_an_attribute_file_that_is_a_link_is_not_followed(top: Path) -> None:
    """Git does not either."""
    (top / "attributes").write_text("* -text\n")
    (top / ".gitattributes").symlink_to("attributes")
    assert not keeps_bytes(top / FILE, top)


def test_a_pattern_made_to_be_slow_is_not(top: Path) -> None:
    """Many stars against a long name: an ordinary matcher would not come back."""
    name = top / ("0" * 64)
    (top / ".gitattributes").write_text(
        "".join(f"{'*0' * 40}{end} -text\n" for end in ("x", "/x")) + "**/*" * 30 + "/y -text\n"
    )
    assert not keeps_bytes(name, top)


def test_a_folder_knows_its_checkout(top: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Submodules and worktrees have a file `.git`; whoever is in none gets none."""
    assert checkout_of(top / "a" / "b") == top
    (top / "a" / ".git").write_text("gitdir: elsewhere\n")
    assert checkout_of(top / "a" / "b") == top / "a"
    outside = tmp_path_factory.mktemp("outside")
    assert checkout_of(outside) is None
