"""The command line as a person meets it: help, typing errors, closed streams."""

import subprocess
import sys
from pathlib import Path

import pytest

from freeze_gate.cli import COMMANDS

PROGRAM = [sys.executable, "-m", "freeze_gate"]
CLOSE = {"input": "<&-", "output": ">&-", "messages": "2>&-"}


def run(*arguments: str, closed: str = "", folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run freeze-gate in a shell that closes streams first."""
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *PROGRAM, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=folder, env={})


def test_without_a_command_the_help_is_shown() -> None:
    """On stderr and with exit code 2: a script whose variable was empty must not look like a pass."""
    done = run()
    assert (done.returncode, done.stdout) == (2, "")
    assert all(command in done.stderr for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_ends_with_an_example_and_the_exit_codes(command: str) -> None:
    """The example is a call of that command."""
    done = run(command, "--help")
    example, codes = done.stdout.split("\nexample:\n")[1].split("\nexit codes:\n")
    assert f"freeze-gate {command}" in example
    assert codes.startswith("  0 ") or command == "oracle"
    assert max(map(len, done.stdout.splitlines())) <= 120


def test_a_missing_separator_is_explained() -> None:
    """The options of the oracle's command are not ours."""
    done = run("oracle", "--id", "x", "pytest", "-q")
    assert done.returncode == 2
    assert "unrecognized arguments: -q; put `--` before the command" in done.stderr
    assert "usage: freeze-gate oracle" in done.stderr


def test_a_wrong_option_says_nothing_about_a_separator() -> None:
    """Where no command is run, or the separator is there, the option is a typing error."""
    assert "put `--`" not in run("pin", "--id", "x", "file", "--sufix").stderr
    assert "put `--`" not in run("oracle", "--di", "x", "--", "true").stderr


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("closed", [*CLOSE.values(), " ".join(CLOSE.values())], ids=[*CLOSE, "all"])
def test_a_closed_stream_is_no_traceback(command: str, closed: str, tmp_path: Path) -> None:
    """The exit code is that of the same call with open streams; a lane, which reads its input, refuses a closed one."""
    arguments = {
        "check": ["missing"],
        "classify": ["first", "rerun"],
        "oracle": ["--id", "x", "--", "true"],
        "pin": ["--id", "x", "missing"],
        "prune": ["store", "--policy", "missing"],
        "replay": ["missing", "--id", "x"],
        "sample": ["--id", "x", "--url", "http://127.0.0.1:9/"],
        "status": ["--id", "x"],
        "transport": ["--id", "x", "--from-curl", "missing"],
        "verify": ["missing"],
    }.get(command, [])
    done = run(command, *arguments, closed=closed, folder=tmp_path)
    assert "Traceback" not in done.stderr
    refuses = command == "lane" and CLOSE["input"] in closed
    assert done.returncode == (2 if refuses else run(command, *arguments, folder=tmp_path).returncode)


@pytest.mark.parametrize("arguments", [["pin", "--id", "x", "-"], ["transport", "--id", "x", "--from-curl", "-"]])
def test_closed_input_is_not_empty_input(arguments: list[str], tmp_path: Path) -> None:
    """Zero bytes would be a real pin; nothing was handed in."""
    done = run(*arguments, closed=CLOSE["input"], folder=tmp_path)
    assert done.returncode == 2
    assert "standard input is closed" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_file_never_becomes_a_standard_stream(tmp_path: Path) -> None:
    """With closed streams, the first file that is opened would be written to by whatever prints."""
    sample = tmp_path / "sample"
    sample.write_bytes(b"[1]")
    run("pin", "--id", "x", "sample", closed=" ".join(CLOSE.values()), folder=tmp_path)
    [pin] = (tmp_path / "freeze-gate" / "fixtures").iterdir()
    assert (pin.read_bytes(), sample.read_bytes()) == (b"[1]", b"[1]")
