"""What other tests rely on in the stand-in and cannot see for themselves."""

import base64
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.standin import Grant, Pretended, Standin
from tests.standin.artifact_service import SERVICE

ROOT = "/repos/octo-org/widgets"


class Bare(requests.auth.AuthBase):
    """Sends exactly the headers that the test gives."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Change nothing."""
        return request


@pytest.fixture
def session() -> Iterator[requests.Session]:
    """Return a session without a token."""
    with requests.Session() as client:
        client.auth = Bare()
        yield client


def ask(session: requests.Session, url: str, token: str | None, method: str = "GET", **sent: Any) -> requests.Response:
    """Send one request."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return session.request(method, url, headers=headers, allow_redirects=False, timeout=10, **sent)


@pytest.mark.parametrize(
    ("private", "actions", "listing", "download"),
    [
        (True, "read", 200, 302),
        (True, "none", 404, 404),
        (True, None, 404, 404),
        (False, "read", 200, 302),
        (False, "none", 200, 403),
        (False, None, 200, 401),
    ],
)
def test_what_a_token_may_see(  # noqa: PLR0917 - the facts of a row
    private: bool, actions: str | None, listing: int, download: int, github: Standin, session: requests.Session
) -> None:
    """Private things are not found, public listings are for all, a download always wants a token."""
    github.repository("octo-org/other", private=private).add_run(5).add_artifact("evidence", b"zip", id=9)
    token = github.grant("ghs_some", Grant(actions=actions)) if actions else None
    root = f"{github.url}/repos/octo-org/other/actions"
    assert ask(session, f"{root}/runs/5/artifacts", token).status_code == listing
    assert ask(session, f"{root}/artifacts/9/zip", token).status_code == download
    assert ask(session, f"{root}/artifacts/9/zip", "wrong").status_code == 401


def test_the_blob_host_refuses_a_token_and_an_old_link(
    github: Standin, session: requests.Session, pretended: Pretended
) -> None:
    """400 to any authorization, 403 to a link of yesterday, and another host name than the API's."""
    github.repository().add_run(5).add_artifact("evidence", b"zip", id=9)
    link = ask(session, f"{github.url}{ROOT}/actions/artifacts/9/zip", github.token).headers["location"]
    assert "127.0.0.1" not in link
    assert ask(session, link, github.token).status_code == 400
    assert ask(session, link, None).content == b"zip"
    pretended.sleep(61)
    assert ask(session, link, None).status_code == 403


def test_the_links_of_a_listing_lead_through_it(github: Standin, session: requests.Session) -> None:
    """`next` until the last page, which has none; the query is kept."""
    for index in range(5):
        github.repository().add_issue(f"Issue {index}")
    url, titles = f"{github.url}{ROOT}/issues?per_page=2&state=all", []
    while url:
        page = ask(session, url, github.token)
        titles += [issue["title"] for issue in page.json()]
        url = page.links.get("next", {}).get("url", "")
    assert titles == [f"Issue {index}" for index in (4, 3, 2, 1, 0)]


def test_the_label_filter_lags_until_it_is_told_to_catch_up(github: Standin, session: requests.Session) -> None:
    """The unfiltered listing knows at once, the filter only later."""
    repository = github.repository()
    repository.label_index_lags = True
    repository.add_issue("Labelled", labels=["bug"])
    filtered = f"{github.url}{ROOT}/issues?labels=bug"
    assert ask(session, filtered, github.token).json() == []
    assert len(ask(session, f"{github.url}{ROOT}/issues", github.token).json()) == 1
    repository.index()
    assert len(ask(session, filtered, github.token).json()) == 1


def test_a_label_is_created_once(github: Standin, session: requests.Session) -> None:
    """The second time GitHub says that it exists, whatever its case."""
    made = [
        ask(session, f"{github.url}{ROOT}/labels", github.token, "POST", json={"name": name})
        for name in ("freeze-request", "Freeze-Request")
    ]
    assert [answer.status_code for answer in made] == [201, 422]
    assert made[1].json()["errors"][0]["code"] == "already_exists"


def test_a_job_uploads_an_artifact_as_the_official_client_does(github: Standin, session: requests.Session) -> None:
    """Create, put two blocks and their list, finalize: it is listed over REST with its digest, and served."""
    run = github.repository().add_run(5)
    token = github.results.token(run)
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    backend, job = claims["scp"].split()[1].split(":")[1:]
    ids = {"workflow_run_backend_id": backend, "workflow_job_run_backend_id": job, "name": "first"}
    url = github.server_url + SERVICE

    made = ask(session, f"{url}CreateArtifact", token, "POST", json={**ids, "version": 7}).json()
    for name, block in (("AA==", b"one "), ("AQ==", b"two")):
        put = f"{made['signed_upload_url']}&comp=block&blockid={name}"
        assert ask(session, put, None, "PUT", data=block).status_code == 201
    blocks = b"<BlockList><Latest>AA==</Latest><Latest>AQ==</Latest></BlockList>"
    assert ask(session, f"{made['signed_upload_url']}&comp=blocklist", None, "PUT", data=blocks).status_code == 201
    digest = f"sha256:{hashlib.sha256(b'one two').hexdigest()}"
    sent = {**ids, "size": "7", "hash": digest}
    stored = ask(session, f"{url}FinalizeArtifact", token, "POST", json=sent).json()

    artifact = ask(session, f"{github.url}{ROOT}/actions/artifacts/{stored['artifact_id']}", github.token).json()
    assert (artifact["name"], artifact["digest"], artifact["size_in_bytes"]) == ("first", digest, 7)
    link = ask(session, f"{artifact['archive_download_url']}", github.token).headers["location"]
    assert ask(session, link, None).content == b"one two"
    again = ask(session, f"{url}CreateArtifact", token, "POST", json={**ids, "version": 7})
    assert again.status_code == 409


def test_it_runs_on_its_own(session: requests.Session, tmp_path: Path) -> None:
    """`python -m tests.standin` prints its addresses and tokens, serves what it was given, and ends when asked to."""
    zipped = tmp_path / "first.zip"
    zipped.write_bytes(b"zip")
    command = [sys.executable, "-m", "tests.standin", "--zip", f"first={zipped}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            started = json.loads(process.stdout.readline())
            listing = ask(session, f"{started['api']}{ROOT}/actions/runs/4242/artifacts", started["token"]).json()
        finally:
            process.terminate()
    assert [artifact["name"] for artifact in listing["artifacts"]] == ["first"]
    assert process.returncode == 0
