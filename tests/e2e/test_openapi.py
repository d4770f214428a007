"""Our client and the stand-in, held against GitHub's published OpenAPI document, and against its official client."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.builders.bundle import make_capture
from tests.builders.record import OTHER_SAMPLE
from tests.standin import Grant, Standin
from tests.support.gate_job import Job

HERE = Path(__file__).parent
MISS = (make_capture(oracle=False), make_capture(oracle=False))
DRIFT = (make_capture(oracle=False), make_capture(pin=OTHER_SAMPLE))
FLAKE = (make_capture(oracle=None, transport=False), make_capture())
CLASSES = {"property_miss": MISS, "fixture_drift": DRIFT, "harness_flake": FLAKE}


class Proxy:
    """A validating proxy. `url` is its address; `heard` takes the exchanges since the last call."""

    def __init__(self) -> None:
        command = ["node", str(HERE / "openapi" / "proxy.mjs")]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = str(self._line()["url"])

    def forward_to(self, github: Standin) -> None:
        """Forward to a stand-in, whose links then lead back through the proxy."""
        assert self._process.stdin
        print(github.url, file=self._process.stdin, flush=True)
        github.rest.shapes.api = self.url

    def heard(self, github: Standin) -> list[dict[str, Any]]:
        """Return as many exchanges as the stand-in has answered."""
        return [self._line() for _ in github.asked()]

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout
        return dict(json.loads(self._process.stdout.readline()))


@pytest.fixture(scope="module")
def proxy() -> Iterator[Proxy]:
    """Start a proxy, which takes a while: the document is large."""
    proxy = Proxy()
    yield proxy
    proxy.close()


@pytest.fixture
def job(proxy: Proxy, tmp_path: Path) -> Iterator[Job]:
    """Set up a job whose GitHub is behind the proxy; at the end nobody may have broken the document's word."""
    with Standin() as github:
        proxy.forward_to(github)
        job = Job(tmp_path, github)
        job.environ["GITHUB_API_URL"] = proxy.url
        yield job
        heard = proxy.heard(github)
    assert heard
    assert [exchange for exchange in heard if exchange["problems"]] == []


@pytest.mark.parametrize("failure_class", CLASSES)
def test_a_verdict_and_what_is_posted(job: Job, failure_class: str) -> None:
    """Listing, download, policy, pull request, label, ticket: as the document has them, asked and answered."""
    job.pair(*CLASSES[failure_class])
    assert job.gate().said[0] == failure_class


def test_a_ticket_that_is_found_again(job: Job) -> None:
    """The second sighting is an update; the listings that find the ticket have several pages."""
    for number in range(120):
        job.repository.add_issue(f"Issue {number}")
    job.pair(*DRIFT)
    first, second = job.gate(), job.gate()
    assert first.outputs["issue-number"] == second.outputs["issue-number"] != ""


def test_a_policy_that_mutes(job: Job) -> None:
    """A policy file is read as the contents API has it."""
    job.repository.add_file(".github/freeze-gate.yml", b"schema: freeze-gate/policy/1\nfreezes: []\n")
    job.pair(*FLAKE)
    assert job.gate().said == ("harness_flake", True, "transport-fault")


def test_attempts_that_only_their_times_tell_apart(job: Job) -> None:
    """The attempts' own times are asked for, and the listing is paged."""
    job.attempts(3)
    for number in range(130):
        job.upload(f"noise-{number}", make_capture())
    for attempt in (1, 2, 3):
        job.upload("capture", make_capture(attempt, oracle=False), attempt=attempt)
    assert job.gate(first_artifact="capture", rerun_artifact="capture").said[0] == "property_miss"


def test_a_pull_request_that_is_found_by_its_head(job: Job) -> None:
    """Without a number from the event the head's owner and branch are asked for."""
    job.happens("push", {})
    job.environ["GITHUB_REF"] = "refs/heads/patch"
    job.environ["GITHUB_SHA"] = job.pull.head_sha
    job.pair(*FLAKE)
    assert job.gate().said[0] == "harness_flake"


@pytest.mark.parametrize("denied", ["actions", "contents", "issues", "pull_requests"])
def test_refusals(job: Job, denied: str) -> None:
    """What a token may not do is refused as the document has it."""
    job.pair(*FLAKE)
    limited = job.github.grant("ghs_limited", Grant(**{denied: "none"}))
    assert job.gate(github_token=limited).code in {1, 3}


CLIENT = """
import { DefaultArtifactClient } from "@actions/artifact";
const client = new DefaultArtifactClient();
const [owner, name] = process.env.GITHUB_REPOSITORY.split("/");
const findBy = {
  token: process.env.TOKEN, workflowRunId: 4242, repositoryOwner: owner, repositoryName: name,
};
const { artifacts } = await client.listArtifacts({ findBy });
const { downloadPath, digestMismatch } = await client.downloadArtifact(artifacts[0].id, {
  findBy, path: process.env.FOLDER, expectedHash: artifacts[0].digest,
});
console.log("LISTED " + JSON.stringify({ artifacts, downloadPath, digestMismatch }));
"""


def test_the_official_client_lists_and_downloads(job: Job, tmp_path: Path) -> None:
    """`@actions/artifact` reads from the stand-in over REST what we read from it, digest included."""
    job.pair(*MISS)
    environ = {"PATH": os.environ["PATH"], "GITHUB_API_URL": job.environ["GITHUB_API_URL"], "TOKEN": job.github.token}
    environ |= {"GITHUB_REPOSITORY": "octo-org/widgets", "FOLDER": str(tmp_path / "first")}
    command = ["node", "--input-type=module", "--eval", CLIENT]
    done = subprocess.run(command, cwd=HERE, env=environ, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    listed = json.loads(done.stdout.rpartition("LISTED ")[2])
    assert {artifact["name"] for artifact in listed["artifacts"]} == {"first", "rerun"}
    assert listed["digestMismatch"] is False
    assert list(tmp_path.glob("first/**/records/sorted-patch.json"))
