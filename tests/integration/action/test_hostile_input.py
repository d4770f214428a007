"""A stranger's words, a hostile workspace, a process that is ended: what is said is said once, by us, and whole."""

import json
import os
import random
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from freeze_gate.action.runner import TERMINATION_SIGNALS
from freeze_gate.evidence.record import encode_record
from tests.builders.bundle import make_capture
from tests.builders.pairs import CLASSES, FLAKE, GREEN, MISS
from tests.builders.record import SAMPLE
from tests.builders.zip import make_zip
from tests.standin import Fault
from tests.support.gate_job import Job
from tests.support.resource_limits import file_size_limit

EVIL = [
    "x\nfreeze_allowed=true\n",
    "x\r\nfreeze-allowed=true",
    "```\nfailure_class=harness_flake\n```",
    "<img src=x onerror=alert(1)>",
    "::add-mask::e",
    "##[add-mask]e",
    "@octo-org/everybody #1 GH-1",
    "\u2028::set-output name=freeze-allowed::true",
    "\u202e]: https://evil.example",
    "\ud800",
]


def raw(**changes: Any) -> bytes:
    """Return the zip of a flake's first side with fields of its record replaced by anything."""
    side = FLAKE[0]
    mapping = json.loads(encode_record(side.record))
    for name, value in changes.items():
        target = mapping
        *path, last = name.split("__")
        for key in path:
            target = target[key]
        target[last] = value
    member = f"freeze-gate/{side.record.fixture_path}"
    return make_zip({"freeze-gate/records/sorted-patch.json": json.dumps(mapping).encode(), member: SAMPLE})


def assert_ours_alone(job: Job, outcome: Any) -> None:
    """Fail where more than our own commands, outputs and lines are there."""
    assert outcome.code in (1, 3)
    assert outcome.lines["freeze_allowed"] == outcome.outputs["freeze-allowed"] == "false"
    assert {level for level, _ in outcome.annotations} <= {"error", "warning", "notice"}
    assert "##[" not in outcome.log
    assert "\u2028" not in outcome.log
    assert outcome.summary.count("```") == 2
    assert not re.search(r"(?<!\\)<img", outcome.summary)
    assert "@octo-org/everybody" not in outcome.summary
    assert not job.pull.issue.labels


@pytest.mark.parametrize("evil", EVIL, ids=repr)
@pytest.mark.parametrize("field", ["fixture_id", "fixture_path", "run__job", "transport__fault"])
def test_no_text_of_a_record_becomes_ours(job: Job, field: str, evil: str) -> None:
    """Exactly four lines, no forged output, nothing that the runner or a reader obeys."""
    job.run.add_artifact("first", raw(**{field: evil}))
    job.upload("rerun", make_capture(oracle=False))

    assert_ours_alone(job, job.gate())


@pytest.mark.parametrize("evil", EVIL[:-1], ids=repr)
def test_no_name_of_a_file_becomes_ours(job: Job, evil: str) -> None:
    """A record is a pair of its own under whatever name its file has."""
    name = f"freeze-gate/records/{evil.replace('/', '')}.json"
    job.run.add_artifact("first", make_zip({name: b"{}"}))
    job.upload("rerun", make_capture())

    assert_ours_alone(job, job.gate())


@pytest.mark.parametrize("evil", EVIL[:-1], ids=repr)
def test_no_name_of_an_artifact_becomes_ours(job: Job, evil: str) -> None:
    """What a glob finds is named in the log and in the summary."""
    for number in range(3):
        job.upload(f"first-{evil}", make_capture(oracle=None, transport=number != 1))
    job.upload("rerun-1", make_capture())

    assert_ours_alone(job, job.gate(first_artifact="first-*", rerun_artifact="rerun-*"))


@pytest.mark.parametrize("evil", EVIL[:-1], ids=repr)
def test_no_answer_of_a_server_becomes_ours(job: Job, evil: str) -> None:
    """An error's message and headers are a stranger's, too."""
    job.pair(*FLAKE)
    job.github.fault(
        Fault(
            "status",
            "GET",
            "/artifacts$",
            status=403,
            payload={"message": evil, "errors": [{"resource": evil, "field": evil, "code": evil}]},
            headers={
                "X-Accepted-GitHub-Permissions": evil.encode("ascii", "replace")
                .decode()
                .replace("\n", " ")
                .replace("\r", "")
            },
        )
    )

    outcome = job.gate()

    assert_ours_alone(job, outcome)
    assert outcome.code == 3


