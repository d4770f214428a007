"""The action's inputs: from the `INPUT_*` variables that the runner sets to typed values, or one clear line."""

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from freeze_gate.artifacts.select import ATTEMPT, ArtifactSelector
from freeze_gate.errors import UsageError
from freeze_gate.github.credential import Token
from freeze_gate.validation.readers import CONTROL_CHARACTERS

_SHOWN: Final = 60


class Inputs(NamedTuple):
    """Everything that a user can set, checked."""

    first: ArtifactSelector
    rerun: ArtifactSelector
    token: Token
    policy: str
    expected: tuple[str, ...]
    freeze_label: str
    refresh_label: str
    tickets: bool
    ticket_author: str
    pull_request: int | None
    fail_on: str
    dry_run: bool
    verdict_file: str
    max_artifact_bytes: int
    wait_seconds: int


def _line(allowed: str, pattern: str) -> Callable[[str], str]:
    matches = re.compile(pattern).fullmatch

    def read(value: str) -> str:
        if CONTROL_CHARACTERS.search(value) or not matches(value):
            raise ValueError(allowed)
        return value

    return read


def _number(allowed: str, least: int, most: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,19}", value) or not least <= int(value) <= most:
            raise ValueError(allowed)
        return int(value)

    return read


def _boolean(value: str) -> bool:
    if value not in ("true", "false"):
        raise ValueError("true or false")
    return value == "true"


def _fail_on(value: str) -> str:
    if value not in ("unfrozen", "never"):
        raise ValueError("unfrozen or never")
    return value


def _path(value: str) -> str:
    path = PurePosixPath(value)
    if CONTROL_CHARACTERS.search(value) or path.is_absolute() or "\\" in value or not path.parts or ".." in path.parts:
        raise ValueError("a relative path with / between its parts and no ..")
    return str(path)


def _ids(value: str) -> tuple[str, ...]:
    names = tuple(filter(None, (line.strip() for line in value.splitlines())))
    if any(not re.fullmatch(r"[A-Za-z0-9._*?!\[\]-]{1,128}", name) for name in names):
        raise ValueError("fixture ids or globs, one a line")
    return names


def _token(value: str) -> Token:
    if not re.fullmatch(r"[!-~]{1,1000}", value):
        raise ValueError("one word of plain characters, such as ${{ github.token }}")
    return Token(value)


_identity: Final = _number("a positive whole number", 1, 2**53 - 1)
_artifact: Final = _line("an artifact's name or a glob, with {attempt} at most once", r'[^":<>|\r\n\\/]{1,260}')
_label: Final = _line("a label of 1 to 50 characters without a comma", r"[^,\s](?:[^,]{0,48}[^,\s])?")


def _artifact_name(value: str) -> str:
    if value.count(ATTEMPT) > 1:
        raise ValueError("an artifact's name or a glob, with {attempt} at most once")
    return _artifact(value)


class Input(NamedTuple):
    """One input: its default ("" is unset) and how its text is read."""

    default: str
    read: Callable[[str], Any]


INPUTS: Final = {
    "first-artifact": Input("", _artifact_name),
    "rerun-artifact": Input("", _artifact_name),
    "first-artifact-id": Input("", _identity),
    "rerun-artifact-id": Input("", _identity),
    "first-run-id": Input("", _identity),
    "rerun-run-id": Input("", _identity),
    "github-token": Input("", _token),
    "policy": Input(".github/freeze-gate.yml", _path),
    "expected-fixtures": Input("", _ids),
    "freeze-label": Input("freeze-request", _label),
    "refresh-label": Input("fixture-refresh", _label),
    "tickets": Input("true", _boolean),
    "ticket-author": Input("github-actions[bot]", _line("a login", r"[A-Za-z0-9][A-Za-z0-9_-]{0,98}(?:\[bot\])?")),
    "pull-request": Input("", _identity),
    "fail-on": Input("unfrozen", _fail_on),
    "dry-run": Input("false", _boolean),
    "verdict-file": Input("freeze-gate-verdict.json", _path),
    "max-artifact-mb": Input("2048", _number("a whole number from 1 to 8192", 1, 8192)),
    "wait-seconds": Input("120", _number("a whole number from 0 to 3600", 0, 3600)),
}
"""Every input by its name in `action.yml`. The runner passes `first-artifact` as `INPUT_FIRST-ARTIFACT`."""


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """Read every input. Raises `UsageError` with one line that names the input, its value and what is allowed."""
    read = {name: _read(name, one, environ) for name, one in INPUTS.items()}
    if read["github-token"] is None:
        raise UsageError("input github-token is empty; allowed: a token, such as ${{ github.token }}")
    return Inputs(
        first=_selector("first", read),
        rerun=_selector("rerun", read),
        token=read["github-token"],
        policy=read["policy"],
        expected=read["expected-fixtures"] or (),
        freeze_label=read["freeze-label"],
        refresh_label=read["refresh-label"],
        tickets=read["tickets"],
        ticket_author=read["ticket-author"],
        pull_request=read["pull-request"],
        fail_on=read["fail-on"],
        dry_run=read["dry-run"],
        verdict_file=read["verdict-file"],
        max_artifact_bytes=read["max-artifact-mb"] << 20,
        wait_seconds=read["wait-seconds"],
    )


def _read(name: str, one: Input, environ: Mapping[str, str]) -> Any:
    value = environ.get(f"INPUT_{name.upper()}", "").strip() or one.default
    if not value:
        return None
    try:
        return one.read(value)
    except ValueError as error:
        shown = "***" if name == "github-token" else repr(value[:_SHOWN])
        raise UsageError(f"input {name} is {shown}; allowed: {error}") from None


def _selector(side: str, read: Mapping[str, Any]) -> ArtifactSelector:
    selector = ArtifactSelector(read[f"{side}-artifact-id"], read[f"{side}-artifact"], read[f"{side}-run-id"])
    if selector.artifact_id is None and selector.name is None:
        raise UsageError(
            f"inputs {side}-artifact and {side}-artifact-id are both empty; "
            "allowed: an artifact's name or glob, or the artifact-id that the upload step put out"
        )
    return selector
