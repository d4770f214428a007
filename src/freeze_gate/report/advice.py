"""Why, and what to do next: one text for each reason. The documentation has a heading for each of these ids.

*Why* ends with what the two records say. *Next* names the runs that it is about, and begins with what comes first.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from freeze_gate.evidence.checks import EVIDENCE_CHECKS, FLAKE_CHECKS, Finding
from freeze_gate.evidence.models import Pair, Side
from freeze_gate.evidence.record import Record
from freeze_gate.report.comparison import describe_oracle, describe_transport
from freeze_gate.report.context import OFFLINE, ReportContext
from freeze_gate.verdict.models import Case, Result, Verdict

_BOTH_RUNS: Final = "both"
_SIDES: Final = {"first": "the first run: ", "rerun": "the rerun: ", _BOTH_RUNS: "both runs: ", "pair": ""}

BLOCKING_FREEZE_STATES: Final = frozenset({"other_pull_request", "too_long", "not_yet"})
"""States of an entry for the same bytes that mutes nothing. A second entry would be refused as overlapping."""

_RULES: Final = {
    "digest-missing": "A run pinned no bytes, so there is nothing to compare.",
    "digests-differ": (
        "The fixture drifted: the two runs checked different bytes, so their oracle results cannot be compared."
    ),
    "both-oracles-failed": ("Both oracles failed on the same bytes, so the failure counts as the patch's."),
    "split-oracle": (
        "One oracle failed and the other did not, on the same bytes, and no transport fault explains a failed oracle."
    ),
    "transport-fault": (
        "Both runs checked the same bytes, no oracle failed, and a transport fault was recorded, so the failure comes "
        "from the harness."
    ),
    "nothing-to-blame": (
        "The bytes are the same and no oracle failed, but not both oracles passed, and no transport fault was recorded "
        "that could explain it."
    ),
    "green": "Nothing to mute: both oracles passed on the same bytes, and no transport fault was recorded.",
}

EXPLANATIONS: Final = {**_RULES, **{check.id: check.sentence for check in (*EVIDENCE_CHECKS, *FLAKE_CHECKS)}}

_RERUN: Final = "press **Re-run jobs** on the run's page"
_PUSH_OR_RERUN: Final = (
    "If the workflow must change, push it: a re-run takes the old one. Otherwise press **Re-run jobs** on the run's "
    "page"
)

NEXT_STEPS: Final = {
    "digest-missing": (
        "Read in the log of {run} why nothing was pinned: `freeze-gate sample` or `freeze-gate pin` must run before "
        f"any assertion. {_PUSH_OR_RERUN}."
    ),
    "digests-differ": (
        "Decide which bytes are right. Then refresh the fixture, or give the new sample its own fixture id. If a "
        "refresh ticket was opened, it shows what differs. To test the patch on the first run's bytes, start the rerun "
        "with `freeze-gate replay`."
    ),
    "both-oracles-failed": (
        "Read the oracle's output in the logs of {run}, and fix the patch. A rerun or a freeze will not help."
    ),
    "split-oracle": (
        "Read in the log of {run} why the oracle failed. It is not deterministic: look for time, ordering, randomness "
        "or shared state. Run it on the pinned file until its result is stable. Treat the failure as real until then."
    ),
    "transport-fault": (
        "Fix the service that failed in {run}, or have a reviewer complete the entry below and merge it into the "
        "policy file. A green rerun does not mean that the service is healthy."
    ),
    "nothing-to-blame": (
        "Read in the log of {run} why the oracle did not pass. Record the calls with `freeze-gate sample` or "
        f"`freeze-gate transport`, and run the oracle in both runs. {_PUSH_OR_RERUN}."
    ),
    "green": "Nothing to do. If a job is red, this check is not the reason: read the log of that job.",
    "artifact-missing": (
        "Check that the job of {run} ran, that it uploaded its bundle under the name that the gate looks for, and "
        f"that the gate's job has `actions: read` (without it, no artifact is listed). {_PUSH_OR_RERUN}."
    ),
    "artifact-expired": (
        f"The bytes of {{run}} are gone: {_RERUN}. If this happens often, raise `retention-days` in the upload step."
    ),
    "artifact-ambiguous": (
        "Give each attempt its own artifact: put `{attempt}` into the name on both sides, or pass the `artifact-id` of "
        "the upload steps as `first-artifact-id` and `rerun-artifact-id`."
    ),
    "artifact-same": (
        "Let the rerun capture and upload its own bundle. Check that `first-artifact` and `rerun-artifact`, or the two "
        "ids, name two different artifacts."
    ),
    "archive-digest-mismatch": (
        "The download was cut off or changed: press **Re-run failed jobs**. If it happens again, "
        f"{_RERUN}, and find out what replaced the artifact."
    ),
    "archive-invalid": (
        "In the job of {run}, upload the bundle folder with `actions/upload-artifact`, without `archive: false` and "
        f"without encryption. {_PUSH_OR_RERUN}."
    ),
    "archive-limits": (
        "Upload only the bundle folder, and split a larger one into several artifacts. The README lists the limits."
    ),
    "record-missing": (
        "Check that {run} reached this fixture, and that the whole bundle folder is uploaded (`records/` and "
        f"`fixtures/`). {_PUSH_OR_RERUN}."
    ),
    "record-duplicate": (
        "Let only one job write each fixture id. Give each shard its own fixture ids, or its own artifact."
    ),
    "record-invalid": (
        "Run `freeze-gate check` on the bundle in the job of {run}: it lists every problem with its place."
    ),
    "record-contradiction": (
        "Run `freeze-gate check` on the bundle of {run}. Write the record with `freeze-gate sample`, `transport` and "
        "`oracle`, not with your own script."
    ),
    "fixture-missing": (
        "In the job of {run}, upload the whole bundle folder. The upload action skips folders whose name starts with a "
        "dot unless `include-hidden-files: true` is set, so do not put the bundle into such a folder."
    ),
    "fixture-digest-mismatch": (
        "The file was changed in {run} after it was pinned, most often by a conversion of line endings. Upload the "
        "bundle as `freeze-gate pin` wrote it. If the fixtures are stored in git, mark their folder with `-text` in "
        "`.gitattributes`."
    ),
    "oracle-input-mismatch": (
        "Let the oracle read `{fixture}` or `FREEZE_GATE_FIXTURE`, and pin only once, before the oracle starts."
    ),
    "run-mismatch": (
        "Run the capture steps in the job that uploads the bundle, so that the record has the id, the attempt and the "
        "commit of that run. Do not reuse a bundle of another run or attempt. If merged shards are of different "
        "attempts, press **Re-run jobs** for all of them."
    ),
    "commit-mismatch": (
        f"Compare two runs of the same commit: after the last push, {_RERUN}. If the two jobs check the code out "
        "themselves, pass the commit from the first one to the other."
    ),
    "oracle-egress": (
        "Make the oracle read only the pinned file. The seal counts attempts and records no address: look for failed "
        "connections and name look-ups in the oracle's own output, in the log of {run}."
    ),
    "oracle-unsealed": (
        "Run the oracle with `freeze-gate oracle`, without `--allow-egress`, on a runner that allows network "
        "namespaces."
    ),
    "oracle-unreported": (
        "Read the end of the oracle's output in the log of {run}. If the patch brought the lane down (memory, disk, "
        f"processes), fix the patch. If the lane ended by itself, fix the lane, and {_RERUN}."
    ),
    "commit-unknown": (
        "Run the capture inside the work tree that the job checked out, so that the record can name its commit. Under "
        "`issue_comment`, `pull_request_target` and `workflow_run`, check out the same commit in both runs: pass it "
        f"from one job to the next. {_PUSH_OR_RERUN}."
    ),
    "pin-partial": (
        f"Sample again until an answer is complete: {_RERUN}, and do not replay the truncated sample with `freeze-gate "
        "replay`."
    ),
    "earlier-fail": (
        "A rerun does not undo a failed oracle: open the attempt that failed in the list below, and read its oracle's "
        "output. If an attempt's evidence could not be read, upload it again in a new run."
    ),
}

_ONLY_ONE_ATTEMPT: Final = (
    "There has been only one attempt of this run. If the rerun is its second attempt, press **Re-run jobs**, then "
    "**Re-run failed jobs**, on the run's page. If the rerun is a job of its own, find out why it was skipped or "
    "uploaded nothing."
)
_FIRST_NAME_NOT_FOUND: Final = (
    "Compare the input `first-artifact` with the names above. If it is wrong, correct the workflow and push it: a "
    "re-run takes the old one. If it is right, read in the log of {run} why the job uploaded nothing. Then "
    f"{_RERUN}."
)
_ATTEMPT_WITHOUT_ARTIFACT: Final = (
    "Read the log of the attempt without an artifact: it was skipped, cancelled, or ended before its upload. If it did "
    "upload, check that the gate's job has `actions: read`, and that the artifact's name contains `{attempt}` on both "
    "sides, so that no attempt replaces the artifact of another. Then press **Re-run jobs** until both sides have "
    "evidence."
)
_FROZEN: Final = (
    "Nothing to do now: a merged freeze mutes this until {last_day} (last day, UTC). Fix the service that failed in "
    "{run} before that."
)
_POLICY_UNUSABLE: Final = (
    "First fix the problem with the policy file, which is shown below: until then no freeze counts, and the oracle "
    "must be sealed."
)
_FREEZE_EXISTS: Final = (
    "Fix the service that failed in {run}, or have a reviewer change the freeze that exists already, as shown below."
)
_NO_PASSING_ORACLE: Final = (
    "First get one oracle to pass on these bytes: none did, so nothing shows that the patch works, and a freeze would "
    f"not mute this. Read in the logs of the two runs why. {_PUSH_OR_RERUN}."
)
_ONE_SAMPLE_CUT_OFF: Final = (
    "The sample of {cut} was cut off, so do not use its bytes. If those of {whole} are right, refresh the fixture with "
    f"them, or give them their own fixture id. Otherwise sample again: {_RERUN}."
)
_BOTH_SAMPLES_CUT_OFF: Final = (
    f"Both samples were cut off, so neither can be used. Sample again until an answer is complete: {_RERUN}."
)
_ONLY_A_CUT_OFF_SAMPLE: Final = (
    f"First sample again until an answer is complete: {_RERUN}, and do not replay the truncated sample with "
    "`freeze-gate replay`. The sample was cut off, and the oracles checked only that, which may be why one failed."
)
_ONLY_ONE_ORACLE_RAN: Final = (
    "Read in the log of {run} why the oracle failed. The other run's oracle gave no result, so let it run on the same "
    f"bytes: {_RERUN}. Treat the failure as real until then."
)
_NO_COMMAND: Final = (
    "First check the set-up of the job: the oracle's command or its tests were not found ({exits}). If the patch "
    "removed them, it is the patch that must change."
)
_EXITS_WITHOUT_TESTS: Final = {
    4: "exit code 4, for pytest a wrong option or a missing file",
    5: "exit code 5, for pytest no test collected",
    126: "exit code 126, the command cannot be executed",
    127: "exit code 127, the command was not found",
}


def explain(pair: Pair, verdict: Verdict) -> str:
    """Return one sentence that says why the verdict was reached, with what was seen on which side.

    It is plain text, not Markdown, and what was seen may quote untrusted text: escape it where it is shown.
    """
    sentence = EXPLANATIONS[verdict.reason]
    findings = merge_findings(verdict.findings)
    seen = describe_finding(findings[0]) if findings else _describe_cause(pair, verdict.reason)
    return f"{sentence.removesuffix('.')} ({seen})." if seen else sentence


def merge_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings in their order; what a check says of both runs with the same words is one of them."""
    merged: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        key = (finding.check, finding.detail)
        merged[key] = finding._replace(side=_BOTH_RUNS) if key in merged else finding
    return tuple(merged.values())


