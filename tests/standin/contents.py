"""Calls about the repository and its files."""

from typing import Final

from tests.standin.context import Context, Route, error, route
from tests.standin.http_server import Reply


def get_repository(asked: Context) -> Reply:
    """Describe the repository."""
    return Reply(200, asked.shapes.repository(asked.repository, full=True))


def get_contents(asked: Context) -> Reply:
    """Read a file, or list a folder, of the default branch or of `ref`."""
    path = (asked.parts[0] or "").strip("/")
    branch = asked.query.get("ref", asked.repository.default_branch)
    files = asked.repository.files.get(branch.removeprefix("refs/heads/"))
    if files is None:
        return error(
            404, f"No commit found for the ref {branch}" if "ref" in asked.query else "This repository is empty."
        )
    if path in files:
        if "raw" in asked.request.headers.get("accept", ""):
            return Reply(200, files[path], {"Content-Type": "application/vnd.github.raw+json; charset=utf-8"})
        return Reply(200, asked.shapes.file(asked.repository, path, files[path]))
    inside = f"{path}/" if path else ""
    names = sorted({inside + name.removeprefix(inside).split("/")[0] for name in files if name.startswith(inside)})
    if not names:
        return error(404, "Not Found")
    return Reply(200, [asked.shapes.entry(asked.repository, name, files.get(name)) for name in names])


ROUTES: Final[tuple[Route, ...]] = (
    route("GET", r"", get_repository, (("contents", "none"),)),
    route("GET", r"contents(/.*)?", get_contents, (("contents", "read"),)),
)
