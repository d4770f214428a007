"""How a run ends without a verdict: with the four lines in their fail-closed form, at any moment."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from freeze_gate.action.runner import OUTPUTS, Runner
from freeze_gate.errors import FreezeGateError, NoVerdictError, UsageError, describe_shortage


def finish_without_verdict(runner: Runner, error: FreezeGateError, stderr: TextIO) -> int:
    """Report an error and return the exit code. If the verdict is already written, it stands."""
    if runner.final_exit_code is not None:
        runner.annotate("warning", f"after the verdict: {error}")
        return runner.final_exit_code
    try:
        is_bad_input = error.exit_code == UsageError.exit_code
        runner.write_verdict_summary(_no_verdict_summary(str(error), is_bad_input=is_bad_input), error.exit_code)
        runner.set_outputs(OUTPUTS)
    except NoVerdictError as write_error:
        print(f"freeze-gate gate: unclassified: {write_error}", file=stderr)
        return NoVerdictError.exit_code
    finally:
        runner.annotate("error", f"unclassified: {error}")
    return error.exit_code


def termination_handler(runner: Runner, folder: Path) -> Callable[[int, object], None]:
    """Return a handler that removes `folder` and ends the process at once, because the container is killed soon.

    Other threads may wait for the network, so only `os._exit` ends the process. The text is made in advance: the
    signal may come in the middle of an import.
    """
    summary = _no_verdict_summary(
        "The step was ended from outside before there was a verdict: the run was cancelled, or reached a time limit."
    )

    def end(_number: int, _frame: object) -> None:
        try:
            if runner.final_exit_code is None:
                runner.write_verdict_summary(summary, NoVerdictError.exit_code)
        except NoVerdictError as error:
            os.write(2, f"freeze-gate gate: unclassified: {error}\n".encode())
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(NoVerdictError.exit_code if runner.final_exit_code is None else runner.final_exit_code)

    return end


def describe_internal_error(error: Exception) -> str:
    """Return the resource that was short, or the type and the place of a bug. Its message may quote anything."""
    shortage = describe_shortage(error)
    if shortage:
        return shortage
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    place = f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
    return f"an error in Freeze Gate itself: {type(error).__name__}{place}; please report it"


def _no_verdict_summary(message: str, *, is_bad_input: bool = False) -> str:
    from freeze_gate.report.context import ReportContext  # imported late: the fail-closed outputs are written first
    from freeze_gate.report.summary import render_no_verdict_summary

    return render_no_verdict_summary(message, ReportContext(), is_bad_input=is_bad_input)
