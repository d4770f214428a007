"""From the API to the blob host and back with verified bytes; the token and the signed link stay secrets."""

import hashlib
import io
import logging
import socket
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from freeze_gate.errors import NoVerdictError
from freeze_gate.evidence.models import Artifact
from freeze_gate.github.artifacts import list_artifacts
from freeze_gate.github.client import MAX_ATTEMPTS, GitHubClient
from freeze_gate.github.download import ArtifactDownloader
from freeze_gate.github.errors import (
    ApiError,
    ConnectionFailed,
    Forbidden,
    ServerError,
    Unauthorized,
    UnexpectedResponse,
)
from freeze_gate.github.session import Token
from tests.standin import Fault, Grant, Pretended, Standin
from tests.standin.state import Run

CAP = 1 << 20
BYTES = bytes(range(256)) * 300


@pytest.fixture
def run(github: Standin) -> Run:
    """Return a run."""
    return github.repository().add_run(4242)


@pytest.fixture
def downloader(client: GitHubClient) -> Iterator[ArtifactDownloader]:
    """Return the client under test, with a cap of one megabyte."""
    with ArtifactDownloader(client, CAP) as downloader:
        yield downloader


def listed(client: GitHubClient) -> Artifact:
    """Return the one artifact of the run."""
    (artifact,) = list_artifacts(client, 4242).artifacts
    return artifact


def test_the_bytes_arrive_and_the_token_goes_nowhere_else(
    run: Run, client: GitHubClient, downloader: ArtifactDownloader, github: Standin, caplog: pytest.LogCaptureFixture
) -> None:
    """The blob host would answer 400 to a token; no log holds the token or the signed link."""
    caplog.set_level(logging.INFO)
    run.add_artifact("evidence", BYTES)
    into = io.BytesIO()
    arrived = downloader.download(listed(client), into)
    assert (arrived.sha256, arrived.size, arrived.fault) == (hashlib.sha256(BYTES).hexdigest(), len(BYTES), None)
    assert into.getvalue() == BYTES
    (blob,) = [request for request in github.log if request.host == "blob"]
    assert "authorization" not in blob.headers
    assert blob.headers["host"].startswith("localhost:")
    assert not any(secret in caplog.text for secret in [github.token, *github.storage.signatures()])


