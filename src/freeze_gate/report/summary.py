"""The step summary: the four lines, why, what next, and everything that a reader needs to check it."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from freeze_gate.evidence.side import Other
from freeze_gate.report.advice import next_step, seen, why
from freeze_gate.report.comparison import side_by_side
from freeze_gate.report.context import View
from freeze_gate.report.escape import code_block, code_span, escape_markdown
from freeze_gate.report.freezes import policy_part
from freeze_gate.report.lines import CLOSED, MISSING, four_lines
from freeze_gate.report.markdown import bullets, fit, table
from freeze_gate.verdict.models import Case, Result, Verdict
from freeze_gate.verdict.table import FailureClass

MAX_BYTES: Final = 800 * 1024
"""Of the 1,024 KiB beyond which the runner drops a whole summary, and the 900 that are promised: room for "Posted"."""

_PAIRS: Final = 300
_OTHERS: Final = 50

_UNREACHED: Final = (
    "Put right what the sentence above names, then press **Re-run failed jobs** on the run's page. Until then nothing "
    "is known about the patch: this is neither a pass nor a flake."
)


def summary(case: Case, result: Result, view: View) -> str:
    """Return the summary as Markdown, under `MAX_BYTES` whatever the case holds."""
    return fit(_blocks(case, result, view), MAX_BYTES)


def unreached(message: str, view: View) -> str:
    """Return the summary of a run that reached no verdict: the closed lines, what is wrong, what to do."""
    blocks = (
        "## Freeze Gate: no verdict\n",
        code_block(CLOSED),
        f"**Why:** No verdict could be reached. {escape_markdown(message, 2000)}\n",
        f"**Next:** {_UNREACHED}\n",
        *_notes(view),
    )
    return fit(blocks, MAX_BYTES)


def _blocks(case: Case, result: Result, view: View) -> Iterator[str]:
    verdict, pair = result.verdict, case.pairs[result.deciding]
    yield f"## Freeze Gate: {'green' if verdict.green else code_span(result.failure_class.value)}\n"
    yield code_block(four_lines(result))
    if result.freeze_allowed:
        yield _request(result, view)
    if len(result.verdicts) > 1:
        yield from _all_pairs(result, view)
    yield f"**Why:** {escape_markdown(why(verdict), 1000)} ({view.reason(verdict.reason)})\n"
    yield f"**Next:** {next_step(case, result)}\n"
    if case.pairs[1:] and verdict.fixture_id is not None:
        yield f"The two runs of {code_span(verdict.fixture_id)}, which decides:\n"
    yield side_by_side(pair, view)
    if verdict.findings[1:]:
        yield _more_findings(verdict)
    yield from policy_part(case, result, view)
    if case.other_attempts:
        others = bullets(case.other_attempts, _OTHERS, lambda other: _other(other, view))
        yield f"Other attempts of this run:\n\n{others}"
    yield from _circumstances(case, result)
    yield from _notes(view)


def _request(result: Result, view: View) -> str:
    """Return what must stand beside every `true`, lest it be read as a permission."""
    muted = (
        "a reviewer's freeze mutes it today"
        if result.freeze_active
        else "red on purpose until a reviewer merges a freeze"
    )
    return (
        f"`freeze_allowed=true` is a request, no permission: {muted}. It clears no miss of another job. A label such "
        f"as {code_span(view.freeze_label)} that is set with the default token starts no workflow.\n"
    )


def _all_pairs(result: Result, view: View) -> Iterator[str]:
    red = list(chain(*result.red.values()))
    told = [f"{len(places)} {code_span(kind.value)}" for kind, places in result.red.items() if places]
    green = len(result.verdicts) - len(red)
    yield f"{len(result.verdicts)} pairs: {', '.join([*told, f'{green} green' if green else ''] if green else told)}.\n"
    if red:
        yield table(
            ("fixture", "fixture_sha256", "failure_class", "freeze_allowed", "fixture_path", "reason", "freeze"),
            (_row(result.verdicts[place], view) for place in red[:_PAIRS]),
        )
    if len(red) > _PAIRS:
        yield f"{len(red) - _PAIRS} more pairs are not green; the verdict file names them all.\n"
    if not result.freeze_allowed and result.red[FailureClass.HARNESS_FLAKE]:
        yield (
            "A `true` in this table would be a request for that pair alone, red on purpose until a reviewer merges a "
            "freeze. It clears no other pair and no miss of another job, and nothing is requested while another pair "
            "is no flake.\n"
        )


def _row(verdict: Verdict, view: View) -> tuple[str, ...]:
    return (
        code_span(verdict.fixture_id or MISSING),
        code_span(verdict.fixture_sha256 or MISSING),
        code_span(verdict.failure_class.value),
        code_span("true" if verdict.freeze_allowed else "false"),
        code_span(verdict.fixture_path or MISSING, 512),
        view.reason(verdict.reason),
        "-" if verdict.freeze_status is None else verdict.freeze_status.state.replace("_", " "),
    )


def _more_findings(verdict: Verdict) -> str:
    found = bullets(
        verdict.findings[1:], show=lambda finding: f"{code_span(finding.check)}: {escape_markdown(seen(finding))}"
    )
    return f"Also wrong with the evidence:\n\n{found}"


def _other(other: Other, view: View) -> str:
    record = other.side.record
    if record is None:
        return f"{view.run(other.side)}: {escape_markdown(other.side.source.label)} could not be read"
    oracle = {True: "passed", False: "failed", None: "not known"}[record.oracle_passed]
    transport = {True: "ok", False: "a fault", None: "not known"}[record.transport_ok]
    pin = f"{code_span(other.fixture_id or MISSING)} {code_span(record.fixture_sha256 or MISSING)}"
    return f"{view.run(other.side)}: {pin}, oracle {oracle}, transport {transport}"


def _circumstances(case: Case, result: Result) -> Iterator[str]:
    if case.from_fork:
        yield (
            "The evidence came from a fork: another repository's code wrote it, and no ticket is opened or updated on "
            "it.\n"
        )
    if len(case.pairs) > 1 and not case.expected:
        yield (
            "This set was judged without `expected-fixtures`: a fixture that vanished from both runs was not missed. "
            "List the ids there to make it visible.\n"
        )
    if case.fail_on == "never" and not result.verdict.green and not result.freeze_active:
        yield "**Observation only** (`fail-on: never`): this would block, and the exit code is 0 all the same.\n"


def _notes(view: View) -> Iterator[str]:
    if view.notes:
        yield f"Notes:\n\n{bullets(view.notes, show=lambda note: escape_markdown(note, 1000))}"
