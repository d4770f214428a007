"""The step summary: the four lines, why, what to do next, and everything that a reader needs to check it."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from freeze_gate.evidence.models import OtherAttempt
from freeze_gate.report.advice import advise, describe_finding, explain
from freeze_gate.report.comparison import render_comparison
from freeze_gate.report.context import ReportContext
from freeze_gate.report.escape import code_block, code_span, escape_markdown
from freeze_gate.report.freezes import render_freezes
from freeze_gate.report.markdown import format_list, format_table, join_within_budget
from freeze_gate.report.outputs import (
    FAIL_CLOSED_LINES,
    MISSING,
    describe_ignored_records,
    format_bool,
    format_four_lines,
)
from freeze_gate.verdict.models import Case, Result, Verdict
from freeze_gate.verdict.table import FailureClass

MAX_BYTES: Final = 800 * 1024
"""The runner drops a summary of more than 1,024 KiB. Ours promises 900 KiB; the rest is for the section "Posted"."""

_MAX_PAIRS: Final = 300
_MAX_ATTEMPTS: Final = 50


def render_summary(case: Case, result: Result, context: ReportContext) -> str:
    """Return the summary as Markdown, at most `MAX_BYTES` long."""
    return join_within_budget(_blocks(case, result, context), MAX_BYTES)


def render_no_verdict_summary(message: str, context: ReportContext) -> str:
    """Return the summary of a run without a verdict: the fail-closed lines, the problem, what to do."""
    next_step = (
        "Fix the problem above, then press **Re-run failed jobs** on the run's page. Until then nothing is known about "
        "the patch: this is neither a pass nor a flake."
    )
    blocks = (
        "## Freeze Gate: no verdict\n",
        code_block(FAIL_CLOSED_LINES),
        f"**Why:** No verdict could be reached. {escape_markdown(message, 2000)}\n",
        f"**Next:** {next_step}\n",
        *_notes(context),
    )
    return join_within_budget(blocks, MAX_BYTES)


def _blocks(case: Case, result: Result, context: ReportContext) -> Iterator[str]:
    verdict = result.verdict
    yield f"## Freeze Gate: {'green' if verdict.green else code_span(result.failure_class.value)}\n"
    yield code_block(format_four_lines(result))
    if result.freeze_allowed:
        yield _freeze_request(result, context)
    if len(result.verdicts) > 1:
        yield from _all_pairs(result, context)
    yield f"**Why:** {escape_markdown(explain(verdict), 1000)} ({context.link_reason(verdict.reason)})\n"
    yield f"**Next:** {advise(case, result)}\n"
    if len(case.pairs) > 1 and verdict.fixture_id is not None:
        yield f"The two runs of {code_span(verdict.fixture_id)}, which decides:\n"
    yield render_comparison(case.pairs[result.deciding], context)
    if verdict.findings[1:]:
        yield _more_findings(verdict)
    yield from render_freezes(case, result, context)
    if case.other_attempts:
        attempts = format_list(case.other_attempts, _MAX_ATTEMPTS, lambda other: _other_attempt(other, context))
        yield f"Other attempts of this run:\n\n{attempts}"
    yield from _caveats(case, result)
    yield from _notes(context)


def _freeze_request(result: Result, context: ReportContext) -> str:
    """Return what must stand beside every `true`, so that nobody takes it for a permission."""
    state = (
        "A merged freeze mutes it today. It says nothing about other jobs."
        if result.freeze_active
        else "This check stays red until a reviewer merges one, and it says nothing about other jobs."
    )
    return (
        f"`freeze_allowed=true` only asks for a freeze. {state} A label such as {code_span(context.freeze_label)} that "
        "is set with the default token starts no workflow.\n"
    )


def _all_pairs(result: Result, context: ReportContext) -> Iterator[str]:
    red = list(chain(*result.red.values()))
    counts = [f"{len(indices)} {code_span(kind.value)}" for kind, indices in result.red.items() if indices]
    if len(red) < len(result.verdicts):
        counts.append(f"{len(result.verdicts) - len(red)} green")
    yield f"{len(result.verdicts)} pairs: {', '.join(counts)}.\n"
    if red:
        yield format_table(
            ("fixture", "fixture_sha256", "failure_class", "freeze_allowed", "fixture_path", "reason", "freeze"),
            (_pair_row(result.verdicts[index], context) for index in red[:_MAX_PAIRS]),
        )
    if len(red) > _MAX_PAIRS:
        yield f"{len(red) - _MAX_PAIRS} more pairs are not green; the verdict file has all of them.\n"
    if not result.freeze_allowed and result.red[FailureClass.HARNESS_FLAKE]:
        yield (
            "A `true` in this table only asks for a freeze of that pair. This check stays red until a reviewer merges "
            "one, and it says nothing about other pairs or other jobs. Nothing is requested while another pair is red "
            "and not a flake.\n"
        )


def _pair_row(verdict: Verdict, context: ReportContext) -> tuple[str, ...]:
    return (
        code_span(verdict.fixture_id or MISSING),
        code_span(verdict.fixture_sha256 or MISSING),
        code_span(verdict.failure_class.value),
        code_span(format_bool(verdict.freeze_allowed)),
        code_span(verdict.fixture_path or MISSING, 512),
        context.link_reason(verdict.reason),
        "-" if verdict.freeze_status is None else verdict.freeze_status.state.replace("_", " "),
    )


def _more_findings(verdict: Verdict) -> str:
    findings = format_list(
        verdict.findings[1:],
        show=lambda finding: f"{code_span(finding.check)}: {escape_markdown(describe_finding(finding))}",
    )
    return f"Other problems with the evidence:\n\n{findings}"


def _other_attempt(other: OtherAttempt, context: ReportContext) -> str:
    record = other.side.record
    if record is None:
        return f"{context.link_run(other.side)}: {escape_markdown(other.side.source.label)} could not be read"
    oracle = {True: "passed", False: "failed", None: "not known"}[record.oracle_passed]
    transport = {True: "ok", False: "a fault", None: "not known"}[record.transport_ok]
    pin = f"{code_span(other.fixture_id or MISSING)} {code_span(record.fixture_sha256 or MISSING)}"
    return f"{context.link_run(other.side)}: {pin}, oracle {oracle}, transport {transport}"


def _caveats(case: Case, result: Result) -> Iterator[str]:
    for note in describe_ignored_records(case):
        yield f"{escape_markdown(note, 1000)}\n"
    if case.from_fork:
        yield "The evidence came from a fork: another repository's code wrote it, so no ticket is opened or updated.\n"
    if len(case.pairs) > 1 and not case.expected:
        yield (
            "`expected-fixtures` is not set, so a fixture missing from both runs would go unnoticed. List the ids to "
            "detect that.\n"
        )
    if case.fail_on == "never" and not result.verdict.green and not result.freeze_active:
        yield "**Observation only** (`fail-on: never`): this verdict blocks, but the exit code is 0.\n"


def _notes(context: ReportContext) -> Iterator[str]:
    if context.notes:
        yield f"Notes:\n\n{format_list(context.notes, show=lambda note: escape_markdown(note, 1000))}"