def describe_finding(finding: Finding) -> str:
    """Return the side and the detail of a failed check. It may quote untrusted text."""
    return f"{_SIDES[finding.side]}{finding.detail}"


def _describe_cause(pair: Pair, reason: str) -> str:
    """Return what the records say that led to a rule of the decision table."""
    describe = _CAUSES.get(reason)
    if describe is None:
        return ""
    first, rerun = (describe(side.record) if side.record else "" for side in (pair.first, pair.rerun))
    if first == rerun:
        return first and f"{_SIDES[_BOTH_RUNS]}{first}"
    return "; ".join(f"{_SIDES[name]}{text}" for name, text in (("first", first), ("rerun", rerun)) if text)


def _describe_missing_pin(record: Record) -> str:
    return "" if record.fixture_sha256 else f"nothing pinned, transport {describe_transport(record)}"


def _describe_fault(record: Record) -> str:
    return describe_transport(record).removeprefix("fault: ") if record.transport_ok is False else ""


_CAUSES: Final[dict[str, Callable[[Record], str]]] = {
    "digest-missing": _describe_missing_pin,
    "digests-differ": lambda record: "its sample was cut off" if _is_cut_off(record) else "",
    "both-oracles-failed": describe_oracle,
    "split-oracle": describe_oracle,
    "transport-fault": _describe_fault,
    "nothing-to-blame": lambda record: f"oracle {describe_oracle(record)}, transport {describe_transport(record)}",
}


