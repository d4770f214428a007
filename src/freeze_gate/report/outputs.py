"""What a run puts out and announces, word by word: its outputs, its annotation, what it left unread, what it posted."""

from collections.abc import Iterator, Sequence

from freeze_gate.evidence.abbreviation import abbreviate
from freeze_gate.evidence.side import Artifact
from freeze_gate.report.context import View
from freeze_gate.report.lines import MISSING
from freeze_gate.report.published import Posted
from freeze_gate.verdict.models import Result


def outputs(result: Result, pull_request: int | None, verdict_file: str) -> dict[str, str]:
    """Return the outputs of a verdict. `verdict_file` is "" where none was written."""
    verdict = result.verdict
    return {
        "failure-class": result.failure_class.value,
        "freeze-allowed": word(result.freeze_allowed),
        "fixture-sha256": verdict.fixture_sha256 or MISSING,
        "fixture-path": verdict.fixture_path or MISSING,
        "reason": result.reason,
        "freeze-active": word(result.freeze_active),
        "pull-request": str(pull_request or ""),
        "verdict-file": verdict_file,
    }


def headline(result: Result, fail_on: str) -> tuple[str, str]:
    """Return the one annotation of the verdict: how loud, and what it says."""
    words = (
        f"{result.failure_class.value} ({result.reason}), freeze_allowed={word(result.freeze_allowed)}; "
        "the step summary says why and what next"
    )
    if result.verdict.green:
        return "notice", "nothing to mute: every pair is green"
    if result.freeze_active:
        return "notice", f"{words}; muted by a reviewer's freeze"
    return ("warning" if fail_on == "never" else "error"), words


def unread(left: Sequence[Artifact]) -> tuple[str, ...]:
    """Name what other attempts left and nobody had to read: only a flake depends on it."""
    if not left:
        return ()
    names = abbreviate(left, show=lambda each: f"{each.name} (id {each.id}, {each.created_at or 'no known time'})")
    return (f"Other attempts left these artifacts, which are read only before a flake is said: {', '.join(names)}.",)


def told(what: Posted, view: View) -> Iterator[str]:
    """Say for the log what was posted, or would be in a dry run; warnings and notes are announced by themselves."""
    would = "would be " if view.dry_run else ""
    if what.labelled is not None:
        yield (
            f"the label {view.freeze_label} {would}added to pull request {what.labelled}: a request; set with the "
            "default token, a label starts no workflow"
        )
    for ticket in what.tickets:
        number = "" if ticket.number is None else f" #{ticket.number}"
        yield f"refresh ticket{number} for {ticket.fixture_id}: {ticket.outcome}"


def word(value: bool) -> str:  # noqa: FBT001 - a value to print, no switch
    """Write a boolean as an output has it."""
    return "true" if value else "false"