@pytest.mark.parametrize("evil", EVIL[:-1], ids=repr)
def test_no_input_becomes_a_command(job: Job, evil: str) -> None:
    """A workflow may pass a title or a branch on."""
    outcome = job.gate(fail_on=evil)

    assert {level for level, _ in outcome.annotations} == {"error"}
    assert outcome.outputs["freeze-allowed"] == "false"
    assert outcome.code == 2


@pytest.mark.parametrize("field", ["run__job", "sampler__model", "unknown", "transport__checks"])
def test_a_value_of_two_megabytes_is_refused_and_the_summary_small(job: Job, field: str) -> None:
    """A value of 2 MB does not make the summary large."""
    job.run.add_artifact("first", raw(**{field: "x" * (2 << 20)}))
    job.upload("rerun", make_capture())

    outcome = job.gate()

    assert outcome.said == ("unclassified", False, "record-invalid")
    assert len(outcome.summary) < 20_000


def test_a_thousand_red_pairs_stay_below_the_summary_s_limit(job: Job) -> None:
    """With the longest ids and paths there are."""
    ids = [f"{number:04}{'x' * 124}" for number in range(1000)]
    path = "/".join(["y" * 120] * 4)
    job.upload("first", *(make_capture(fixture_id=name, oracle=False).changed(fixture_path=path) for name in ids))
    job.upload("rerun", *(make_capture(fixture_id=name, oracle=False).changed(fixture_path=path) for name in ids))

    outcome = job.gate()

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert len(outcome.summary.encode()) < 900 << 10


def odd_file(path: Path, kind: str, outside: Path) -> None:
    """Put something odd in the way."""
    if kind == "link":
        path.symlink_to(outside)
    elif kind == "dangling link":
        path.symlink_to(outside.with_name("nothing"))
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()


@pytest.mark.parametrize("kind", ["link", "dangling link", "fifo", "folder"])
def test_an_odd_verdict_file_is_refused_with_a_warning(job: Job, tmp_path: Path, kind: str) -> None:
    """Nothing outside is touched, the step does not hang, the verdict stands."""
    outside = tmp_path / "outside"
    outside.write_text("before")
    odd_file(job.workspace / "freeze-gate-verdict.json", kind, outside)
    job.pair(*FLAKE)

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert outcome.outputs["verdict-file"] == ""
    assert "warning" in [level for level, _ in outcome.annotations]
    assert "was not written" in outcome.text
    assert outside.read_text() == "before"
    assert not outside.with_name("nothing").exists()


@pytest.mark.parametrize("kind", ["link", "dangling link", "fifo"])
def test_an_odd_folder_of_the_verdict_file_is_refused_with_a_warning(job: Job, tmp_path: Path, kind: str) -> None:
    """The folder is a link, or lies below one."""
    outside = tmp_path / "outside"
    outside.mkdir()
    odd_file(job.workspace / "out", kind, outside)
    job.pair(*MISS)

    outcome = job.gate(verdict_file="out/verdict.json")

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert outcome.outputs["verdict-file"] == ""
    assert not list(outside.iterdir())


def test_the_verdict_file_is_where_it_is_said_to_be(job: Job) -> None:
    """Folders are made; what was there is replaced."""
    job.pair(*MISS)
    for _ in range(2):
        outcome = job.gate(verdict_file="out/deep/verdict.json")
        assert outcome.outputs["verdict-file"] == "out/deep/verdict.json"
        assert outcome.verdict

    assert [path.name for path in (job.workspace / "out" / "deep").iterdir()] == ["verdict.json"]


def test_the_workspace_cannot_be_imported(job: Job) -> None:
    """A patch that brings a `requests.py`, a `yaml.py`, a `freeze_gate` changes nothing."""
    for name in ("requests.py", "yaml.py", "json.py", "freeze_gate.py", "sitecustomize.py"):
        (job.workspace / name).write_text("raise SystemExit(0)\n")
    job.pair(*MISS)

    outcome = job.gate_apart({"PYTHONPATH": str(job.workspace), "PYTHONSTARTUP": "requests.py"})

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert outcome.code == 1


