"""Which part of the package may import which: CONTRIBUTING's table, held against the imports and a real process."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "freeze_gate"
CONTRIBUTING = ROOT / ".github" / "CONTRIBUTING.md"
PARTS = {f"{path.parent.name}/" for path in SOURCE.glob("*/__init__.py")} | {path.name for path in SOURCE.glob("*.py")}
PURE = ("validation", "evidence", "policy", "verdict", "report")
YAML_READERS = {"validation/strict_yaml.py"}
EFFECTS = frozenset(
    {"asyncio", "ctypes", "http", "multiprocessing", "random", "requests", "secrets", "select", "shutil", "signal"}
    | {"socket", "ssl", "subprocess", "tempfile", "threading", "time", "urllib", "urllib3", "uuid", "yaml"}
)
AMBIENT = frozenset(
    {"date.today", "datetime.now", "datetime.today", "datetime.utcnow", "os.environ", "os.environb", "os.getenv"}
)
COMPOSITION_ROOTS = {
    "cli.py": "builds every command",
    "capture/capture.py": "a user's test builds it, and hands it no environment",
    "capture/pytest_plugin.py": "pytest builds it, and hands it no environment",
}


def _modules(part: str) -> list[Path]:
    path = SOURCE / part
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _imports(path: Path) -> Iterator[str]:
    """Name every module that a file imports, at its top or inside a function; `from a import b` counts as a.b too."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively; name the whole module"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _ambient(path: Path) -> set[str]:
    """Name what a file reads of the environment or the calendar without being handed it."""
    nodes = (node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.Attribute))
    return {f"{node.value.id}.{node.attr}" for node in nodes if isinstance(node.value, ast.Name)} & AMBIENT


def _parts(path: Path) -> set[str]:
    """Name the parts of our own package that a file imports: `evidence/` for a package, `errors.py` for a module."""
    names = (name.split(".") for name in _imports(path))
    own = {name[1] for name in names if name[0] == "freeze_gate" and len(name) > 1}
    return {f"{name}/" if (SOURCE / name).is_dir() else f"{name}.py" for name in own} & PARTS


def _table() -> dict[str, set[str]]:
    """Read CONTRIBUTING's table: which part may import which. A part may always import itself."""
    text = CONTRIBUTING.read_text(encoding="utf-8").split("## Where things are")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \|[^|]*\| ([^|]*) \|$", text, re.MULTILINE)
    return {part: {part} | _parts_of_cell(cell) for part, cell in rows}


def _parts_of_cell(cell: str) -> set[str]:
    names = set(re.findall(r"`([^`]+)`", cell))
    return PARTS - names if cell.startswith("everything but") else names


def _name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_the_table_of_contributing_names_every_part_and_no_other() -> None:
    """Each package and each top-level module has its row, and each name in the table exists."""
    table = _table()
    assert set(table) == PARTS
    assert set().union(*table.values()) == PARTS


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_part_imports_only_what_its_row_allows(part: str) -> None:
    """Data goes one way; what talks to GitHub or to the runner cannot decide."""
    imported = set().union(*map(_parts, _modules(part)))
    assert imported <= _table()[part]


@pytest.mark.parametrize("path", [path for part in PURE for path in _modules(part)], ids=_name)
def test_pure_packages_have_no_effects(path: Path) -> None:
    """From bytes to evidence, to a verdict, to text: no network, no process, no environment, no clock."""
    effects = {name.split(".")[0] for name in _imports(path)} & EFFECTS
    assert effects == ({"yaml"} if _name(path) in YAML_READERS else set())
    assert not _ambient(path)


def test_only_the_composition_root_reads_the_environment_and_the_calendar() -> None:
    """Only the roots touch `os.environ` or ask for today's date; everything else is given both."""
    reading = {_name(path) for path in SOURCE.rglob("*.py") if _ambient(path)}
    assert reading <= set(COMPOSITION_ROOTS)


def _loaded_by(program: str, *arguments: str | Path) -> set[str]:
    """Run a program in a fresh isolated interpreter and name the modules that it leaves loaded."""
    program += (
        "\nimport json, sys; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})), file=sys.stderr)"
    )
    command = [sys.executable, "-I", "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_the_public_names_need_only_the_standard_library() -> None:
    """`from freeze_gate import classify` loads nothing that is not ours or Python's."""
    program = "from freeze_gate import FailureClass, RunRecord, classify, freeze_allowed, pin_fixture"
    before = _loaded_by("pass")
    assert _loaded_by(program) - before - sys.stdlib_module_names == {"freeze_gate"}


def test_classify_loads_neither_an_http_client_nor_a_yaml_reader(tmp_path: Path) -> None:
    """Judging two folders offline pays for no library that it does not use."""
    first, rerun = tmp_path / "first", tmp_path / "rerun"
    (first / "records").mkdir(parents=True)
    (rerun / "records").mkdir(parents=True)
    program = "import sys; from freeze_gate.cli import main; main(['classify', *sys.argv[1:]], {})"
    loaded = _loaded_by(program, first, rerun)
    assert "freeze_gate" in loaded
    assert not loaded & {"requests", "urllib3", "yaml"}


def test_the_gate_loads_no_argument_parser_and_a_yaml_reader_only_for_a_policy(tmp_path: Path) -> None:
    """A step that ends at its inputs has loaded all that a verdict without a policy needs, and no more."""
    program = (
        "import sys; from freeze_gate.cli import main; "
        "main(['gate'], {'GITHUB_OUTPUT': sys.argv[1], 'GITHUB_STEP_SUMMARY': sys.argv[2]})"
    )
    loaded = _loaded_by(program, tmp_path / "output", tmp_path / "summary")
    assert "requests" in loaded
    assert not loaded & {"argparse", "dataclasses", "yaml"} - _loaded_by("import requests")
