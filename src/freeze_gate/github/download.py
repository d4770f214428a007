"""Downloads an artifact: from the API to the storage host, which must never see the token."""

import hashlib
import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import BinaryIO, Final, NamedTuple, Self
from urllib.parse import urlsplit

import requests
import urllib3

from freeze_gate.errors import NoVerdictError, describe_shortage
from freeze_gate.evidence.digest import CHUNK, Sha256
from freeze_gate.evidence.models import Artifact, CheckFailure
from freeze_gate.github.client import MAX_ATTEMPTS, GitHubClient
from freeze_gate.github.errors import ConnectionFailed, Gone, NotFound, Operation, RequestRefused
from freeze_gate.github.session import TIMEOUT, Session, error_from_exception

DOWNLOAD_TIMEOUT: Final = 900
"""Seconds from the request of one download to its end: the largest artifact allowed, at 2.3 MB a second."""

_HOST: Final = re.compile(r"[a-z0-9._:-]{1,253}")  # messages show it
_DOWNLOAD: Final = Operation("downloading the artifact", "actions: read")
_OTHER_HOST_HINT: Final = "GitHub keeps artifacts on another host than its API: the network must allow it as well"


class DownloadResult(NamedTuple):
    """The digest and size of the bytes that arrived, and the check that failed, if one did.

    `sha256` is None if the bytes did not arrive completely.
    """

    sha256: Sha256 | None = None
    size: int = 0
    fault: CheckFailure | None = None


class ArtifactDownloader:
    """Downloads artifacts of up to `max_bytes`. May be used by several threads at once."""

    def __init__(self, client: GitHubClient, max_bytes: int) -> None:
        self._client = client
        self._max_bytes = max_bytes
        self._session = Session(None, DOWNLOAD_TIMEOUT, client.clock.monotonic)
        self._session.headers["Accept-Encoding"] = "identity"

    def __enter__(self) -> Self:
        """Return the downloader; the connections are closed at the end."""
        return self

    def __exit__(self, *_exc: object) -> None:
        """Close the connections."""
        self._session.close()

    def download(self, artifact: Artifact, file: BinaryIO) -> DownloadResult:
        """Write the artifact's bytes into an empty, seekable file, hash them, and compare with the published digest.

        1. An artifact that is marked as expired, or listed as too large, is not requested.
        2. The API responds with a link that is valid for a minute; each attempt requests a new one.
        3. The link is requested without the token; the bytes are counted and hashed.
        4. The digest is compared before anything opens the file.

        Raises `ApiError` if the request fails, `NoVerdictError` if the file cannot be written.
        """
        if artifact.expired:
            return DownloadResult(
                fault=CheckFailure("artifact-expired", f"GitHub marks artifact {artifact.id} as expired")
            )
        if artifact.size > self._max_bytes:
            return DownloadResult(fault=self._too_large(artifact, artifact.size))
        try:
            result = self._download_with_retries(artifact, file)
        except Gone:
            return DownloadResult(
                fault=CheckFailure("artifact-expired", f"GitHub no longer keeps artifact {artifact.id}")
            )
        except NotFound:
            detail = f"artifact {artifact.id} no longer exists, or the token lacks `actions: read`"
            return DownloadResult(fault=CheckFailure("artifact-missing", detail))
        if result.fault is None and artifact.digest not in (None, f"sha256:{result.sha256}"):
            detail = f"the bytes of artifact {artifact.id} do not match the digest that GitHub publishes for it"
            return result._replace(fault=CheckFailure("archive-digest-mismatch", detail))
        return result

    def _download_with_retries(self, artifact: Artifact, file: BinaryIO) -> DownloadResult:
        for attempt in range(MAX_ATTEMPTS):
            link = self._client.get_redirect(f"actions/artifacts/{artifact.id}/zip", _DOWNLOAD)
            validate_link(link, self._client.api_url)
            started_at = self._client.clock.monotonic()
            try:
                return self._stream(artifact, link, file)
            except ConnectionFailed:
                if attempt == MAX_ATTEMPTS - 1 or not self._client.budget.wait(2.0**attempt, started_at):
                    raise
        raise AssertionError  # the last attempt returns or raises

    def _stream(self, artifact: Artifact, link: str, file: BinaryIO) -> DownloadResult:
        digest, size = hashlib.sha256(), 0
        file.seek(0)
        file.truncate()  # of what an earlier attempt wrote
        for chunk in self._chunks(link):
            size += len(chunk)
            if size > self._max_bytes:
                return DownloadResult(size=size, fault=self._too_large(artifact, size))
            digest.update(chunk)
            try:
                file.write(chunk)
            except OSError as error:
                raise NoVerdictError(
                    f"The artifact cannot be stored: {describe_shortage(error) or error.strerror}"
                ) from None
        return DownloadResult(Sha256(digest.hexdigest()), size)

    def _chunks(self, link: str) -> Iterator[bytes]:
        """Yield the body as it is sent. Raises `ApiError`, which names the host alone: the link's query is a secret."""
        storage = f"the artifact's storage at {urlsplit(link).hostname}"
        try:
            with self._session.get(link, timeout=TIMEOUT, allow_redirects=False, stream=True) as response:
                if response.status_code != HTTPStatus.OK:
                    raise ConnectionFailed(
                        f"HTTP {response.status_code} came from {storage} while {_DOWNLOAD.description}"
                    )
                while chunk := response.raw.read1(CHUNK, decode_content=False):
                    yield chunk
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            failure = error_from_exception(error, _DOWNLOAD, storage)
            # `requests` itself raises only before the body
            if isinstance(failure, ConnectionFailed) and isinstance(error, requests.RequestException):
                raise ConnectionFailed(f"{failure}. {_OTHER_HOST_HINT}") from None
            raise failure from None

    def _too_large(self, artifact: Artifact, size: int) -> CheckFailure:
        allowed = f"`max-artifact-mb` allows {self._max_bytes >> 20} MiB"
        return CheckFailure("archive-limits", f"artifact {artifact.id} has at least {size} bytes; {allowed}")


def validate_link(link: str, api_url: str) -> None:
    """Refuse a link that is less secure than the API's own address. Raises `RequestRefused`, which hides the link."""
    schemes = ("https", "http") if api_url.startswith("http://") else ("https",)
    try:
        parts = urlsplit(link)
        if parts.scheme in schemes and parts.username is None and _HOST.fullmatch(parts.hostname or ""):
            return
    except ValueError:
        pass
    raise RequestRefused("GitHub's link to the artifact does not lead to an https address")
