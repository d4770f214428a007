"""What a run prints beside its summary: the four lines, the outputs of the step, its annotation and its log lines."""

from collections.abc import Iterator, Sequence
from typing import Final

from freeze_gate.evidence.abbreviation import abbreviate
from freeze_gate.evidence.models import Artifact
from freeze_gate.report.context import ReportContext
from freeze_gate.report.escape import escape_line
from freeze_gate.report.published import PublishReport
from freeze_gate.verdict.models import Case, Result
from freeze_gate.verdict.table import FailureClass

MISSING: Final = "missing"

_MAX_PATH: Final = 512  # the longest fixture path that a record may hold


def format_bool(value: bool) -> str:  # noqa: FBT001 - a value to print, not a switch
    """Return `true` or `false`, as outputs and the four lines write a boolean."""
    return "true" if value else "false"


def format_four_lines(result: Result) -> str:
    """Return the four lines of the deciding pair, always in this order. Each ends with a newline."""
    verdict = result.verdict
    return _format_lines(
        verdict.fixture_sha256, result.failure_class, verdict.fixture_path, freeze_allowed=result.freeze_allowed
    )


def _format_lines(sha256: str | None, failure_class: FailureClass, path: str | None, *, freeze_allowed: bool) -> str:
    return (
        f"fixture_sha256={sha256 or MISSING}\n"
        f"failure_class={failure_class.value}\n"
        f"freeze_allowed={format_bool(freeze_allowed)}\n"
        f"fixture_path={escape_line(path or MISSING, _MAX_PATH)}\n"
    )


FAIL_CLOSED_LINES: Final = _format_lines(None, FailureClass.UNCLASSIFIED, None, freeze_allowed=False)
"""The four lines of a run that reached no verdict."""


def build_outputs(result: Result, pull_request: int | None, verdict_file: str) -> dict[str, str]:
    """Return the outputs of a verdict. An empty `verdict_file` means that none was written."""
    verdict = result.verdict
    return {
        "failure-class": result.failure_class.value,
        "freeze-allowed": format_bool(result.freeze_allowed),
        "fixture-sha256": verdict.fixture_sha256 or MISSING,
        "fixture-path": verdict.fixture_path or MISSING,
        "reason": result.reason,
        "freeze-active": format_bool(result.freeze_active),
        "pull-request": str(pull_request or ""),
        "verdict-file": verdict_file,
    }


def build_annotation(result: Result, fail_on: str) -> tuple[str, str]:
    """Return the level and the message of the verdict's annotation."""
    if result.verdict.green:
        return "notice", "nothing to mute: every pair is green"
    message = (
        f"{result.failure_class.value} ({result.reason}), freeze_allowed={format_bool(result.freeze_allowed)}; "
        "the step summary explains it and says what to do next"
    )
    if result.freeze_active:
        return "notice", f"{message}; muted by a freeze"
    return ("warning" if fail_on == "never" else "error"), message


def describe_ignored_records(case: Case) -> Iterator[str]:
    """Return a sentence for each source that holds files of macOS beside its records. It may quote untrusted text."""
    sources = dict.fromkeys(side.source for pair in case.pairs for side in (pair.first, pair.rerun))
    for source in sources:
        if source.ignored_records:
            names = ", ".join(source.ignored_records)
            yield f"Left out of {source.label}: {names}. macOS adds such files (AppleDouble); they are no records."


def describe_unopened(artifacts: Sequence[Artifact]) -> tuple[str, ...]:
    """Return a note that names the artifacts of other attempts which were not downloaded; nothing if there are none."""
    if not artifacts:
        return ()
    names = abbreviate(
        artifacts,
        show=lambda artifact: f"{artifact.name} (id {artifact.id}, {artifact.created_at or 'unknown time'})",
    )
    note = "These artifacts of other attempts were not downloaded, because only a harness_flake depends on them"
    return (f"{note}: {', '.join(names)}.",)


def format_log_lines(report: PublishReport, context: ReportContext) -> Iterator[str]:
    """Return what was posted, or would be in a dry run. Warnings and notes become annotations elsewhere."""
    would = "would be " if context.dry_run else ""
    if report.labelled_pull_request is not None:
        yield (
            f"the label {context.freeze_label} {would}added to pull request {report.labelled_pull_request}; it is a "
            "request, and a label that is set with the default token starts no workflow"
        )
    for ticket in report.tickets:
        number = "" if ticket.number is None else f" #{ticket.number}"
        yield f"refresh ticket{number} for {ticket.fixture_id}: {ticket.outcome}"
