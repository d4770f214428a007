"""Every call of a drift and of a flake, met by every trouble: no verdict or the right one, and nothing half said."""

import re
import resource
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from freeze_gate.github.client import MAX_RESPONSE_BYTES
from tests.builders.pairs import CLASSES, FLAKE
from tests.builders.policy import POLICY_PATH, make_policy
from tests.standin import Fault, Standin
from tests.support.gate_job import GateResult, Job, api_calls


class Scene(NamedTuple):
    """What is judged: a class, and whether there is a policy file, which then is about another digest."""

    name: str
    with_policy: bool = False

    def prepare(self, job: Job) -> None:
        """Make it so."""
        job.pair(*CLASSES[self.name][0])
        if self.with_policy:
            job.repository.add_file(POLICY_PATH, make_policy(fixture_sha256="f" * 64))


SCENES = (Scene("fixture_drift"), Scene("harness_flake"), Scene("harness_flake", with_policy=True))


class Call(NamedTuple):
    """One call of a run: the host, the method, a pattern of its path, and which of several alike it is."""

    host: str
    method: str
    pattern: str
    place: int

    @property
    def is_evidence(self) -> bool:
        """Whether the verdict needs it."""
        return self.host == "blob" or "/artifacts" in self.pattern

    def __str__(self) -> str:
        """Name it for the test's id."""
        path = re.sub(r"\\|\$|.*/widgets/|[0-9]{6,}", "", self.pattern) or self.host
        return f"{self.method}-{path}-{self.place}"


PARTS = {
    "fixture_drift": [
        *[("GET", r"/actions/runs/4242/artifacts$", 1), ("GET", r"/artifacts/[0-9]+/zip$", 1)],
        *[("GET", r"/artifacts/[0-9]+/zip$", 2), ("GET", r"/issues$", 1), ("GET", r"/issues$", 2)],
        *[("POST", r"/issues$", 1), ("GET", r"/issues$", 3)],
    ],
    "harness_flake": [
        *[("GET", r"/actions/runs/4242/artifacts$", 1), ("GET", r"/artifacts/[0-9]+/zip$", 1)],
        *[("GET", r"/artifacts/[0-9]+/zip$", 2), ("GET", r"/contents/\.github/freeze-gate\.yml$", 1)],
        *[("GET", r"/pulls/12$", 1), ("POST", r"/issues/12/labels$", 1)],
    ],
}
"""The calls of the API by class, in order; the root of the repository is listed where there is no policy."""

TROUBLE = {
    **{kind: Fault(kind) for kind in ("refuse", "reset", "cut")},
    **{str(status): Fault("status", status=status) for status in (401, 403, 404, 500, 502)},
}


def calls(scene: Scene) -> Iterator[Call]:
    """Name every call of a run: of the API, and of the blob host."""
    for method, pattern, place in PARTS[scene.name]:
        yield Call("api", method, pattern, place)
    if scene.name == "harness_flake" and not scene.with_policy:
        yield Call("api", "GET", r"/contents/$", 1)
    yield from (Call("blob", "GET", "", place) for place in (1, 2))


MATRIX = [
    pytest.param(scene, call, trouble, id=f"{scene.name}{'-policy' * scene.with_policy}-{call}-{trouble}")
    for scene in SCENES
    for call in calls(scene)
    if not scene.with_policy or "contents" in call.pattern  # all else is as it is without
    for trouble in TROUBLE
    if (trouble, call.pattern[-5:]) != ("cut", "/zip$")  # a redirect has no body that could be cut
]


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_the_list_of_calls_is_that_of_a_real_run(job: Job, scene: Scene) -> None:
    """The matrix below leaves no call out."""
    scene.prepare(job)

    job.gate()

    listed = list(calls(scene))
    assert len(job.github.log) == len(listed)
    for call in listed:
        alike = [each for each in job.github.log if call.host == each.host and call.method == each.method]
        assert len([each for each in alike if re.search(call.pattern, each.path)]) >= call.place


@pytest.mark.parametrize(("scene", "call", "trouble"), MATRIX)
def test_trouble_at_any_call_gives_no_verdict_or_the_right_one(
    job: Job, scene: Scene, call: Call, trouble: str
) -> None:
    """Four lines; never a wrong class, never a request without the evidence; the right exit code; no traceback."""
    scene.prepare(job)
    fault = TROUBLE[trouble]
    job.github.fault(
        Fault(fault.kind, call.method, call.pattern, host=call.host, first=call.place, status=fault.status)
    )

    outcome = job.gate()

    if call.is_evidence:
        lost = trouble == "404" and call.pattern.endswith("/zip$")
        assert outcome.said == ("unclassified", False, "artifact-missing" if lost else "")
        assert outcome.code == (1 if lost else 3)
        assert {request.method for request in job.github.log} == {"GET"}
    else:
        assert outcome.said == (scene.name, scene.name == "harness_flake", CLASSES[scene.name][1])
        assert outcome.code == 1
    assert_sound(job.github, outcome)
    assert_posted_as_said(job, outcome, call)


