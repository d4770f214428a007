"""What the policy file says about the flakes of a run, and an entry to paste where it has none."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Final

from freeze_gate.evidence.abbreviation import count
from freeze_gate.evidence.models import Pair
from freeze_gate.policy.freezes import SCHEMA, Freeze
from freeze_gate.report.advice import has_passing_oracle
from freeze_gate.report.context import ReportContext
from freeze_gate.report.escape import code_block, code_span, escape_markdown, format_message
from freeze_gate.report.markdown import format_list
from freeze_gate.report.outputs import MISSING
from freeze_gate.verdict.models import Case, Result, Verdict
from freeze_gate.verdict.table import FailureClass

_MAX_PROBLEMS: Final = 15
_MAX_ENTRIES: Final = 20  # a reviewer who needs more has a bigger problem than a flake


def render_freezes(case: Case, result: Result, context: ReportContext) -> Iterator[str]:
    """Return the blocks about the policy file: why it is unusable, the freeze of each flake, entries to paste."""
    flakes = [(case.pairs[index], result.verdicts[index]) for index in result.red[FailureClass.HARNESS_FLAKE]]
    if case.policy.state == "unusable":
        yield _unusable_policy(case, context)
    lines = [line for pair, verdict in flakes for line in _freeze_lines(pair, verdict)]
    if lines:
        yield f"Freezes in {code_span(context.policy)}:\n\n{format_list(lines)}"
    unfrozen = [verdict for pair, verdict in flakes if _can_be_frozen(pair, verdict)]
    if case.policy.state != "unusable" and unfrozen:
        yield _entries_to_paste(case, unfrozen, context)


def _unusable_policy(case: Case, context: ReportContext) -> str:
    name = code_span(context.policy)
    problems = [format_message(problem) for problem in case.policy.problems[:_MAX_PROBLEMS]]
    if case.github_metadata and case.policy.sha is None:
        problems.append(
            "If the token may not read the file, grant `contents: read` in the `permissions:` of the gate's job."
        )
    else:
        problems.append("Run `freeze-gate check` on the file: it lists every problem with its line.")
    return (
        f"**{name} could not be used. No freeze is active, and everything that it could require is required.**\n\n"
        f"{format_list(problems)}"
    )


def _freeze_lines(pair: Pair, verdict: Verdict) -> Iterator[str]:
    name = code_span(pair.fixture_id or MISSING)
    if not has_passing_oracle(pair):
        yield f"{name}: no oracle passed, so nothing shows that the patch works, and a freeze would not mute it"
    elif verdict.freeze_status:
        yield f"{name}: {_FREEZE_STATES[verdict.freeze_status.state](verdict.freeze_status.freeze)}"


def _owner_and_reason(freeze: Freeze) -> str:
    return f"owner {escape_markdown(freeze.owner)}, reason: {escape_markdown(freeze.reason)}"


_FREEZE_STATES: Final[dict[str, Callable[[Freeze], str]]] = {
    "active": lambda freeze: (
        f"**muted by a freeze** until {freeze.expires} (last day, UTC), {_owner_and_reason(freeze)}, "
        f"unfreeze when: {escape_markdown(freeze.unfreeze_when)}"
    ),
    "other_pull_request": lambda freeze: (
        f"the entry on line {freeze.line} is only for pull request {freeze.pull_request}; remove its `pull_request` "
        "to make it count for all"
    ),
    "too_long": lambda freeze: (
        f"the entry on line {freeze.line} does not count: {freeze.added} to {freeze.expires} is longer than "
        "`max_freeze_days` allows; choose an earlier `expires`"
    ),
    "not_yet": lambda freeze: (
        f"the entry on line {freeze.line} counts from {freeze.added} on (UTC), {_owner_and_reason(freeze)}"
    ),
    "expired": lambda freeze: (
        f"the entry on line {freeze.line} **expired on {freeze.expires}**, {_owner_and_reason(freeze)}, "
        f"unfreeze when: {escape_markdown(freeze.unfreeze_when)}"
    ),
    "other_digest": lambda freeze: (
        f"the entry on line {freeze.line} is for another digest ({code_span(freeze.fixture_sha256)}), "
        f"{_owner_and_reason(freeze)}; a freeze covers only the bytes that the reviewer saw"
    ),
}


def _can_be_frozen(pair: Pair, verdict: Verdict) -> bool:
    """Whether a new entry would mute the pair and would not overlap an entry that is there."""
    status = verdict.freeze_status
    return has_passing_oracle(pair) and (status is None or status.state in ("expired", "other_digest"))


def _entries_to_paste(case: Case, verdicts: Sequence[Verdict], context: ReportContext) -> str:
    entries = "".join(_format_entry(case, verdict) for verdict in verdicts[:_MAX_ENTRIES])
    omitted = len(verdicts) - _MAX_ENTRIES
    more = f"\nWithout an entry so far: {count(omitted, 'more flake')}.\n" if omitted > 0 else ""
    place = f"under `freezes:` in {code_span(context.policy)}"
    if case.policy.state == "absent":
        place = f"as {code_span(context.policy)}, which is not there yet,"
        entries = f"schema: {SCHEMA}\nfreezes:\n{entries}"
    return (
        f"To mute this, a reviewer adds the following {place} on the default branch. The empty fields are for the "
        f"reviewer.\n\n{code_block(entries, 'yaml')}{more}"
    )


def _format_entry(case: Case, verdict: Verdict) -> str:
    """Return one entry. Its strings have JSON's quotes, which YAML reads too: a plain `1e5` would be a number."""
    last_day = case.today + timedelta(days=case.policy.policy.max_freeze_days)
    return (
        f"  - fixture_id: {json.dumps(verdict.fixture_id)}\n"
        f"    fixture_sha256: {json.dumps(verdict.fixture_sha256)}\n"
        "    owner:           # who is responsible for it\n"
        "    reason:          # what is wrong with the harness\n"
        f"    added: {case.today}\n"
        f"    expires:         # last day, UTC; {last_day} at the latest\n"
        "    unfreeze_when:   # the condition for removing it\n"
    )
