"""The artifact service that jobs upload to: the calls of the official client, in JSON, with a job's own token."""

import base64
import hashlib
import json
import threading
import uuid
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tests.standin.http_server import Reply, Request
from tests.standin.state import Artifact, Run
from tests.standin.storage import Storage

SERVICE: Final = "/twirp/github.actions.results.api.v1.ArtifactService/"


class UploadingJob(NamedTuple):
    """One job of one attempt of a run, as its token names it."""

    run: Run
    attempt: int
    run_backend_id: str
    job_backend_id: str


class ArtifactService:
    """Takes uploads from jobs. What is finalized is at once in the REST listing, as for real."""

    def __init__(self, storage: Storage, now: Callable[[], str]) -> None:
        self._storage = storage
        self._now = now
        self._jobs: dict[str, UploadingJob] = {}
        self._uploads: dict[tuple[str, int, str], bytes | None] = {}
        self._stored: dict[int, UploadingJob] = {}
        self._lock = threading.Lock()

    def token(self, run: Run, attempt: int | None = None) -> str:
        """Make the `ACTIONS_RUNTIME_TOKEN` of a job of that attempt, the newest one unless it is given."""
        backend = str(uuid.uuid5(uuid.NAMESPACE_URL, str(run.id)))
        job = UploadingJob(run, attempt or len(run.attempts), backend, str(uuid.uuid4()))
        scopes = f"Actions.GenericRead:0 Actions.Results:{job.run_backend_id}:{job.job_backend_id}"
        token = f"{_part({'alg': 'none', 'typ': 'JWT'})}.{_part({'scp': scopes})}.signature"
        self._jobs[token] = job
        return token

    def answer(self, request: Request) -> Reply:
        """Answer one call."""
        job = self._jobs.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        call, body = _CALLS.get(request.path.removeprefix(SERVICE)), request.json()
        if job is None or body is None or body.get("workflow_run_backend_id") != job.run_backend_id:
            return _problem(401, "unauthenticated", "invalid token")
        if call is None:
            return _problem(404, "bad_route", "no such method")
        with self._lock:
            return call(self, job, body)

    def create(self, job: UploadingJob, body: dict[str, Any]) -> Reply:
        """Reserve a name, which an attempt can use once."""
        key = (job.run_backend_id, job.attempt, body["name"])
        if key in self._uploads:
            words = "an artifact with this name already exists on the workflow run"
            return _problem(409, "already_exists", words)
        self._uploads[key] = None

        def put(payload: bytes) -> None:
            self._uploads[key] = payload

        return Reply(200, {"ok": True, "signed_upload_url": self._storage.sign(None, put)})

    def finalize(self, job: UploadingJob, body: dict[str, Any]) -> Reply:
        """Store what was uploaded, if its size and its hash are what the job says."""
        payload = self._uploads.get((job.run_backend_id, job.attempt, body["name"]))
        if payload is None or str(len(payload)) != str(body["size"]):
            return _problem(400, "invalid_argument", "the upload is not what was announced")
        digest = f"sha256:{hashlib.sha256(payload).hexdigest()}"
        if body.get("hash") not in (None, digest):
            return _problem(400, "invalid_argument", "the hash is not that of the upload")
        artifact = job.run.add_artifact(body["name"], payload, attempt=job.attempt, created_at=self._now())
        self._stored[artifact.id] = job
        return Reply(200, {"ok": True, "artifact_id": str(artifact.id)})

    def list(self, job: UploadingJob, body: dict[str, Any]) -> Reply:
        """List the artifacts of the run, filtered by name or id."""
        wanted = [
            artifact
            for artifact in job.run.artifacts
            if body.get("name_filter") in (None, artifact.name) and body.get("id_filter") in (None, str(artifact.id))
        ]
        return Reply(200, {"artifacts": [self._entry(job, artifact) for artifact in wanted]})

    def sign(self, job: UploadingJob, body: dict[str, Any]) -> Reply:
        """Make a link to the artifact of that name."""
        named = [artifact for artifact in job.run.artifacts if artifact.name == body["name"]]
        if not named:
            return _problem(404, "not_found", "no such artifact")
        newest = max(named, key=lambda artifact: artifact.id)
        return Reply(200, {"name": body["name"], "signed_url": self._storage.sign(newest.content)})

    def _entry(self, job: UploadingJob, artifact: Artifact) -> dict[str, Any]:
        by = self._stored.get(artifact.id, job)
        return {
            "workflow_run_backend_id": by.run_backend_id,
            "workflow_job_run_backend_id": by.job_backend_id,
            "database_id": str(artifact.id),
            "name": artifact.name,
            "size": str(artifact.size),
            "created_at": artifact.created_at,
            "digest": artifact.digest,
        }


_CALLS: Final[dict[str, Callable[[ArtifactService, UploadingJob, dict[str, Any]], Reply]]] = {
    "CreateArtifact": ArtifactService.create,
    "FinalizeArtifact": ArtifactService.finalize,
    "ListArtifacts": ArtifactService.list,
    "GetSignedArtifactURL": ArtifactService.sign,
}


def _part(claims: dict[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")


def _problem(status: int, code: str, message: str) -> Reply:
    return Reply(status, {"code": code, "msg": message})
