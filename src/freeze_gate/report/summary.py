"""The step summary: the four lines, why, what to do next, the two runs side by side, and every fact behind a click."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from freeze_gate.evidence.abbreviation import count
from freeze_gate.evidence.models import OtherAttempt, Side
from freeze_gate.report.advice import advise, describe_finding, explain, merge_findings
from freeze_gate.report.comparison import render_comparison, render_facts, shorten_digest
from freeze_gate.report.context import ReportContext
from freeze_gate.report.escape import code_block, code_cell, code_span, escape_markdown, format_message
from freeze_gate.report.freezes import render_freezes
from freeze_gate.report.markdown import format_alert, format_details, format_list, format_table, join_within_budget
from freeze_gate.report.outputs import FAIL_CLOSED_LINES, MISSING, describe_ignored_records, format_four_lines
from freeze_gate.verdict.models import Case, Result, Verdict
from freeze_gate.verdict.table import FailureClass

MAX_BYTES: Final = 800 * 1024
"""The runner drops a summary of more than 1,024 KiB. Ours promises 900 KiB; the rest is for the section "Posted"."""

_MAX_VISIBLE_PAIRS: Final = 25
_MAX_PAIRS: Final = 300
_MAX_ATTEMPTS: Final = 50

_ALERTS: Final = {
    FailureClass.PROPERTY_MISS: "CAUTION",
    FailureClass.FIXTURE_DRIFT: "WARNING",
    FailureClass.UNCLASSIFIED: "WARNING",
    FailureClass.HARNESS_FLAKE: "NOTE",
}


def render_summary(case: Case, result: Result, context: ReportContext) -> str:
    """Return the summary as Markdown, at most `MAX_BYTES` long."""
    return join_within_budget(_blocks(case, result, context), MAX_BYTES)


def render_no_verdict_summary(message: str, context: ReportContext, *, is_bad_input: bool = False) -> str:
    """Return the summary of a run without a verdict: the fail-closed lines, the problem, what to do."""
    why = f"**Why:** No verdict could be reached. {format_message(message[:1].upper() + message[1:], 2000)}"
    fix = (
        "Correct it in the workflow and push that: **Re-run failed jobs** takes the workflow as it was."
        if is_bad_input
        else "Fix the problem above, then press **Re-run failed jobs** on the run's page."
    )
    unknown = "Until then nothing is known about the patch: this is neither a pass nor a flake."
    blocks = (
        "## Freeze Gate: no verdict\n",
        code_block(FAIL_CLOSED_LINES),
        format_alert("WARNING", (why, f"**Next:** {fix} {unknown}")),
        *_notes(context),
    )
    return join_within_budget(blocks, MAX_BYTES)


def _blocks(case: Case, result: Result, context: ReportContext) -> Iterator[str]:
    verdict, pair = result.verdict, case.pairs[result.deciding]
    yield f"## Freeze Gate: {'green' if verdict.green else code_span(result.failure_class.value)}\n"
    yield code_block(format_four_lines(result))
    kind = "TIP" if verdict.green else _ALERTS[result.failure_class]
    yield format_alert(kind, _why_and_next(case, result, context))
    if case.fail_on == "never" and not verdict.green and not result.freeze_active:
        yield "**Observation only** (`fail-on: never`): this verdict blocks, but the exit code is 0.\n"
    if len(result.verdicts) > 1:
        yield from _all_pairs(result, context)
    if len(case.pairs) > 1 and verdict.fixture_id is not None:
        yield f"The two runs of {code_span(verdict.fixture_id)}, which decides:\n"
    yield render_comparison(pair, verdict.reason, context)
    freezes = list(render_freezes(case, result, context))
    if result.freeze_allowed or case.policy.state == "unusable":
        yield from freezes
        freezes = []
    attempts = list(_other_attempts(case, context))
    if verdict.reason == "earlier-fail":
        yield from attempts
        attempts = []
    yield from _caveats(case)
    yield from _notes(context)
    yield format_details("All recorded facts of the two runs", render_facts(pair, context))
    if findings := merge_findings(verdict.findings)[1:]:
        lines = format_list(
            findings, show=lambda finding: f"{code_span(finding.check)}: {format_message(describe_finding(finding))}"
        )
        yield format_details("Other problems with the evidence", lines)
    for summary, blocks in (("Other attempts", attempts), ("Freezes", freezes)):
        if blocks:
            yield format_details(summary, "\n".join(blocks))


def _why_and_next(case: Case, result: Result, context: ReportContext) -> Iterator[str]:
    """Yield the alert's paragraphs. Beside a `true` stands what it is, so that nobody takes it for a permission."""
    verdict, pair = result.verdict, case.pairs[result.deciding]
    yield f"**Why:** {format_message(explain(pair, verdict))} ({context.link_reason(verdict.reason)})"
    yield f"**Next:** {advise(case, result, context)}"
    if result.freeze_allowed:
        state = (
            "A merged freeze mutes it today. It says nothing about other jobs."
            if result.freeze_active
            else "This check stays red until a reviewer merges one, and it says nothing about other jobs."
        )
        editor = context.link_policy_editor("Edit the policy file", exists=case.policy.state != "absent")
        yield (
            f"`freeze_allowed=true` only asks for a freeze. {state} A label such as {code_span(context.freeze_label)} "
            f"that is set with the default token starts no workflow.{f' {editor}.' if '](' in editor else ''}"
        )