def advise(case: Case, result: Result, context: ReportContext = OFFLINE) -> str:
    """Return what to do next about the deciding pair, as Markdown."""
    pair = case.pairs[result.deciding]
    steps = [*_first_steps(pair, result.reason), _next_step(case, result, pair)]
    if result.reason == "oracle-unsealed" and case.policy.state == "unusable":
        steps.insert(0, _POLICY_UNUSABLE)
    return " ".join(steps).replace("{run}", _name_runs(pair, result.verdict, context))


def _first_steps(pair: Pair, reason: str) -> Iterator[str]:
    """Yield what must be done before the step of a failed oracle: without it, that step does not help."""
    if reason not in ("both-oracles-failed", "split-oracle"):
        return
    records = [side.record for side in (pair.first, pair.rerun) if side.record]
    is_whole = any(record.transport_ok is True and not record.run.replay_of for record in records)
    if any(_is_cut_off(record) for record in records) and not is_whole:
        yield _ONLY_A_CUT_OFF_SAMPLE
    exits = [record.oracle.exit_code for record in records if record.oracle_passed is False]
    if all(code in _EXITS_WITHOUT_TESTS for code in exits):
        meanings = dict.fromkeys(_EXITS_WITHOUT_TESTS[code] for code in exits if code is not None)
        yield _NO_COMMAND.format(exits="; ".join(meanings))