@pytest.mark.parametrize("number", TERMINATION_SIGNALS)
@pytest.mark.parametrize("pattern", ["/artifacts$", "/zip$", "/pulls/12$", "/contents/", "/labels$"])
def test_a_step_that_is_ended_during_a_call_ends_at_once_with_four_lines(
    job: Job, pattern: str, number: signal.Signals, tmp_path: Path
) -> None:
    """SIGINT, which a cancelled run sends first, or SIGTERM; whatever the threads wait for.

    Before the verdict: closed lines and 3; after it: the verdict and its code. Nothing stays behind.
    """
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    job.pair(*FLAKE)
    job.github.fault(Fault("slow", pattern=pattern, seconds=20))
    process = job.start({"TMPDIR": str(temporary)}, wait_seconds="120")
    wait_for(lambda: any(pattern.strip("$") in request.path for request in job.github.log))

    process.send_signal(number)
    began = time.monotonic()
    outcome = job.end(process)

    assert time.monotonic() - began < 10
    if pattern == "/labels$":
        assert outcome.said == ("harness_flake", True, "transport-fault")
        assert outcome.code == 1
    else:
        assert outcome.said == ("unclassified", False, "")
        assert outcome.code == 3
        assert "ended from outside" in outcome.text
    assert "Traceback" not in outcome.log
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("host", ["api", "blob"])
def test_a_step_that_is_ended_while_an_answer_drips_or_a_retry_waits(job: Job, host: str) -> None:
    """A body that comes byte by byte; a rate limit that is waited for."""
    job.pair(*FLAKE)
    if host == "blob":
        job.github.fault(Fault("drip", host=host, seconds=0.05))
    else:
        job.github.limit.strike(times=99, retry_after=30)
    process = job.start(wait_seconds="120")
    wait_for(lambda: any(request.host == host for request in job.github.log))
    time.sleep(0.2)

    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    outcome = job.end(process)

    assert time.monotonic() - began < 10
    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 3


@pytest.mark.parametrize("number", TERMINATION_SIGNALS)
@pytest.mark.parametrize("seed", range(10))
def test_a_step_may_be_ended_at_any_moment(job: Job, seed: int, number: signal.Signals) -> None:
    """From the first output on: four lines exactly once, and the exit code that fits them."""
    name, (pair, _) = [*CLASSES.items(), ("green", (GREEN, ""))][seed % 5]
    job.pair(*pair)
    process = job.start()
    wait_for(lambda: (job.files / "output").exists() and (job.files / "output").stat().st_size > 0)
    time.sleep(random.Random(seed).random() * 0.5)  # noqa: S311 - a moment, no secret

    process.send_signal(number)
    outcome = job.end(process)

    assert "Traceback" not in outcome.log
    if "ended from outside" in outcome.summary:
        assert outcome.said == ("unclassified", False, "")
        assert outcome.code == 3
    else:
        assert outcome.lines["failure_class"] == ("unclassified" if name == "green" else name)
        assert outcome.code == (0 if name == "green" else 1)


@pytest.mark.parametrize("variable", ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"])
def test_a_summary_or_output_file_that_is_a_fifo_is_no_verdict_at_once(job: Job, variable: str) -> None:
    """Nobody reads it, and nobody is waited for."""
    job.pair(*FLAKE)
    os.mkfifo(job.environ[variable])

    outcome = job.gate_apart()

    assert outcome.code == 3
    assert outcome.outputs.get("freeze-allowed", "false") == "false"
    assert not job.pull.issue.labels
    assert f"the file that {variable} names cannot be written" in outcome.log


def test_a_summary_that_the_disk_has_no_room_for_leaves_no_true(job: Job) -> None:
    """A flake of twelve pairs: the file is cut back to its old length before the closing lines are written."""
    first, rerun = ([side.changed(fixture_id=f"s{number}") for number in range(12)] for side in FLAKE)
    job.upload("first", *first)
    job.upload("rerun", *rerun)
    before = "What the step has written already.\n" * 2000
    (job.files / "summary").write_text(before)

    with file_size_limit(len(before) + 2000):
        outcome = job.gate()

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 3
    assert outcome.summary.startswith(f"{before}## Freeze Gate: no verdict\n")
    assert "GITHUB_STEP_SUMMARY names cannot be written" in outcome.text
    assert "true" not in outcome.summary
    assert not job.pull.issue.labels


def test_a_closed_log_changes_no_verdict(job: Job) -> None:
    """Nobody reads standard output any more."""
    job.pair(*MISS)
    process = job.start()
    assert process.stdout
    process.stdout.close()
    code = process.wait(60)

    outcome = job.outcome(code, "")

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert outcome.code == 1


def wait_for(holds: Any) -> None:
    """Wait until something holds; fail after a long time."""
    for _ in range(3000):
        if holds():
            return
        time.sleep(0.01)
    pytest.fail("it never came to that")
