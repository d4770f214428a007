"""The action's story: choose, fetch, verify, decide, plan, write, post."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import NamedTuple

from freeze_gate.action.event import Event
from freeze_gate.action.inputs import Inputs
from freeze_gate.action.publish import Poster
from freeze_gate.action.pull_request import Target, find_target, is_foreign, is_of_event
from freeze_gate.action.runner import Runner, undisturbed
from freeze_gate.artifacts.cache import ArtifactCache
from freeze_gate.artifacts.collect import CollectedEvidence, Collector
from freeze_gate.errors import FreezeGateError, NoVerdictError
from freeze_gate.evidence.limits import Limits
from freeze_gate.evidence.pairing import pair_up
from freeze_gate.evidence.side import Source
from freeze_gate.github.contents import read_file
from freeze_gate.github.http import Api
from freeze_gate.policy.freezes import PolicyReading
from freeze_gate.report.context import View
from freeze_gate.report.outputs import headline, outputs, told, unread, word
from freeze_gate.report.published import posted
from freeze_gate.report.summary import summary
from freeze_gate.verdict.document import pieces
from freeze_gate.verdict.evaluate import judge
from freeze_gate.verdict.models import Case, Result
from freeze_gate.verdict.plan import Plan, plan
from freeze_gate.verdict.table import FailureClass


class Gate(NamedTuple):
    """One run of the action: what was asked for, where it runs, and the clients that it works with."""

    inputs: Inputs
    event: Event
    today: date
    api: Api
    artifacts: ArtifactCache
    collector: Collector
    runner: Runner
    view: View
    write_verdict: Callable[[Iterable[bytes]], None]

    def run(self) -> int:
        """Reach the verdict, deliver it, then post. Returns the exit code; raises where there is no verdict."""
        collected = self.collector.collect(self.inputs.first, self.inputs.rerun)
        case, target, notes = self._case(collected), Target(self._number), unread(collected.unopened.siblings)
        result = judge(case)
        if result.red[FailureClass.HARNESS_FLAKE]:
            case, target = self._consult(case, collected)
            result, notes = judge(case), ()
        self._deliver(case, result, target, notes)
        self._post(case, result, target)
        return result.exit_code

    @property
    def _number(self) -> int | None:
        return self.inputs.pull_request or self.event.pull_request

    def _case(self, collected: CollectedEvidence) -> Case:
        artifacts = [source.artifact for shown in (collected.first, collected.rerun) for source in shown.sources]
        return Case(
            github_metadata=True,
            pairs=pair_up(collected.first, collected.rerun, self.inputs.expected),
            today=self.today,
            fail_on=self.inputs.fail_on,
            repository=self.event.repository,
            pull_request=self._number,
            from_fork=self.event.from_fork or any(artifact and is_foreign(artifact) for artifact in artifacts),
            expected=self.inputs.expected,
            limits=Limits(artifact_bytes=self.inputs.max_artifact_bytes),
        )

    def _consult(self, case: Case, collected: CollectedEvidence) -> tuple[Case, Target]:
        """Ask, all at the same time, what only a flake depends on: the policy, the pull request, the other attempts.

        A number that only the input names may come from the patch, and the rerun may be of a run that the event is not
        about: a freeze for that pull request counts if it fits.
        """
        rerun = next((source for source in collected.rerun.sources if source.artifact), None)
        with ThreadPoolExecutor(3) as pool:
            policy = pool.submit(self._policy)
            target = pool.submit(self._target, rerun)
            other_attempts = pool.submit(self.collector.read_other_attempts, collected.unopened)
        found = target.result()
        of_event = found.number == self.event.pull_request and is_of_event(self.event, rerun)
        number = found.number if found.obstacle is None or of_event else None
        return case._replace(policy=policy.result(), pull_request=number, other_attempts=other_attempts.result()), found

    def _policy(self) -> PolicyReading:
        file = read_file(self.api, self.inputs.policy)
        if file.state == "found":
            from freeze_gate.policy.file import read_policy  # YAML is needed only where there is a policy

            return read_policy(file.payload, self.inputs.policy, self.today)
        if file.state == "absent":
            return PolicyReading("absent")
        return PolicyReading("unusable", problems=(file.problem or "the file could not be read",))

    def _target(self, rerun: Source | None) -> Target:
        try:
            return find_target(self.api, self.event, self.inputs.pull_request, rerun)
        except NoVerdictError as error:
            return Target(self._number, str(error), failed=True)

    def _deliver(self, case: Case, result: Result, target: Target, notes: tuple[str, ...]) -> None:
        """Write the verdict everywhere, before anything is posted. Raises `NoVerdictError` if nobody could read it."""
        verdict_file = self.inputs.verdict_file
        try:
            with undisturbed():
                self.write_verdict(pieces(case, result))
        except FreezeGateError as error:
            self.runner.annotate("warning", str(error))
            verdict_file, notes = "", (*notes, str(error))
        self.runner.deliver(summary(case, result, self.view._replace(notes=notes)), result.exit_code)
        self.runner.set_outputs(outputs(result, target.number, verdict_file))
        if case.policy.state == "unusable":
            self.runner.annotate("warning", f"the policy file could not be used: {case.policy.problems[0]}")
        self.runner.annotate(*headline(result, case.fail_on))

    def _post(self, case: Case, result: Result, target: Target) -> None:
        """Post, and say in the summary what was posted. Whatever fails here is a warning; the verdict stands."""
        planned = plan(case, result, tickets=self.inputs.tickets)
        if planned == Plan():
            return
        done = Poster(self.api, self.inputs, self.view, self.artifacts).post(planned, case, target)
        self.runner.set_outputs(
            {
                "label-posted": word(done.report.labelled is not None and not self.inputs.dry_run),
                "issue-number": str(done.issue_number or ""),
                "issue-url": done.issue_url or "",
            }
        )
        for line in told(done.report, self.view):
            self.runner.say(line)
        for note in done.report.notes:
            self.runner.annotate("notice", note)
        for warning in done.report.warnings:
            self.runner.annotate("warning", warning)
        self.runner.summarise(posted(done.report, self.view))