def _next_step(case: Case, result: Result, pair: Pair) -> str:
    if result.freeze_allowed:
        return _advise_flake(case, result, pair)
    if result.reason == "artifact-missing":
        return _advise_missing_artifact(pair)
    if result.reason == "digests-differ":
        return _advise_drift(pair)
    if result.reason == "split-oracle" and not has_passing_oracle(pair):
        return _ONLY_ONE_ORACLE_RAN
    return NEXT_STEPS[result.reason]


def _advise_flake(case: Case, result: Result, pair: Pair) -> str:
    status = result.verdict.freeze_status
    if result.freeze_active and status:
        return _FROZEN.replace("{last_day}", str(status.freeze.expires))
    if case.policy.state == "unusable":
        return _POLICY_UNUSABLE
    if not has_passing_oracle(pair):
        return _NO_PASSING_ORACLE
    if status and status.state in BLOCKING_FREEZE_STATES:
        return _FREEZE_EXISTS
    return NEXT_STEPS["transport-fault"]


def _advise_drift(pair: Pair) -> str:
    first, rerun = (side.record is not None and _is_cut_off(side.record) for side in (pair.first, pair.rerun))
    if first and rerun:
        return _BOTH_SAMPLES_CUT_OFF
    if first or rerun:
        cut, whole = ("the first run", "the rerun") if first else ("the rerun", "the first run")
        return _ONE_SAMPLE_CUT_OFF.format(cut=cut, whole=whole)
    return NEXT_STEPS["digests-differ"]


def _is_cut_off(record: Record) -> bool:
    return record.transport.pin_complete is False


def has_passing_oracle(pair: Pair) -> bool:
    """Whether an oracle of the pair passed. Without one, nothing shows that the patch works."""
    return any(side.record and side.record.oracle_passed for side in (pair.first, pair.rerun))


def _advise_missing_artifact(pair: Pair) -> str:
    """Most often a name is wrong, the attempt was never made, or it replaced the artifact of another attempt."""
    first, rerun = (
        any(fault.check == "artifact-missing" for fault in side.faults) for side in (pair.first, pair.rerun)
    )
    if first and rerun:
        return NEXT_STEPS["artifact-missing"]
    if first and pair.first.source.label != pair.rerun.source.label:
        return _FIRST_NAME_NOT_FOUND
    run_ids = {side.run_id for side in (pair.first, pair.rerun)}
    newest_attempt = max(side.source.newest_attempt or 0 for side in (pair.first, pair.rerun))
    if len(run_ids) > 1 or not newest_attempt:
        return NEXT_STEPS["artifact-missing"]
    return _ONLY_ONE_ATTEMPT if newest_attempt == 1 else _ATTEMPT_WITHOUT_ARTIFACT


_CONCERNED: Final[dict[str, Callable[[Side], bool]]] = {
    "digest-missing": lambda side: side.record is None or side.record.fixture_sha256 is None,
    "split-oracle": lambda side: side.record is not None and side.record.oracle_passed is False,
    "transport-fault": lambda side: side.record is not None and side.record.transport_ok is False,
    "nothing-to-blame": lambda side: side.record is None or not side.record.oracle_passed,
}
"""Which runs the next step is about. A failed check names its side; for any other reason it is both."""


def _name_runs(pair: Pair, verdict: Verdict, context: ReportContext) -> str:
    """Return the names of the runs that the next step is about, as links."""
    sides = {"first": pair.first, "rerun": pair.rerun}
    names = {finding.side for finding in merge_findings(verdict.findings)[:1]} & sides.keys()
    if not names and (is_concerned := _CONCERNED.get(verdict.reason)):
        names = {name for name, side in sides.items() if is_concerned(side)}
    links = {"first": "the first run", "rerun": "the rerun"}
    return " and ".join(context.link_run(side, links[name]) for name, side in sides.items() if name in (names or sides))
