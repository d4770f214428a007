"""Which part may know which: read from the imports, and from what a real process has loaded."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "freeze_gate"
PURE = ("evidence", "policy/freezes.py", "verdict", "report")
EFFECTS = frozenset(
    {"asyncio", "ctypes", "http", "multiprocessing", "random", "requests", "secrets", "select", "shutil", "signal"}
    | {"socket", "ssl", "subprocess", "tempfile", "threading", "time", "urllib", "urllib3", "uuid", "yaml"}
)
AMBIENT = frozenset(
    {"date.today", "datetime.now", "datetime.today", "datetime.utcnow", "os.environ", "os.environb", "os.getenv"}
)
ROOTS = {
    "cli.py": "the composition root",
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
    """Name the parts of our own package that a file imports."""
    names = (name.split(".") for name in _imports(path))
    return {name[1] for name in names if name[0] == "freeze_gate" and len(name) > 1}


@pytest.mark.parametrize("path", [path for part in PURE for path in _modules(part)], ids=lambda path: path.stem)
def test_pure_packages_have_no_effects(path: Path) -> None:
    """From bytes to evidence, to a verdict, to text: no network, no process, no environment, no clock."""
    assert not {name.split(".")[0] for name in _imports(path)} & EFFECTS
    assert not _ambient(path)


@pytest.mark.parametrize(
    ("part", "may_know"),
    [
        ("evidence", {"evidence", "validation"}),
        ("verdict", {"errors", "evidence", "policy", "validation", "verdict", "version"}),
        ("policy", {"evidence", "policy", "validation"}),
        ("validation", {"validation"}),
        ("report", {"evidence", "policy", "verdict", "report", "version"}),
        ("github", {"errors", "evidence", "github", "validation", "version"}),
        ("capture", {"capture", "errors", "evidence", "files", "validation"}),
        ("action/runner.py", {"errors", "report"}),
    ],
)
def test_data_goes_one_way(part: str, may_know: set[str]) -> None:
    """Each part imports only what lies before it; what talks to GitHub or to the runner cannot decide."""
    known = set().union(*map(_parts, _modules(part)))
    assert known <= may_know


def test_only_the_composition_root_reads_the_environment_and_the_calendar() -> None:
    """Nothing but the roots touches `os.environ` or asks for today's date; everything else is handed both."""
    reading = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if _ambient(path)}
    assert reading <= set(ROOTS)


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
