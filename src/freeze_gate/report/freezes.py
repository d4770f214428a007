"""What the policy file says about the flakes of a run, and the entry to paste where it says nothing yet."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import islice
from typing import Final

from freeze_gate.evidence.side import Pair
from freeze_gate.policy.freezes import Freeze
from freeze_gate.report.advice import proven
from freeze_gate.report.context import View
from freeze_gate.report.escape import code_block, code_span, escape_markdown
from freeze_gate.report.lines import MISSING
from freeze_gate.report.markdown import bullets
from freeze_gate.verdict.models import Case, Result, Verdict
from freeze_gate.verdict.table import FailureClass

_PROBLEMS: Final = 15
_ENTRIES: Final = 20  # a reviewer who needs more has another problem than a flake


def policy_part(case: Case, result: Result, view: View) -> Iterator[str]:
    """Return the blocks about the policy file: that it is unusable, what it says of each flake, what to paste."""
    if case.policy.state == "unusable":
        yield _unusable(case, view)
    flakes = result.red[FailureClass.HARNESS_FLAKE]
    said = bullets([words for place in flakes for words in _said(case.pairs[place], result.verdicts[place])])
    if said:
        yield f"Freezes, as {code_span(view.policy)} has them:\n\n{said}"
    if case.policy.state != "unusable":
        found = ((case.pairs[place], result.verdicts[place]) for place in flakes)
        yield from _paste_ready(case, (verdict for pair, verdict in found if _wants_entry(pair, verdict)), view)


def _said(pair: Pair, verdict: Verdict) -> Iterator[str]:
    name = code_span(pair.fixture_id or MISSING)
    if not proven(pair):
        yield f"{name}: neither oracle passed, so nothing shows that the patch works, and no freeze would mute it"
    elif verdict.freeze_status:
        yield f"{name}: {_WORDS[verdict.freeze_status.state](verdict.freeze_status.freeze)}"


def _wants_entry(pair: Pair, verdict: Verdict) -> bool:
    return proven(pair) and (not verdict.freeze_status or verdict.freeze_status.state in ("expired", "other_digest"))


def _unusable(case: Case, view: View) -> str:
    name = code_span(view.policy)
    loud = f"**{name} could not be used: no freeze counts, and everything that it could require counts as required.**"
    problems = [escape_markdown(problem) for problem in case.policy.problems[:_PROBLEMS]]
    if case.github_metadata and case.policy.sha is None:
        problems.append(
            "If the token may not read the file, grant `contents: read` in the `permissions:` of the gate's job."
        )
    else:
        problems.append("`freeze-gate check` on the file names all that is wrong with it, line by line.")
    return f"{loud}\n\n{bullets(problems)}"


def _owner(freeze: Freeze) -> str:
    return f"owner {escape_markdown(freeze.owner)}, reason: {escape_markdown(freeze.reason)}"


_WORDS: Final[dict[str, Callable[[Freeze], str]]] = {
    "active": lambda freeze: (
        f"**muted by a freeze** until {freeze.expires} (last day, UTC), {_owner(freeze)}, to be lifted when: "
        f"{escape_markdown(freeze.unfreeze_when)}"
    ),
    "other_pull_request": lambda freeze: (
        f"the entry on line {freeze.line} is for pull request {freeze.pull_request} alone; take its `pull_request` "
        "away to widen it"
    ),
    "too_long": lambda freeze: (
        f"the entry on line {freeze.line} does not count: from {freeze.added} to {freeze.expires} are more days than "
        "`max_freeze_days` allows; bring `expires` forward"
    ),
    "not_yet": lambda freeze: f"the entry on line {freeze.line} counts from {freeze.added} on (UTC), {_owner(freeze)}",
    "expired": lambda freeze: (
        f"the entry on line {freeze.line} **expired on {freeze.expires}**, {_owner(freeze)}; it was to be lifted when: "
        f"{escape_markdown(freeze.unfreeze_when)}"
    ),
    "other_digest": lambda freeze: (
        f"the entry on line {freeze.line} is for another digest ({code_span(freeze.fixture_sha256)}), {_owner(freeze)};"
        " a freeze covers only the bytes that a reviewer saw"
    ),
}


def _paste_ready(case: Case, verdicts: Iterator[Verdict], view: View) -> Iterator[str]:
    entries = "".join(_entry(case, verdict) for verdict in islice(verdicts, _ENTRIES))
    more = sum(1 for _ in verdicts)
    if entries:
        yield (
            f"For a reviewer who takes this on, under `freezes:` in {code_span(view.policy)} on the default branch."
            f" The empty fields are for the reviewer:\n\n{code_block(entries, 'yaml')}"
            + (f"\n{more} more flakes have no entry yet.\n" if more else "")
        )


def _entry(case: Case, verdict: Verdict) -> str:
    """Quoted, because a plain `1e5` or `null` is no string in YAML; JSON's quotes are YAML's."""
    last = case.today + timedelta(days=case.policy.policy.max_freeze_days)
    return (
        f"  - fixture_id: {json.dumps(verdict.fixture_id)}\n"
        f"    fixture_sha256: {json.dumps(verdict.fixture_sha256)}\n"
        "    owner:           # who answers for it\n"
        "    reason:          # what is wrong with the harness\n"
        f"    added: {case.today}\n"
        f"    expires:         # last day, UTC; {last} at the latest\n"
        "    unfreeze_when:   # what has to be true to lift it\n"
    )
