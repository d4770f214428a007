"""One run of the action: collect the evidence, evaluate it, report the verdict, publish what follows from it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import NamedTuple

from freeze_gate.action.event import Event
from freeze_gate.action.inputs import Inputs
from freeze_gate.action.publish import Publisher
from freeze_gate.action.pull_request import LabelTarget, find_label_target, is_from_fork, is_of_event
from freeze_gate.action.runner import Runner, termination_deferred
from freeze_gate.artifacts.cache import ArtifactCache
from freeze_gate.artifacts.collect import CollectedEvidence, Collector
from freeze_gate.errors import FreezeGateError, NoVerdictError
from freeze_gate.evidence.limits import Limits
from freeze_gate.evidence.models import Source
from freeze_gate.evidence.pairing import build_pairs
from freeze_gate.github.client import GitHubClient
from freeze_gate.github.contents import FileState, read_file
from freeze_gate.policy.freezes import PolicyReading
from freeze_gate.report.context import ReportContext
from freeze_gate.report.outputs import build_annotation, build_outputs, describe_unopened, format_bool, format_log_lines
from freeze_gate.report.published import render_published
from freeze_gate.report.summary import render_summary
from freeze_gate.verdict.document import encode
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.models import Case, Result
from freeze_gate.verdict.plan import Plan, plan
from freeze_gate.verdict.table import FailureClass


class Gate(NamedTuple):
    """The inputs, the event and the clients of one run of the action."""

    inputs: Inputs
    event: Event
    today: date
    client: GitHubClient
    artifacts: ArtifactCache
    collector: Collector
    runner: Runner
    report_context: ReportContext
    write_verdict: Callable[[bytes], None]

    def run(self) -> int:
        """Return the exit code. Raises `FreezeGateError` if there is no verdict."""
        evidence = self.collector.collect(self.inputs.first, self.inputs.rerun)
        case, target = self._case(evidence), LabelTarget(self._pull_request)
        result, notes = evaluate(case), (*evidence.notes, *describe_unopened(evidence.unopened.siblings))
        if result.red[FailureClass.HARNESS_FLAKE]:
            case, target = self._add_flake_facts(case, evidence)
            result, notes = evaluate(case), evidence.notes
        self._report(case, result, target, notes)
        self._publish(case, result, target)
        return result.exit_code

    @property
    def _pull_request(self) -> int | None:
        return self.inputs.pull_request or self.event.pull_request

    def _case(self, evidence: CollectedEvidence) -> Case:
        artifacts = [source.artifact for side in (evidence.first, evidence.rerun) for source in side.sources]
        return Case(
            github_metadata=True,
            pairs=build_pairs(evidence.first, evidence.rerun, self.inputs.expected),
            today=self.today,
            fail_on=self.inputs.fail_on,
            repository=self.event.repository,
            pull_request=self._pull_request,
            from_fork=self.event.from_fork or any(artifact and is_from_fork(artifact) for artifact in artifacts),
            expected=self.inputs.expected,
            limits=Limits(artifact_bytes=self.inputs.max_artifact_bytes),
        )

    def _add_flake_facts(self, case: Case, evidence: CollectedEvidence) -> tuple[Case, LabelTarget]:
        """Look up, at the same time, what matters only to a flake: the policy, the pull request, the other attempts.

        A freeze may name a pull request. The number from the input may be the patch's own choice, so it counts for a
        freeze only if the tested commit is the head of that pull request; the event's number counts for its own run.
        """
        rerun = next((source for source in evidence.rerun.sources if source.artifact), None)
        with ThreadPoolExecutor(3) as pool:
            policy = pool.submit(self._read_policy)
            lookup = pool.submit(self._find_label_target, rerun)
            other_attempts = pool.submit(self.collector.read_other_attempts, evidence.unopened)
        target = lookup.result()
        is_events_own = target.number == self.event.pull_request and is_of_event(self.event, rerun)
        case = case._replace(
            policy=policy.result(),
            pull_request=target.number if target.reason_not_labelled is None or is_events_own else None,
            other_attempts=other_attempts.result(),
        )
        return case, target

    def _read_policy(self) -> PolicyReading:
        file = read_file(self.client, self.inputs.policy)
        if file.state is FileState.FOUND:
            from freeze_gate.policy.file import read_policy  # YAML is needed only if there is a policy

            return read_policy(file.payload, self.inputs.policy, self.today)
        if file.state is FileState.ABSENT:
            return PolicyReading("absent")
        return PolicyReading("unusable", problems=(file.problem or "the file could not be read",))

    def _find_label_target(self, rerun: Source | None) -> LabelTarget:
        try:
            return find_label_target(self.client, self.event, self.inputs.pull_request, rerun)
        except NoVerdictError as error:
            return LabelTarget(self._pull_request, str(error), lookup_failed=True)

    def _report(self, case: Case, result: Result, target: LabelTarget, notes: tuple[str, ...]) -> None:
        """Write the verdict file, the summary, the outputs and the annotations. Raises `NoVerdictError`."""
        verdict_file = self.inputs.verdict_file
        try:
            with termination_deferred():  # no unfinished file is left behind
                self.write_verdict(encode(case, result))
        except FreezeGateError as error:
            self.runner.annotate("warning", str(error))
            verdict_file, notes = "", (*notes, str(error))
        context = self.report_context._replace(notes=notes)
        self.runner.write_verdict_summary(render_summary(case, result, context), result.exit_code)
        self.runner.set_outputs(build_outputs(result, target.number, verdict_file))
        if case.policy.state == "unusable":
            self.runner.annotate("warning", f"the policy file could not be used: {case.policy.problems[0]}")
        self.runner.annotate(*build_annotation(result, case.fail_on))

    def _publish(self, case: Case, result: Result, target: LabelTarget) -> None:
        """Publish what the plan says, and report it. A failure is a warning; the verdict stands."""
        planned = plan(case, result, tickets=self.inputs.tickets)
        if planned == Plan():
            return
        published = Publisher(self.client, self.inputs, self.report_context, self.artifacts).publish(
            planned, case, target
        )
        self.runner.set_outputs(
            {
                "label-posted": format_bool(
                    published.report.labelled_pull_request is not None and not self.inputs.dry_run
                ),
                "issue-number": str(published.issue_number or ""),
                "issue-url": published.issue_url or "",
            }
        )
        for line in format_log_lines(published.report, self.report_context):
            self.runner.log(line)
        for note in published.report.notes:
            self.runner.annotate("notice", note)
        for warning in published.report.warnings:
            self.runner.annotate("warning", warning)
        self.runner.append_summary(render_published(published.report, self.report_context))
