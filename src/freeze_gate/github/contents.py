"""Reads one file of the default branch: present, absent, or unreadable, which is not the same as absent."""

import base64
from enum import StrEnum
from typing import Final, NamedTuple
from urllib.parse import quote

from freeze_gate.errors import UsageError
from freeze_gate.github.client import GitHubClient, parse_payload
from freeze_gate.github.errors import ApiError, NotFound, Operation
from freeze_gate.validation.readers import ObjectReader, of_type, one_of, text

_READ: Final = Operation("reading the file on the default branch", "contents: read")
_LIST_ROOT: Final = Operation("listing the root of the default branch", "contents: read")


class FileState(StrEnum):
    """Whether a file could be read."""

    FOUND = "found"
    ABSENT = "absent"
    UNREADABLE = "unreadable"


class File(NamedTuple):
    """The result of reading a file. `problem` is a sentence if it is unreadable; `sha` is the id of the Git blob."""

    state: FileState
    payload: bytes = b""
    sha: str | None = None
    problem: str | None = None


class _Entry(NamedTuple):
    type: str
    encoding: str
    sha: str
    content: str


_ENTRY: Final = ObjectReader(
    _Entry,
    {
        "type": one_of("file"),
        "encoding": one_of("base64"),  # "none" for a file of more than 1 MB
        "sha": text("a blob", r"[0-9a-f]{40,64}"),
        "content": of_type(str, "a string"),
    },
)


def read_file(client: GitHubClient, path: str) -> File:
    """Read a file of up to 1 MB. An error of the API is returned as the reason why the file is unreadable.

    A file is absent only if the same token can list the root of the repository. Raises `UsageError` for a path with an
    empty, `.` or `..` part.
    """
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise UsageError("policy: must be a path below the repository's root, such as .github/freeze-gate.yml")
    try:
        payload = client.get(f"contents/{quote(path)}", _READ).payload
        entry = parse_payload(_ENTRY, payload, _READ)
        content = base64.b64decode("".join(entry.content.split()), validate=True)
        return File(FileState.FOUND, content, entry.sha)
    except NotFound:
        return _absent_if_root_is_visible(client)
    except ApiError as error:
        return File(FileState.UNREADABLE, problem=str(error))
    except ValueError:
        return File(FileState.UNREADABLE, problem=f"GitHub's response is not base64 while {_READ.description}")


def _absent_if_root_is_visible(client: GitHubClient) -> File:
    try:
        listing = client.get("contents/", _LIST_ROOT).payload
    except ApiError as error:
        return File(FileState.UNREADABLE, problem=str(error))
    if type(listing) is not list:
        return File(FileState.UNREADABLE, problem=f"GitHub's response is not a list while {_LIST_ROOT.description}")
    return File(FileState.ABSENT)
