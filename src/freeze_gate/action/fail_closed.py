"""How a run ends without a verdict: in the four closed lines all the same, whatever happened and whenever."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final, TextIO

from freeze_gate.action.runner import OUTPUTS, Runner
from freeze_gate.errors import FreezeGateError, NoVerdictError

_ENDED: Final = "The step was ended from outside (SIGTERM) before there was a verdict."


def without_verdict(runner: Runner, error: FreezeGateError, err: TextIO) -> int:
    """End a run that failed, and return its exit code. A verdict that is out already stands."""
    if runner.delivered is not None:
        runner.annotate("warning", f"after the verdict: {error}")
        return runner.delivered
    try:
        runner.deliver(_closing(str(error)), error.exit_code)
        runner.set_outputs(OUTPUTS)
    except NoVerdictError as nowhere:
        runner.annotate("error", f"unclassified: {error}")
        print(f"freeze-gate gate: unclassified: {nowhere}", file=err)
        return NoVerdictError.exit_code
    runner.annotate("error", f"unclassified: {error}")
    return error.exit_code


def on_sigterm(runner: Runner, folder: Path) -> Callable[[int, object], None]:
    """Return what SIGTERM does: end at once, whatever other threads wait for, because the container is killed soon.

    The text is made beforehand: a signal may come in the middle of an import. `folder` is removed.
    """
    closing = _closing(_ENDED)

    def end(_number: int, _frame: object) -> None:
        try:
            if runner.delivered is None:
                runner.deliver(closing, NoVerdictError.exit_code)
        except NoVerdictError as nowhere:
            os.write(2, f"freeze-gate gate: unclassified: {nowhere}\n".encode())
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(NoVerdictError.exit_code if runner.delivered is None else runner.delivered)

    return end


def bug(error: Exception) -> str:
    """Say where a bug is, without its message, which may quote anything."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
    return f"an error in Freeze Gate itself: {type(error).__name__}{where}; please report it"


def _closing(message: str) -> str:
    from freeze_gate.report.context import View
    from freeze_gate.report.summary import unreached  # after the closed outputs: importing takes time

    return unreached(message, View())