def test_netrc_adds_no_password_at_the_blob_host(
    run: Run, client: GitHubClient, downloader: ArtifactDownloader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `.netrc` entry for the blob host would make it refuse the request."""
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine localhost login mallory password s3cret\ndefault login mallory password s3cret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))
    run.add_artifact("evidence", BYTES)
    assert downloader.download(listed(client), io.BytesIO()).fault is None


def test_an_empty_artifact_is_whole(run: Run, client: GitHubClient, downloader: ArtifactDownloader) -> None:
    """Nothing to read is a size of zero, and no fault of the transport."""
    run.add_artifact("evidence", b"")
    arrived = downloader.download(listed(client), io.BytesIO())
    assert (arrived.sha256, arrived.size, arrived.fault) == (hashlib.sha256().hexdigest(), 0, None)


@pytest.mark.parametrize("kind", ["reset", "cut", "status", "lost"])
def test_each_try_asks_for_a_new_link(
    kind: str, run: Run, client: GitHubClient, downloader: ArtifactDownloader, github: Standin
) -> None:
    """The storage fails four times: the fifth link works, no link was used twice, the file holds no stale bytes."""
    github.storage.uses = 1
    run.add_artifact("evidence", BYTES)
    github.fault(Fault(kind, host="blob", status=503, times=MAX_ATTEMPTS - 1))
    into = io.BytesIO()
    assert downloader.download(listed(client), into).fault is None
    assert into.getvalue() == BYTES
    assert len(github.storage.signatures()) == MAX_ATTEMPTS
    assert len({request.query["sig"] for request in github.log if request.host == "blob"}) == MAX_ATTEMPTS


def test_a_link_that_expired_meanwhile_is_replaced(run: Run, github: Standin, pretended: Pretended) -> None:
    """The link is good for a moment only; the answer to an old one is a reason to ask for a new one."""
    run.add_artifact("evidence", BYTES)
    github.storage.lifetime = 0

    def sleep(seconds: float) -> None:
        pretended.sleep(seconds)
        github.storage.lifetime = 60

    clock = pretended.clock._replace(sleep=sleep)
    with (
        GitHubClient(github.url, "octo-org/widgets", Token(github.token), clock=clock) as client,
        ArtifactDownloader(client, CAP) as downloader,
    ):
        assert downloader.download(listed(client), io.BytesIO()).fault is None
    assert len(github.storage.signatures()) == 2


@pytest.mark.parametrize(
    ("kind", "status"), [("refuse", 0), ("reset", 0), ("cut", 0), ("status", 400), ("status", 404), ("status", 302)]
)
def test_a_storage_that_fails_for_ever_is_one_error(  # noqa: PLR0917 - the facts of a row
    kind: str, status: int, run: Run, client: GitHubClient, downloader: ArtifactDownloader, github: Standin
) -> None:
    """Five tries, then an error; no text of it, nor of what caused it, holds the token or a signature."""
    run.add_artifact("evidence", BYTES)
    elsewhere = {"Location": f"{github.url}/x"}
    github.fault(Fault(kind, host="blob", status=status, headers=elsewhere, payload=b"<Error>"))
    with pytest.raises(ApiError) as caught:
        downloader.download(listed(client), io.BytesIO())
    shown = "".join(traceback.format_exception(caught.value))
    assert not any(secret in shown for secret in [github.token, *github.storage.signatures()])
    assert type(caught.value) is ConnectionFailed
    assert client.calls == 1 + MAX_ATTEMPTS


def broken(artifact: Artifact, downloader: ArtifactDownloader, github: Standin) -> str:
    """Return what is said of a download that fails for ever; it names the storage's host, and nothing of the link."""
    with pytest.raises(ApiError) as caught:
        downloader.download(artifact, io.BytesIO())
    assert type(caught.value) is ConnectionFailed
    message = str(caught.value)
    assert "the artifact's storage at localhost" in message.lower()
    assert not any(secret in message for secret in ["actions-results", *github.storage.signatures()])
    return message


OTHER_HOST_HINT = "GitHub keeps artifacts on another host than its API: the network must allow it as well"


def test_a_storage_that_cannot_be_reached_is_named(
    run: Run, client: GitHubClient, downloader: ArtifactDownloader, github: Standin
) -> None:
    """Where only the API's host may be called, this is what happens."""
    run.add_artifact("evidence", BYTES)
    github.fault(Fault("refuse", host="blob"))
    message = broken(listed(client), downloader, github)
    assert "could not be reached" in message
    assert message.endswith(OTHER_HOST_HINT)


def test_a_proxy_that_does_not_lead_to_the_storage_is_named(
    run: Run, client: GitHubClient, downloader: ArtifactDownloader, github: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API is reached without it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
    for name, value in {"HTTP_PROXY": nobody, "NO_PROXY": "127.0.0.1"}.items():
        monkeypatch.setenv(name, value)
        monkeypatch.setenv(name.lower(), value)
    run.add_artifact("evidence", BYTES)
    message = broken(listed(client), downloader, github)
    assert "`HTTPS_PROXY` and `NO_PROXY`" in message
    assert message.endswith(OTHER_HOST_HINT)


@pytest.mark.parametrize("kind", ["drip-head", "drip", "continue"])
def test_a_storage_that_does_not_end_its_response_is_given_up(kind: str, run: Run, github: Standin) -> None:
    """From request to end a download has a quarter of an hour, wherever its bytes begin to drip."""
    pretended = Pretended()
    ticking = pretended.clock._replace(monotonic=lambda: pretended.sleep(5) or pretended.read())
    run.add_artifact("evidence", BYTES)
    github.fault(Fault(kind, host="blob", seconds=0.001))
    with (
        GitHubClient(github.url, "octo-org/widgets", Token(github.token)) as client,
        GitHubClient(github.url, "octo-org/widgets", Token(github.token), wait_seconds=0, clock=ticking) as slow,
        ArtifactDownloader(slow, CAP) as downloader,
        pytest.raises(ConnectionFailed, match="The artifact's storage at localhost did not answer in time"),
    ):
        downloader.download(listed(client), io.BytesIO())


def test_a_storage_that_is_not_trusted_is_named(
    run: Run, client: GitHubClient, downloader: ArtifactDownloader, github: Standin
) -> None:
    """Somebody stands in between, and does not even speak TLS."""

    def serve() -> None:
        for _ in range(MAX_ATTEMPTS):
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(b"Blocked.\r\n")

    run.add_artifact("evidence", BYTES)
    artifact = listed(client)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=serve)
        server.start()
        link = f"https://localhost:{listener.getsockname()[1]}/actions-results/x?sig=s3cret"
        github.fault(Fault("status", pattern="/zip$", status=302, headers={"Location": link}))
        message = broken(artifact, downloader, github)
        server.join()
    assert "certificate" in message
    assert "`REQUESTS_CA_BUNDLE`" in message
    assert "s3cret" not in message


@pytest.mark.parametrize(
    ("kind", "words"), [("cut", "was cut short"), ("status", "HTTP 403 came from")], ids=["cut short", "refused"]
)
def test_a_storage_that_was_reached_is_not_said_to_be_out_of_reach(  # noqa: PLR0917 - the facts of a row
    kind: str, words: str, run: Run, client: GitHubClient, downloader: ArtifactDownloader, github: Standin
) -> None:
    """What broke is said, and not what would be another's trouble."""
    run.add_artifact("evidence", BYTES)
    github.fault(Fault(kind, host="blob", status=403, payload=b"<Error>"))
    message = broken(listed(client), downloader, github)
    assert words in message
    assert OTHER_HOST_HINT not in message


@pytest.mark.parametrize(
    ("kind", "status", "error", "calls"),
    [
        ("refuse", 0, ConnectionFailed, MAX_ATTEMPTS),
        ("reset", 0, ConnectionFailed, MAX_ATTEMPTS),
        ("status", 401, Unauthorized, 1),
        ("status", 403, Forbidden, 1),
        ("status", 500, ServerError, MAX_ATTEMPTS),
        ("status", 502, ServerError, MAX_ATTEMPTS),
        ("status", 200, UnexpectedResponse, 1),
    ],
)
def test_an_api_that_gives_no_link_is_one_error(  # noqa: PLR0917 - the facts of a row
    kind: str,
    status: int,
    error: type[ApiError],
    calls: int,
    run: Run,
    client: GitHubClient,
    downloader: ArtifactDownloader,
    github: Standin,
) -> None:
    """The error is of the kind that the API's answer has, and the storage is not asked."""
    run.add_artifact("evidence", BYTES)
    artifact = listed(client)
    github.fault(Fault(kind, pattern="/zip$", status=status))
    with pytest.raises(ApiError) as caught:
        downloader.download(artifact, io.BytesIO())
    assert (type(caught.value), client.calls) == (error, 1 + calls)
    assert github.asked("blob") == []


def test_a_token_that_may_list_may_not_be_one_that_may_download(github: Standin, pretended: Pretended) -> None:
    """A public repository shows its listing to anybody; the error for the download names the permission."""
    repository = github.repository("octo-org/public", private=False)
    repository.add_run(4242).add_artifact("evidence", BYTES)
    token = github.grant("ghs_none", Grant(actions="none"))
    with (
        GitHubClient(github.url, "octo-org/public", Token(token), clock=pretended.clock) as client,
        ArtifactDownloader(client, CAP) as downloader,
        pytest.raises(ApiError, match="`actions: read`") as caught,
    ):
        downloader.download(listed(client), io.BytesIO())
    assert type(caught.value) is Forbidden


def test_an_expired_artifact_is_a_finding_by_field_and_by_status(
    run: Run, client: GitHubClient, downloader: ArtifactDownloader
) -> None:
    """The field spares the call; the status 410 says the same; the text of the answer plays no part."""
    stored = run.add_artifact("evidence", BYTES, expired=True)
    by_field = downloader.download(listed(client), io.BytesIO())
    calls = client.calls
    stored.expired = False
    by_status = downloader.download(listed(client), io.BytesIO())
    for arrived in (by_field, by_status):
        assert arrived.fault is not None
        assert arrived.fault.check == "artifact-expired"
        assert arrived.sha256 is None
    assert calls == 1


def test_an_artifact_that_was_deleted_meanwhile_is_a_finding(
    run: Run, client: GitHubClient, downloader: ArtifactDownloader
) -> None:
    """Listed, then gone: missing, with the other cause named as well."""
    run.add_artifact("evidence", BYTES)
    artifact = listed(client)
    run.artifacts.clear()
    fault = downloader.download(artifact, io.BytesIO()).fault
    assert fault is not None
    assert fault.check == "artifact-missing"
    assert "`actions: read`" in fault.detail


def test_an_artifact_announced_over_the_cap_is_not_fetched(
    run: Run, client: GitHubClient, downloader: ArtifactDownloader
) -> None:
    """The listing says its size: nothing is downloaded, and the detail names the input."""
    run.add_artifact("evidence", BYTES, size=CAP + 1)
    fault = downloader.download(listed(client), io.BytesIO()).fault
    assert fault is not None
    assert fault.check == "archive-limits"
    assert "`max-artifact-mb` allows 1 MiB" in fault.detail
    assert client.calls == 1


def test_a_body_over_the_cap_is_cut_off(run: Run, client: GitHubClient, downloader: ArtifactDownloader) -> None:
    """A size that was announced falsely does not help: what is written stays under the cap."""
    run.add_artifact("evidence", bytes(3 * CAP), size=10)
    into = io.BytesIO()
    fault = downloader.download(listed(client), into).fault
    assert fault is not None
    assert fault.check == "archive-limits"
    assert len(into.getvalue()) <= CAP


def test_an_artifact_of_exactly_max_bytes_is_allowed(
    run: Run, client: GitHubClient, downloader: ArtifactDownloader
) -> None:
    """The cap itself is still inside."""
    run.add_artifact("evidence", bytes(CAP))
    assert downloader.download(listed(client), io.BytesIO()).fault is None


@pytest.mark.parametrize("digest", [f"sha256:{'0' * 64}", "sha256:", "sha512:00", hashlib.sha256(BYTES).hexdigest()])
def test_bytes_that_do_not_match_the_published_digest_are_a_finding(
    digest: str, run: Run, client: GitHubClient, downloader: ArtifactDownloader
) -> None:
    """Another digest, or one in a form that cannot be compared: the bytes are not trusted; what came is still named."""
    run.add_artifact("evidence", BYTES, digest=digest)
    arrived = downloader.download(listed(client), io.BytesIO())
    assert arrived.fault is not None
    assert arrived.fault.check == "archive-digest-mismatch"
    assert arrived.sha256 == hashlib.sha256(BYTES).hexdigest()


def test_an_artifact_without_a_digest_is_allowed(
    run: Run, client: GitHubClient, downloader: ArtifactDownloader
) -> None:
    """An old uploader publishes none."""
    run.add_artifact("evidence", BYTES, digest=None)
    assert downloader.download(listed(client), io.BytesIO()).fault is None


def test_content_encoding_is_not_undone(
    run: Run, client: GitHubClient, downloader: ArtifactDownloader, github: Standin
) -> None:
    """The digest is of the stored bytes: whatever a header says of them, they are taken as they are."""
    run.add_artifact("evidence", BYTES)
    github.fault(Fault("status", host="blob", status=200, payload=BYTES, headers={"Content-Encoding": "gzip"}))
    assert downloader.download(listed(client), io.BytesIO()).fault is None


def test_a_full_disk_is_an_error(run: Run, client: GitHubClient, downloader: ArtifactDownloader) -> None:
    """A file that cannot be written ends the run with a sentence, and no second try."""

    class Full(io.BytesIO):
        def write(self, _chunk: object) -> int:
            raise OSError(28, "No space left on device")

    run.add_artifact("evidence", BYTES)
    with pytest.raises(NoVerdictError, match="cannot be stored: the disk is full: free some disk space"):
        downloader.download(listed(client), Full())
    assert client.calls == 2


def test_both_sides_are_fetched_at_the_same_time(
    run: Run, client: GitHubClient, downloader: ArtifactDownloader, github: Standin
) -> None:
    """Two downloads meet at the storage: neither waits for the other to end."""
    for name in ("first", "rerun"):
        run.add_artifact(name, name.encode())
    artifacts = list_artifacts(client, 4242).artifacts
    github.fault(Fault("meet", host="blob", parties=2))
    files = [io.BytesIO(), io.BytesIO()]
    threads = [threading.Thread(target=downloader.download, args=each) for each in zip(artifacts, files, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(file.getvalue() for file in files) == [b"first", b"rerun"]
