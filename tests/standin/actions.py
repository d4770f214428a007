"""Calls about runs and their artifacts."""

from typing import Final

from tests.standin.context import Context, Route, error, page_of, route
from tests.standin.http_server import Reply
from tests.standin.state import Artifact, Run


def list_artifacts(asked: Context) -> Reply:
    """List the artifacts of a run, newest first."""
    run = _run(asked)
    if run is None:
        return error(404, "Not Found")
    listed = [artifact for artifact in run.artifacts if artifact.listed_after == 0]
    if "page" not in asked.query:
        for artifact in run.artifacts:
            artifact.listed_after = max(0, artifact.listed_after - 1)
    if "name" in asked.query:
        listed = [artifact for artifact in listed if artifact.name == asked.query["name"]]
    total_count = len(listed)
    listed = [artifact for artifact in listed if not artifact.unlisted]
    listed.sort(key=lambda artifact: artifact.id, reverse=asked.query.get("direction", "desc") == "desc")
    page, headers = page_of(asked, listed)
    artifacts = [asked.shapes.artifact(artifact) for artifact in page]
    return Reply(200, {"total_count": total_count, "artifacts": artifacts}, headers)


def get_artifact(asked: Context) -> Reply:
    """Describe an artifact."""
    artifact = _artifact(asked)
    return Reply(200, asked.shapes.artifact(artifact)) if artifact else error(404, "Not Found")


def get_zip(asked: Context) -> Reply:
    """Lead to the blob host."""
    artifact = _artifact(asked)
    if artifact is None:
        return error(404, "Not Found")
    if artifact.gone:
        return error(410, "Artifact has expired. See https://docs.github.com/actions for more", {})
    return Reply(302, None, {"Location": asked.storage.sign(artifact.content)})


def get_run(asked: Context) -> Reply:
    """Describe a run as its newest attempt."""
    run = _run(asked)
    return Reply(200, asked.shapes.run(run, len(run.attempts))) if run else error(404, "Not Found")


def get_attempt(asked: Context) -> Reply:
    """Describe one attempt of a run."""
    run, attempt = _run(asked), int(asked.parts[1])
    if run is None or not 1 <= attempt <= len(run.attempts):
        return error(404, "Not Found")
    return Reply(200, asked.shapes.run(run, attempt))


def list_jobs(asked: Context) -> Reply:
    """List the jobs of a run: those of all its attempts, or, as long as nobody asks for them, of the newest."""
    run = _run(asked)
    if run is None:
        return error(404, "Not Found")
    listed = [one for one in run.jobs if asked.query.get("filter") == "all" or one.attempt == len(run.attempts)]
    page, headers = page_of(asked, listed)
    return Reply(200, {"total_count": len(listed), "jobs": [asked.shapes.job(run, one) for one in page]}, headers)


def _run(asked: Context) -> Run | None:
    return asked.repository.runs.get(int(asked.parts[0]))


def _artifact(asked: Context) -> Artifact | None:
    wanted = int(asked.parts[0])
    runs = asked.repository.runs.values()
    return next((one for run in runs for one in run.artifacts if one.id == wanted), None)


_READ: Final = (("actions", "read"),)
ROUTES: Final[tuple[Route, ...]] = (
    route("GET", r"actions/runs/(\d+)/artifacts", list_artifacts, _READ),
    route("GET", r"actions/artifacts/(\d+)", get_artifact, _READ),
    route("GET", r"actions/artifacts/(\d+)/zip", get_zip, _READ, public=False),
    route("GET", r"actions/runs/(\d+)", get_run, _READ),
    route("GET", r"actions/runs/(\d+)/attempts/(\d+)", get_attempt, _READ),
    route("GET", r"actions/runs/(\d+)/jobs", list_jobs, _READ),
)