def assert_sound(github: Standin, outcome: GateResult) -> None:
    """Fail where a bug or a secret shows."""
    shown = outcome.log + outcome.summary + "".join(outcome.outputs.values()) + (outcome.verdict or b"").decode()
    assert "Traceback" not in shown
    assert "error in Freeze Gate itself" not in shown
    for secret in [github.token, *github.storage.signatures()]:
        assert secret not in shown


def assert_posted_as_said(job: Job, outcome: GateResult, call: Call) -> None:
    """Fail where a label or a ticket is there and not said, or said and not there, or there twice."""
    labelled = job.pull.issue.labels == ["freeze-request"]
    tickets = [issue for issue in job.repository.issues.values() if not issue.pull and issue.state == "open"]
    assert len(tickets) <= 1
    if outcome.outputs["label-posted"] == "true":
        assert labelled
    if outcome.outputs["issue-number"]:
        assert tickets
        assert outcome.outputs["issue-number"] == str(tickets[0].number)
    if not (labelled or tickets):
        assert outcome.outputs["label-posted"] == "false"
        assert outcome.outputs["issue-number"] == ""
    warned = [level for level, _ in outcome.annotations if level == "warning"]
    if outcome.code == 1 and not call.is_evidence and not (labelled or tickets):
        assert warned, "what could not be posted is said"


def test_a_server_that_speaks_no_http_is_a_wrong_input(job: Job) -> None:
    """Exit 2 at once, although there is time to wait; the four lines are there."""
    SCENES[0].prepare(job)
    job.github.fault(Fault("no-http"))

    outcome = job.gate(wait_seconds="60")

    assert (outcome.said, outcome.code) == (("unclassified", False, ""), 2)
    assert "GitHub does not speak HTTP" in outcome.text
    assert len(job.github.log) == 1
    assert_sound(job.github, outcome)


@pytest.mark.parametrize("scene", SCENES[:2], ids=str)
def test_a_renamed_repository_keeps_its_label_and_its_ticket(job: Job, scene: Scene) -> None:
    """The workflow still knows the old name: everything is read, posted and said as before."""
    scene.prepare(job)
    job.github.rename(job.repository.full_name, "octo-org/gadgets")

    outcome = job.gate()

    assert outcome.said == (scene.name, scene.name == "harness_flake", CLASSES[scene.name][1])
    assert bool(job.pull.issue.labels) == (scene.name == "harness_flake")
    assert bool(outcome.outputs["issue-number"]) == (scene.name == "fixture_drift")
    assert "warning" not in [level for level, _ in outcome.annotations]


