"""The four lines that a person reads first and a script may grep for: always four, always in this order."""

from typing import Final

from freeze_gate.report.escape import escape_line
from freeze_gate.verdict.models import Result
from freeze_gate.verdict.table import FailureClass

MISSING: Final = "missing"

_LONGEST: Final = 512  # a fixture path of the record's format


def four_lines(result: Result) -> str:
    """Return the lines of a run's verdict, which are those of its deciding pair, each with its line end."""
    deciding = result.verdict
    return _lines(deciding.fixture_sha256, result.failure_class, deciding.fixture_path, allowed=result.freeze_allowed)


def _lines(sha256: str | None, failure_class: FailureClass, path: str | None, *, allowed: bool) -> str:
    lines = {
        "fixture_sha256": sha256 or MISSING,
        "failure_class": failure_class.value,
        "freeze_allowed": "true" if allowed else "false",
        "fixture_path": path or MISSING,
    }
    return "".join(f"{name}={escape_line(value, _LONGEST)}\n" for name, value in lines.items())


CLOSED: Final = _lines(None, FailureClass.UNCLASSIFIED, None, allowed=False)
"""What stands where no verdict could be reached: nothing known, nothing allowed."""
