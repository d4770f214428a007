"""Why, and what next: one sentence for each reason, as data. The README has a heading for each of the same ids."""

from typing import Final

from freeze_gate.evidence.checks import EVIDENCE_CHECKS, FLAKE_CHECKS, Finding
from freeze_gate.evidence.side import Pair
from freeze_gate.verdict.models import Case, Result, Verdict

_CHECKS: Final = (*EVIDENCE_CHECKS, *FLAKE_CHECKS)
_SIDES: Final = {"first": "the first run: ", "rerun": "the rerun: ", "pair": ""}

ENTRY_IN_THE_WAY: Final = frozenset({"other_pull_request", "too_long", "not_yet"})
"""Where an entry for the same bytes stands and mutes nothing: a second one would be refused as overlapping."""

_RULES: Final = {
    "digest-missing": "A run pinned no bytes, so there is nothing to compare.",
    "digests-differ": (
        "The two runs checked different bytes, so their oracles say nothing about each other: the fixture drifted."
    ),
    "both-oracles-failed": (
        "Both oracles failed on the same bytes, whatever the transport did: the patch breaks the property."
    ),
    "split-oracle": (
        "One oracle failed and the other did not, on the same bytes, and no transport fault can explain a recorded "
        "fail."
    ),
    "transport-fault": (
        "Both runs checked the same bytes, neither oracle is on record as failed, and a transport fault was recorded: "
        "the harness dropped something."
    ),
    "nothing-to-blame": (
        "The bytes are the same and nothing failed on record, yet not both oracles passed, and there is no transport "
        "fault to blame for it."
    ),
    "green": "Nothing to mute: both oracles passed on the same bytes, and no transport fault was recorded.",
}

WHY: Final = {**_RULES, **{check.id: check.sentence for check in _CHECKS}}

_RERUN: Final = "press **Re-run jobs** on the run's page"

NEXT: Final = {
    "digest-missing": (
        "Read in that run's log why nothing was pinned: `freeze-gate sample` or `freeze-gate pin` must come before any "
        f"assertion. Then {_RERUN}."
    ),
    "digests-differ": (
        "Decide which bytes are right: refresh the fixture, or give the new sample an id of its own; the refresh "
        "ticket, where one is opened, says what differs. To judge the patch on the first run's bytes, let the rerun "
        "start with `freeze-gate replay`."
    ),
    "both-oracles-failed": (
        "Open the logs of the two runs, read what the oracle says, and fix the patch. Neither a rerun nor a freeze "
        "changes this."
    ),
    "split-oracle": (
        "Look for time, order, randomness or shared state in the oracle; run it on the pinned file until it always "
        "says the same. Treat the fail as real until then."
    ),
    "transport-fault": (
        "Repair the lane that failed, or let a reviewer who answers for it paste the entry below into the policy file "
        "and fill it in. A rerun may be green, and says nothing about the lane."
    ),
    "nothing-to-blame": (
        "See below which oracle did not pass and which transport is not known. Record the calls (`freeze-gate "
        f"sample`, or `freeze-gate transport`) and run the oracle on both sides, then {_RERUN}."
    ),
    "green": "There is nothing to press. If a job is red all the same, its cause is elsewhere: read that job's log.",
    "artifact-missing": (
        "Look whether that job ran and uploaded its bundle under the name that the gate asks for, and whether the "
        f"gate's job has `actions: read`; without it the list is empty. Then {_RERUN}."
    ),
    "artifact-expired": (
        f"The bytes are gone: {_RERUN}, and raise `retention-days` of the upload step if that comes often."
    ),
    "artifact-ambiguous": (
        "Give each attempt its own artifact: put `{attempt}` into the name on both sides, or pass the upload steps' "
        "`artifact-id` as `first-artifact-id` and `rerun-artifact-id`."
    ),
    "artifact-same": (
        "Let the rerun capture for itself and upload its own bundle; check that `first-artifact` and "
        "`rerun-artifact`, or the two ids, name two different ones."
    ),
    "archive-digest-mismatch": (
        f"The download was cut or changed on its way: press **Re-run failed jobs**. If it comes again, {_RERUN}, and "
        "find out what replaced the artifact."
    ),
    "archive-invalid": (
        "Upload the bundle's folder with `actions/upload-artifact`, without `archive: false` and unencrypted, then "
        f"{_RERUN}."
    ),
    "archive-limits": (
        "Upload only the bundle's folder, and split a larger one into several artifacts. The README has the limits."
    ),
    "record-missing": (
        "Look whether that run got as far as this fixture, and whether the whole bundle folder is uploaded "
        f"(`records/` and `fixtures/`). Then {_RERUN}."
    ),
    "record-duplicate": "Let one job write each fixture id, and give every shard ids or an artifact of its own.",
    "record-invalid": (
        "Run `freeze-gate check` on the bundle in the job that wrote it: it names all that is wrong, with its place."
    ),
    "record-contradiction": (
        "Run `freeze-gate check` on the bundle, and let `freeze-gate sample`, `transport` and `oracle` write the "
        "record in place of a script of your own."
    ),
    "fixture-missing": (
        "Upload the whole bundle folder. The uploader skips folders that begin with a dot unless "
        "`include-hidden-files: true`: keep the bundle out of them."
    ),
    "fixture-digest-mismatch": (
        "Something rewrote the file after it was pinned, most often a conversion of line ends: upload the bundle as "
        "`freeze-gate pin` wrote it, and mark a fixture folder in git with `-text` in `.gitattributes`."
    ),
    "oracle-input-mismatch": "Let the oracle read `{fixture}` or `FREEZE_GATE_FIXTURE`, and pin once before it starts.",
    "run-mismatch": (
        "Let the capture steps run inside the job that uploads, so that the record carries that run's id, attempt and "
        "commit; never hand a bundle on from another run or attempt. Where shards were merged after some of them ran "
        "again, they are of several attempts: press **Re-run jobs** for all."
    ),
    "commit-mismatch": (
        f"Compare two runs of one commit: {_RERUN} after the last push, so that both test the same code."
    ),
    "oracle-egress": (
        "Make the oracle read the pinned file alone. `freeze-gate oracle` without `--allow-egress` shows what it "
        "tries to reach."
    ),
    "oracle-unsealed": (
        "Run the oracle with `freeze-gate oracle`, without `--allow-egress`, on a runner that allows network "
        "namespaces."
    ),
    "pin-partial": (
        f"Sample again until an answer arrives whole: {_RERUN}, without `freeze-gate replay` of the truncated sample."
    ),
    "earlier-fail": (
        "A fail cannot be rerun away: open the attempt that failed, in the list below, and read what its oracle says. "
        "If an attempt's evidence could not be read, upload it again in a new run."
    ),
}