def test_memory_that_is_used_up_is_named(job: Job) -> None:
    """A response of the longest length, made of nothing but empty lists, on a small machine: no bug is reported."""
    SCENES[0].prepare(job)
    payload = b"[" + b"[]," * ((MAX_RESPONSE_BYTES - 10) // 3) + b"[]]"
    job.github.fault(Fault("status", "GET", "/artifacts$", status=200, payload=payload))

    process = job.start()
    resource.prlimit(process.pid, resource.RLIMIT_AS, (200 << 20, 200 << 20))
    outcome = job.end(process)

    assert (outcome.said, outcome.code) == (("unclassified", False, ""), 3)
    assert "memory is used up: give the job a larger machine" in outcome.text
    assert_sound(job.github, outcome)


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_a_verdict_takes_few_calls(job: Job, scene: Scene) -> None:
    """At most seven calls for a drift or a flake, with a policy file or without."""
    scene.prepare(job)

    job.gate()

    assert len(api_calls(job.github)) <= 7


@pytest.mark.parametrize("name", ["property_miss", "unclassified"])
@pytest.mark.parametrize("names", [("first", "rerun"), ("first-{attempt}", "rerun-{attempt}"), ("one", "one")])
def test_a_miss_or_a_split_takes_three_calls(job: Job, name: str, names: tuple[str, str]) -> None:
    """One listing serves both sides, and nothing is asked that does not matter."""
    job.attempts(2)
    first, rerun = CLASSES[name][0]
    for attempt in (1, 2) if names[0] != "one" else (1,):
        job.upload(names[0].replace("{attempt}", str(attempt)), first, attempt=attempt)
    for attempt in (1, 2) if names[0] != "one" else (2,):
        job.upload(
            names[1].replace("{attempt}", str(attempt)), rerun.changed(run={"run_attempt": attempt}), attempt=attempt
        )
    if "{attempt}" in names[0]:
        job.run.artifacts[1].content = job.run.artifacts[0].content  # never read

    outcome = job.gate(first_artifact=names[0], rerun_artifact=names[1])

    if names[0] == "one":
        assert outcome.said == (name, False, CLASSES[name][1])
    limit = {"first": 5, "one": 4}.get(names[0], 3)  # where names say no attempt, GitHub is asked when one began
    assert len(api_calls(job.github)) <= limit


def test_round_trips_of_a_flake(job: Job) -> None:
    """Where a policy exists, no more than five calls wait for one another."""
    SCENES[2].prepare(job)
    meetings = [
        job.github.fault(Fault("meet", "GET", pattern, host=host, parties=2))
        for host, pattern in (("api", r"/zip$"), ("blob", ""), ("api", r"/contents/|/pulls/"))
    ]

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert [meeting.times for meeting in meetings] == [0, 0, 0], "each two were under way at the same time"
    assert len(job.github.log) - len(meetings) == 5


def test_a_policy_that_cannot_be_read_mutes_nothing(job: Job) -> None:
    """403, and the run says so loudly; the verdict is reached all the same."""
    job.pair(*FLAKE)
    job.repository.add_file(POLICY_PATH, make_policy())
    job.github.fault(Fault("status", "GET", "/contents/", status=403))

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert outcome.outputs["freeze-active"] == "false"
    assert outcome.code == 1
    assert any("policy" in message for level, message in outcome.annotations if level == "warning")


@pytest.mark.parametrize(
    ("policy", "egress", "expected"),
    [
        (b"require: {sealed_oracle: true}", "open", ("unclassified", False, "oracle-unsealed")),
        (b"require: {sealed_oracle: true}", None, ("unclassified", False, "oracle-unsealed")),
        (b"require: {sealed_oracle: true}", "sealed", ("harness_flake", True, "transport-fault")),
        (b"require: {sealed_oracle: false}", "open", ("harness_flake", True, "transport-fault")),
        (b"unknown: key", "open", ("unclassified", False, "oracle-unsealed")),
        (b"unknown: key", "sealed", ("harness_flake", True, "transport-fault")),
    ],
)
def test_a_policy_that_requires_a_sealed_oracle_is_obeyed(
    job: Job, policy: bytes, egress: str | None, expected: tuple[str, bool, str]
) -> None:
    """What the file says reaches the check; a file that cannot be used counts as requiring it."""
    job.pair(FLAKE[0], FLAKE[1].changed(oracle={"egress": egress}))
    job.repository.add_file(POLICY_PATH, b"schema: freeze-gate/policy/1\n" + policy + b"\n")

    assert job.gate().said == expected


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        (b"\xef\xbb\xbf# \xc3\xa9\xff\n" + make_policy(), "is not UTF-8 from here"),
        (make_policy(owner="\u200b\u3164"), "freezes[0].owner: must be words on one line, and not blank"),
    ],
    ids=["no UTF-8 behind a byte-order mark", "an owner that nobody can see"],
)
def test_a_policy_that_cannot_be_used_leaves_the_verdict_and_mutes_nothing(
    job: Job, policy: bytes, problem: str
) -> None:
    """The run says so with the line; the flake stays a request."""
    job.pair(*FLAKE)
    job.repository.add_file(POLICY_PATH, policy)

    outcome = job.gate()

    assert (outcome.said, outcome.code) == (("harness_flake", True, "transport-fault"), 1)
    assert outcome.outputs["freeze-active"] == "false"
    (warning,) = (text for level, text in outcome.annotations if level == "warning")
    assert f"{POLICY_PATH}:1: " in warning
    assert problem in warning


def test_an_active_freeze_mutes_and_posts_nothing(job: Job) -> None:
    """Exit 0, `freeze-active`, and no label."""
    job.pair(*FLAKE)
    job.repository.add_file(POLICY_PATH, make_policy(pull_request=12))

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert outcome.outputs["freeze-active"] == "true"
    assert outcome.code == 0
    assert not job.pull.issue.labels
    assert [level for level, _ in outcome.annotations] == ["notice"]


def test_the_policy_of_the_patch_and_of_its_base_does_not_count(job: Job) -> None:
    """Only the default branch's file is a reviewer's."""
    job.pair(*FLAKE)
    job.pull.base_ref = "patch-base"
    for branch in ("patch", "patch-base"):
        job.repository.add_file(POLICY_PATH, make_policy(), branch=branch)
    (job.workspace / ".github").mkdir()
    (job.workspace / POLICY_PATH).write_bytes(make_policy())

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert outcome.outputs["freeze-active"] == "false"
    assert outcome.code == 1
