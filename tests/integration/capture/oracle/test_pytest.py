"""Property tests as the oracle: `freeze-gate oracle --id ID -- pytest …`, with the plugin's one fixture."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.oracle_job import OracleJob, make_oracle_job

PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")


@pytest.fixture
def job(tmp_path: Path) -> OracleJob:
    """Return a folder with one pin."""
    return make_oracle_job(tmp_path)


def _properties(job: OracleJob, *lines: str) -> tuple[str, ...]:
    """Write a test file and return the command that runs it."""
    (job.folder / "test_properties.py").write_text("\n".join(lines) + "\n")
    return (*PYTEST, "test_properties.py")


def test_the_fixture_is_the_pinned_file(job: OracleJob) -> None:
    """`pinned_fixture` is the pin's path, an absolute `pathlib.Path`."""
    command = _properties(
        job,
        "import json, pathlib",
        "def test_sorted(pinned_fixture):",
        "    assert type(pinned_fixture) is type(pathlib.Path()) and pinned_fixture.is_absolute()",
        "    numbers = json.loads(pinned_fixture.read_bytes())['sorted']",
        "    assert numbers == sorted(numbers)",
    )
    done = job.oracle(*command)
    assert done.returncode == 0, done.stdout
    assert job.record().oracle_passed is True


def test_a_failing_property_is_a_fail(job: OracleJob) -> None:
    """Exit status 1 of pytest is false."""
    done = job.oracle(*_properties(job, "def test_never(pinned_fixture):", "    assert pinned_fixture is None"))
    assert done.returncode == 1
    assert (job.record().oracle_passed, job.record().oracle.exit_code) == (False, 1)


def test_nothing_collected_is_a_fail(job: OracleJob) -> None:
    """Pytest exits 5 if it finds no test. The verdict is false: a patch that removes the test must not pass."""
    done = job.oracle(*_properties(job, "# nothing here"))
    assert done.returncode == 5
    assert (job.record().oracle_passed, job.record().oracle.exit_code) == (False, 5)


def test_hypothesis_may_use_the_fixture(job: OracleJob) -> None:
    """The fixture lives as long as the run, which Hypothesis asks for."""
    command = _properties(
        job,
        "from hypothesis import given, strategies",
        "@given(number=strategies.integers())",
        "def test_any(pinned_fixture, number):",
        "    assert pinned_fixture.is_file()",
    )
    done = job.oracle(*command)
    assert done.returncode == 0, done.stdout


def test_a_flaky_property_is_a_fail(job: OracleJob) -> None:
    """What Hypothesis calls flaky, failing once and not again, is a failure like any other."""
    command = _properties(
        job,
        "from hypothesis import given, strategies",
        "numbers = []",
        "@given(number=strategies.integers())",
        "def test_once(pinned_fixture, number):",
        "    numbers.append(number)",
        "    assert len(numbers) != 3",
    )
    done = job.oracle(*command)
    assert done.returncode == 1
    assert "Flaky" in done.stdout
    assert job.record().oracle_passed is False


FAILS_ONCE = (
    "attempts = []",
    "def test_sometimes(pinned_fixture):",
    "    attempts.append(1)",
    "    assert len(attempts) == 2",
)
ALWAYS_FLAKY = ("import pytest", "pytestmark = pytest.mark.flaky(reruns=1)", *FAILS_ONCE)


@pytest.mark.parametrize(
    ("lines", "options"),
    [(FAILS_ONCE, ("--reruns", "1")), (FAILS_ONCE, ("--reruns", "1", "-n", "1")), (ALWAYS_FLAKY, ())],
    ids=["by an option", "with workers", "by a marker"],
)
def test_a_pass_after_a_rerun_is_a_pass_with_a_warning(
    job: OracleJob, lines: tuple[str, ...], options: tuple[str, ...]
) -> None:
    """If pytest itself runs a failed test again, only its last attempt counts; the output warns of that."""
    done = job.oracle(*_properties(job, *lines), *options)
    assert (done.returncode, job.record().oracle_passed) == (0, True), done.stdout
    assert "freeze-gate: warning: failed attempts that pytest ran again: 1." in done.stdout


def test_without_a_rerun_nothing_is_warned_of(job: OracleJob) -> None:
    """The option alone is no warning: every test passed at its first attempt."""
    done = job.oracle(*_properties(job, "def test_any(pinned_fixture): pass"), "--reruns", "1")
    assert done.returncode == 0
    assert "warning" not in done.stdout


@pytest.mark.parametrize("variable", [None, "", "/no/such/file"])
def test_without_a_pin_the_test_fails_and_says_why(job: OracleJob, variable: str | None) -> None:
    """Started without the oracle, or with a pin that is gone, a test that needs the pin fails: it is never skipped."""
    command = _properties(job, "def test_any(pinned_fixture): pass")
    environ = {} if variable is None else {"FREEZE_GATE_FIXTURE": variable}
    done = subprocess.run(command, cwd=job.folder, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no pinned file" in done.stdout
    assert (variable or "freeze-gate oracle --id ID -- pytest") in done.stdout