def _all_pairs(result: Result, context: ReportContext) -> Iterator[str]:
    red = list(chain(*result.red.values()))
    counts = [f"{len(indices)} {code_span(kind.value)}" for kind, indices in result.red.items() if indices]
    if len(red) < len(result.verdicts):
        counts.append(f"{len(result.verdicts) - len(red)} green")
    yield f"{len(result.verdicts)} pairs: {', '.join(counts)}.\n"
    head = ("fixture", "class", "reason", "digest")
    rows = [_pair_row(result.verdicts[index], context) for index in red[:_MAX_PAIRS]]
    if rows:
        yield format_table(head, rows[:_MAX_VISIBLE_PAIRS])
    if rows[_MAX_VISIBLE_PAIRS:]:
        yield format_details(
            f"{len(rows) - _MAX_VISIBLE_PAIRS} more pairs that are not green",
            format_table(head, rows[_MAX_VISIBLE_PAIRS:]),
        )
    if len(red) > _MAX_PAIRS:
        yield f"Not in this table: {count(len(red) - _MAX_PAIRS, 'more red pair')}. The verdict file has all of them.\n"
    if not result.freeze_allowed and result.red[FailureClass.HARNESS_FLAKE]:
        yield "No freeze is requested: another pair is red and not a flake.\n"


def _pair_row(verdict: Verdict, context: ReportContext) -> tuple[str, ...]:
    return (
        code_cell(verdict.fixture_id or MISSING),
        code_span(verdict.failure_class.value),
        context.link_reason(verdict.reason),
        shorten_digest(verdict.fixture_sha256) if verdict.fixture_sha256 else MISSING,
    )


def _other_attempts(case: Case, context: ReportContext) -> Iterator[str]:
    if case.other_attempts:
        attempts = format_list(case.other_attempts, _MAX_ATTEMPTS, lambda other: _other_attempt(other, context))
        yield f"Other attempts of this run:\n\n{attempts}"


def _other_attempt(other: OtherAttempt, context: ReportContext) -> str:
    record = other.side.record
    if record is None:
        return f"{context.link_run(other.side)}: {escape_markdown(other.side.source.label)} could not be read"
    oracle = {True: "passed", False: "failed", None: "not known"}[record.oracle_passed]
    transport = {True: "ok", False: "a fault", None: "not known"}[record.transport_ok]
    pin = f"{code_span(other.fixture_id or MISSING)} {code_span(record.fixture_sha256 or MISSING)}"
    return f"{context.link_run(other.side)}: {pin}, oracle {oracle}, transport {transport}"


def _caveats(case: Case) -> Iterator[str]:
    for note in describe_ignored_records(case):
        yield f"{escape_markdown(note, 1000)}\n"
    empty = [pair.fixture_id or MISSING for pair in case.pairs if _has_empty_pin(pair.first, pair.rerun)]
    if empty:
        names = format_list(empty, _MAX_ATTEMPTS, code_span)
        yield f"**Warning:** zero bytes are pinned. Look whether the sampler meant that:\n\n{names}"
    if case.from_fork:
        yield "The evidence came from a fork: another repository's code wrote it, so no ticket is opened or updated.\n"
    if len(case.pairs) > 1 and not case.expected:
        yield (
            "`expected-fixtures` is not set, so a fixture missing from both runs would go unnoticed. List the ids to "
            "detect that.\n"
        )


def _has_empty_pin(*sides: Side) -> bool:
    return any(side.pin is not None and side.pin.size == 0 for side in sides)


def _notes(context: ReportContext) -> Iterator[str]:
    if context.notes:
        yield f"Notes:\n\n{format_list(context.notes, show=format_message)}"
