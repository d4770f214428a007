"""Reading one file of the default branch: found, absent, or not readable, which is not the same as absent."""

import base64
import binascii
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from freeze_gate.errors import UsageError
from freeze_gate.github.client import Api, read
from freeze_gate.github.errors import ApiError, Purpose
from freeze_gate.validation.readers import ObjectReader, of_type, one_of, text

_READ: Final = Purpose("read the file on the default branch", "contents: read")
_ROOT: Final = Purpose("list the root of the default branch", "contents: read")


class File(NamedTuple):
    """What came of reading: `state` is `found`, `absent` or `unreadable`; `problem` is a sentence for the last.

    `sha` is the blob's id in git, 40 hexadecimal characters.
    """

    state: str
    payload: bytes = b""
    sha: str | None = None
    problem: str | None = None


class _Entry(NamedTuple):
    sha: str
    content: str


_ENTRY: Final = ObjectReader(
    lambda **found: _Entry(found["sha"], found["content"]),
    {
        "type": one_of("file"),
        "encoding": one_of("base64"),  # GitHub says "none" beyond 1 MB
        "sha": text("a blob", r"[0-9a-f]{40,64}"),
        "content": of_type(str, "a string"),
    },
)


def read_file(api: Api, path: str) -> File:
    """Read a file of up to 1 MB. Never raises for what GitHub does: where it cannot be read, the reason is returned.

    Not found means absent only if the same token can list the root of the repository. Raises `UsageError` for a path
    with an empty, `.` or `..` part.
    """
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise UsageError("policy: must be a path below the repository's root, such as .github/freeze-gate.yml")
    try:
        return _decoded(api.get(f"contents/{quote(path)}", _READ).payload)
    except ApiError as error:
        return _absent_or_not(api) if error.kind == "not-found" else File("unreadable", problem=str(error))


def _decoded(payload: Any) -> File:
    entry: _Entry = read(_ENTRY, payload, _READ)
    try:
        return File("found", base64.b64decode("".join(entry.content.split()), validate=True), entry.sha)
    except (binascii.Error, ValueError):
        raise ApiError("shape", f"GitHub's answer is not base64, asked to {_READ.what}") from None


def _absent_or_not(api: Api) -> File:
    try:
        listing = api.get("contents/", _ROOT).payload
    except ApiError as error:
        return File("unreadable", problem=str(error))
    if type(listing) is not list:
        return File("unreadable", problem=f"GitHub's answer is not a listing, asked to {_ROOT.what}")
    return File("absent")