_ONE_ATTEMPT: Final = (
    "There has been only one attempt of this run. If the rerun is its second attempt, press **Re-run jobs**, then "
    "**Re-run failed jobs**, on the run's page. If the rerun is a job of its own, look why it was skipped or uploaded "
    "nothing."
)
_OTHER_ATTEMPT_GONE: Final = (
    "Look in the log of the attempt that left nothing: it was skipped, cancelled or ended before its upload. If it did "
    "upload, see that the gate's job has `actions: read`, and that the artifact's name has `{attempt}` in it on both "
    "sides, so that no attempt takes another's place. Then press **Re-run jobs**, until both sides have left evidence."
)
_FROZEN: Final = "Nothing to press: a reviewer's freeze mutes this until its last day. Use the time to repair the lane."
_POLICY_FIRST: Final = (
    "Put right first what keeps the policy file from being used, as said below: until then no freeze counts."
)
_ENTRY_STANDS: Final = (
    "Repair the lane that failed, or let a reviewer change the freeze that is there already, as said below."
)
_UNPROVEN: Final = (
    "Get one oracle to pass on these bytes first: no oracle did, so nothing shows that the patch works, and a freeze "
    f"would not mute this. Repair the oracle's step, then {_RERUN}."
)


def why(verdict: Verdict) -> str:
    """Say in a sentence why a pair is what it is, with what exactly was seen where a check failed: no Markdown.

    What was seen may quote a stranger: escape it for the place where it is shown.
    """
    sentence = WHY[verdict.reason]
    return f"{sentence.removesuffix('.')} ({seen(verdict.findings[0])})." if verdict.findings else sentence


def seen(finding: Finding) -> str:
    """Say where a check failed and what it saw, which may quote a stranger."""
    return f"{_SIDES[finding.side]}{finding.detail}"


def next_step(case: Case, result: Result) -> str:
    """Say what to press or paste next, for the deciding pair."""
    pair = case.pairs[result.deciding]
    if result.reason == "artifact-missing":
        return _missing(pair)
    if result.freeze_allowed:
        return _flake(case, result, pair)
    return NEXT[result.reason]


def _flake(case: Case, result: Result, pair: Pair) -> str:
    status = result.verdict.freeze_status
    if result.freeze_active:
        return _FROZEN
    if case.policy.state == "unusable":
        return _POLICY_FIRST
    if not proven(pair):
        return _UNPROVEN
    return _ENTRY_STANDS if status and status.state in ENTRY_IN_THE_WAY else NEXT["transport-fault"]


def proven(pair: Pair) -> bool:
    """Whether an oracle of the pair passed: without one, nothing shows that the patch works."""
    return any(side.record and side.record.oracle_passed for side in (pair.first, pair.rerun))


def _missing(pair: Pair) -> str:
    """In the first week most missing artifacts are attempts that nobody made, or that took each other's place."""
    runs = {side.run_id for side in (pair.first, pair.rerun)}
    newest = max(side.source.newest_attempt or 0 for side in (pair.first, pair.rerun))
    if len(runs) > 1 or not newest:
        return NEXT["artifact-missing"]
    return _ONE_ATTEMPT if newest == 1 else _OTHER_ATTEMPT_GONE
