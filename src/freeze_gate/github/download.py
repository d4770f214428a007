"""Fetching an artifact's bytes: from the API to the blob host, which must never see the token."""

import hashlib
import re
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple, Self
from urllib.parse import urlsplit

import requests
import urllib3

from freeze_gate.errors import NoVerdictError
from freeze_gate.evidence.digest import CHUNK, Sha256
from freeze_gate.evidence.models import Artifact, Fault
from freeze_gate.github.client import TRIES, Api
from freeze_gate.github.errors import ApiError, Purpose
from freeze_gate.github.session import TIMEOUT, Session, cause

DOWNLOAD_SECONDS: Final = 900
"""How long one download may take, however steadily it drips: the largest artifact allowed, at 2.3 MB a second."""

_HOST: Final = re.compile(r"[a-z0-9._:-]{1,253}")  # it is shown where it cannot be reached
_ZIP: Final = Purpose("hand out the artifact", "actions: read")


class Download(NamedTuple):
    """What came of one download: the digest and size of the bytes that arrived, and the check that failed, if one did.

    `sha256` is None where the bytes did not arrive whole.
    """

    sha256: Sha256 | None = None
    size: int = 0
    fault: Fault | None = None


class Downloads:
    """Downloads artifacts of up to `most` bytes. May be used by several threads at once."""

    def __init__(self, api: Api, most: int) -> None:
        self._api = api
        self._most = most
        self._session = Session(None)
        self._session.headers["Accept-Encoding"] = "identity"

    def __enter__(self) -> Self:
        """Use as a context manager to close the connections."""
        return self

    def __exit__(self, *_exc: object) -> None:
        """Close the connections."""
        self._session.close()

    def fetch(self, artifact: Artifact, into: BinaryIO) -> Download:
        """Write the artifact's bytes into an empty, seekable file, hash them, and compare with the published digest.

        1. An artifact that is marked as expired, or announced as over the cap, is not asked for.
        2. The API answers with a link that is good for a minute; each try asks for a new one.
        3. The link is followed without the token, counting and hashing.
        4. The digest is compared before anything opens the file.

        Raises `ApiError` where GitHub cannot be asked, `NoVerdictError` where the file cannot be written.
        """
        if artifact.expired:
            return Download(fault=Fault("artifact-expired", f"GitHub marks artifact {artifact.id} as expired"))
        if artifact.size > self._most:
            return Download(fault=self._over(artifact, artifact.size))
        arrived = self._persist(artifact, into)
        if arrived.fault is None and artifact.digest not in (None, f"sha256:{arrived.sha256}"):
            detail = f"the bytes of artifact {artifact.id} do not match the digest that GitHub publishes for it"
            return arrived._replace(fault=Fault("archive-digest-mismatch", detail))
        return arrived

    def _persist(self, artifact: Artifact, into: BinaryIO) -> Download:
        for attempt in range(TRIES):
            try:
                link = self._api.location(f"actions/artifacts/{artifact.id}/zip", _ZIP)
            except ApiError as error:
                return Download(fault=_absent(artifact, error))
            since = self._api.clock.monotonic()
            try:
                return self._stream(artifact, checked_link(link, self._api.base), into)
            except ApiError as error:
                final = attempt == TRIES - 1 or error.kind != "connection"
                if final or not self._api.budget.wait(2.0**attempt, since):
                    raise
        raise AssertionError  # the last try returns or raises

    def _stream(self, artifact: Artifact, link: str, into: BinaryIO) -> Download:
        digest, size = hashlib.sha256(), 0
        _rewind(into)
        for chunk in self._chunks(link):
            size += len(chunk)
            if size > self._most:
                return Download(size=size, fault=self._over(artifact, size))
            digest.update(chunk)
            _write(into, chunk)
        return Download(Sha256(digest.hexdigest()), size)

    def _chunks(self, link: str) -> Iterator[bytes]:
        """Yield the body as it is on the wire. Raises `ApiError` that does not show the link, which is a secret."""
        deadline = self._api.clock.monotonic() + DOWNLOAD_SECONDS
        try:
            with self._session.get(link, timeout=TIMEOUT, allow_redirects=False, stream=True) as response:
                if response.status_code != 200:  # noqa: PLR2004 - HTTP's own number
                    raise _answered(response.status_code, link)
                while chunk := response.raw.read1(CHUNK, decode_content=False):
                    yield chunk
                    if self._api.clock.monotonic() > deadline:
                        raise ApiError("server", f"The artifact did not arrive within {DOWNLOAD_SECONDS} seconds")
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise _broken(error, link) from None

    def _over(self, artifact: Artifact, size: int) -> Fault:
        allowed = f"`max-artifact-mb` allows {self._most >> 20} MiB"
        return Fault("archive-limits", f"artifact {artifact.id} has at least {size} bytes; {allowed}")


def checked_link(link: str, base: str) -> str:
    """Return the link, or refuse one over a weaker channel than the API's own address `base`. Raises `ApiError`."""
    schemes = ("https", "http") if base.startswith("http://") else ("https",)
    try:
        parts = urlsplit(link)
        named = _HOST.fullmatch(parts.hostname or "") is not None
        sound = named and parts.username is None and parts.scheme in schemes
    except ValueError:
        sound = False
    if not sound:
        raise ApiError("refused", "GitHub's link to the artifact does not lead to an https address")
    return link


def _place(link: str) -> str:
    """Name the storage by its host alone: the rest of the link is a secret."""
    return f"the artifact's storage at {urlsplit(link).hostname}"


def _answered(status: int, link: str) -> ApiError:
    return ApiError("connection", f"Asked for the artifact, {_place(link)} answered HTTP {status}")


def _broken(error: Exception, link: str) -> ApiError:
    words = cause(error, _place(link))
    if isinstance(error, requests.RequestException):  # what `requests` raises itself came before any byte of the body
        words += ". GitHub keeps artifacts on another host than its API, to which the way must be open as well"
    return ApiError("connection", words)


def _absent(artifact: Artifact, error: ApiError) -> Fault:
    """Turn "gone" and "not there" into a finding; raise everything else again."""
    if error.kind == "gone":
        return Fault("artifact-expired", f"GitHub no longer keeps artifact {artifact.id}")
    if error.kind == "not-found":
        return Fault("artifact-missing", f"artifact {artifact.id} is gone, or the token lacks `actions: read`")
    raise error


def _rewind(into: BinaryIO) -> None:
    """Empty the file of what an earlier try left in it."""
    into.seek(0)
    into.truncate()


def _write(into: BinaryIO, chunk: bytes) -> None:
    try:
        into.write(chunk)
    except OSError as error:
        raise NoVerdictError(f"The artifact cannot be stored ({error.strerror}): free some space, run again") from None
