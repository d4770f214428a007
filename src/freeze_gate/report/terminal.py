"""What a terminal shows of a verdict besides the four lines: plain text, and each line safe in a runner's log."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from freeze_gate.evidence.abbreviation import abbreviate, count
from freeze_gate.policy.freezes import Freeze, PolicyReading
from freeze_gate.report.advice import advise, explain
from freeze_gate.report.escape import escape_log
from freeze_gate.report.outputs import MISSING, describe_ignored_records
from freeze_gate.verdict.evaluate import freeze_statuses
from freeze_gate.verdict.models import Case, Result

_LINK: Final = re.compile(r"\[([^]]*)\]\(([^)]*)\)")
_ESCAPE: Final = re.compile(r"\\(.)")


def describe_verdict(case: Case, result: Result) -> Iterator[str]:
    """Return the fixture id that decides, the counts of several pairs, why, what to do next, and notes."""
    verdict = result.verdict
    yield f"fixture: {escape_log(verdict.fixture_id or MISSING)}"
    if len(result.verdicts) > 1:
        counts = [f"{len(indices)} {failure_class.value}" for failure_class, indices in result.red.items() if indices]
        green = len(result.verdicts) - sum(map(len, result.red.values()))
        counts += [f"{green} green"] if green else []
        yield f"pairs: {len(result.verdicts)} ({', '.join(counts)})"
    yield f"why: {verdict.reason}. {escape_log(explain(case.pairs[result.deciding], verdict))}"
    yield f"next: {_plain_text(advise(case, result))}"
    for note in describe_ignored_records(case):
        yield f"note: {escape_log(note)}"


def describe_policy(reading: PolicyReading, case: Case, result: Result) -> Iterator[str]:
    """Return what became of the policy: its problems, or a line for each entry that names a fixture id of the pairs.

    A policy that was read for a verdict without a flake is in no case, so it is handed in.
    """
    if reading.state == "unusable":
        yield "policy: could not be used. No freeze is active, and everything that it could require is required."
        yield from (f"policy: {escape_log(problem)}" for problem in reading.problems)
        return
    place_of = {verdict.fixture_id: place for place, verdict in enumerate(result.verdicts)}
    freezes = [freeze for freeze in reading.policy.freezes if freeze.fixture_id in place_of]
    yield from abbreviate(
        freezes, show=lambda freeze: _describe_freeze(freeze, case, result, place_of[freeze.fixture_id])
    )
    if not freezes:
        entries = count(len(reading.policy.freezes), "entry", "entries")
        yield f"policy: {entries}, none for a fixture id of these bundles"


def _describe_freeze(freeze: Freeze, case: Case, result: Result, place: int) -> str:
    verdict = result.verdicts[place]
    effect = f"mutes nothing: the pair is {'green' if verdict.green else verdict.failure_class.value}, not a flake"
    if verdict.freeze_allowed:
        statuses = freeze_statuses(case.pairs[place], case)
        effect = next(_EFFECTS[status.state](freeze) for status in statuses if status.freeze == freeze)
    return f"freeze: {freeze.fixture_id}, line {freeze.line}: {effect}; owner {escape_log(freeze.owner)}"


def _plain_text(markdown: str) -> str:
    text = _LINK.sub(r"\1 (\2)", markdown.replace("**", "").replace("\u200b", ""))
    return escape_log(_ESCAPE.sub(r"\1", text))


_EFFECTS: Final[dict[str, Callable[[Freeze], str]]] = {
    "active": lambda freeze: f"mutes this pair until {freeze.expires} (last day, UTC)",
    "unproven": lambda _: "mutes nothing: no oracle passed, so nothing shows that the patch works",
    "other_pull_request": lambda freeze: (
        f"mutes nothing: it is only for pull request {freeze.pull_request}; --pull-request names the one to judge for"
    ),
    "too_long": lambda freeze: (
        f"mutes nothing: {freeze.added} to {freeze.expires} is longer than max_freeze_days allows"
    ),
    "not_yet": lambda freeze: f"mutes nothing: it counts from {freeze.added} on (UTC)",
    "expired": lambda freeze: f"mutes nothing: it expired on {freeze.expires}",
    "other_digest": lambda freeze: f"mutes nothing: it is for other bytes, {freeze.fixture_sha256}",
}
