"""The inputs of the action: from the `INPUT_*` variables to typed values, or one clear error line."""

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from freeze_gate.artifacts.select import ATTEMPT, ArtifactSelector
from freeze_gate.errors import UsageError
from freeze_gate.github.session import Token
from freeze_gate.validation.readers import CONTROL_CHARACTERS

_MAX_QUOTED: Final = 60  # characters of a value in a message


class Inputs(NamedTuple):
    """The values of all inputs."""

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


def _text(allowed: str, pattern: str) -> Callable[[str], str]:
    matches = re.compile(pattern).fullmatch

    def parse(value: str) -> str:
        if CONTROL_CHARACTERS.search(value) or not matches(value):
            raise ValueError(allowed)
        return value

    return parse


def _integer(allowed: str, minimum: int, maximum: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,19}", value) or not minimum <= int(value) <= maximum:
            raise ValueError(allowed)
        return int(value)

    return parse


def _boolean(value: str) -> bool:
    if value not in ("true", "false"):
        raise ValueError("true or false")
    return value == "true"


def _path(value: str) -> str:
    path = PurePosixPath(value)
    if CONTROL_CHARACTERS.search(value) or path.is_absolute() or "\\" in value or not path.parts or ".." in path.parts:
        raise ValueError("a relative path with / as separator and without ..")
    return str(path)


def _id_list(value: str) -> tuple[str, ...]:
    lines = tuple(line.strip() for line in value.splitlines() if line.strip())
    if any(not re.fullmatch(r"[A-Za-z0-9._*?!\[\]-]{1,128}", line) for line in lines):
        raise ValueError("fixture ids or globs, one a line")
    return lines


_positive_integer: Final = _integer("a positive whole number", 1, 2**53 - 1)
_artifact: Final = _text("an artifact's name or a glob, with {attempt} at most once", r'[^":<>|\r\n\\/]{1,260}')
_label: Final = _text("a label of 1 to 50 characters without a comma", r"[^,\s](?:[^,]{0,48}[^,\s])?")


def _artifact_name(value: str) -> str:
    if value.count(ATTEMPT) > 1:
        raise ValueError("an artifact's name or a glob, with {attempt} at most once")
    return _artifact(value)


class Input(NamedTuple):
    """One input: its default ("" means unset) and its parser, whose `ValueError` says what is allowed."""

    default: str
    parse: Callable[[str], Any]


INPUTS: Final = {
    "first-artifact": Input("", _artifact_name),
    "rerun-artifact": Input("", _artifact_name),
    "first-artifact-id": Input("", _positive_integer),
    "rerun-artifact-id": Input("", _positive_integer),
    "first-run-id": Input("", _positive_integer),
    "rerun-run-id": Input("", _positive_integer),
    "github-token": Input("", Token),
    "policy": Input(".github/freeze-gate.yml", _path),
    "expected-fixtures": Input("", _id_list),
    "freeze-label": Input("freeze-request", _label),
    "refresh-label": Input("fixture-refresh", _label),
    "tickets": Input("true", _boolean),
    "ticket-author": Input("github-actions[bot]", _text("a login", r"[A-Za-z0-9][A-Za-z0-9_-]{0,98}(?:\[bot\])?")),
    "pull-request": Input("", _positive_integer),
    "fail-on": Input("unfrozen", _text("unfrozen or never", "unfrozen|never")),
    "dry-run": Input("false", _boolean),
    "verdict-file": Input("freeze-gate-verdict.json", _path),
    "max-artifact-mb": Input("2048", _integer("a whole number from 1 to 8192", 1, 8192)),
    "wait-seconds": Input("120", _integer("a whole number from 0 to 3600", 0, 3600)),
}
"""The inputs by their names in `action.yml`. The runner passes `first-artifact` as `INPUT_FIRST-ARTIFACT`."""


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """Read all inputs. Raises `UsageError` with one line that names the input, its value and what is allowed."""
    values = {name: _parse(name, environ) for name in INPUTS}
    if values["github-token"] is None:
        raise UsageError("input `github-token` is empty; allowed: a token, such as ${{ github.token }}")
    return Inputs(
        first=_selector("first", values),
        rerun=_selector("rerun", values),
        token=values["github-token"],
        policy=values["policy"],
        expected=values["expected-fixtures"] or (),
        freeze_label=values["freeze-label"],
        refresh_label=values["refresh-label"],
        tickets=values["tickets"],
        ticket_author=values["ticket-author"],
        pull_request=values["pull-request"],
        fail_on=values["fail-on"],
        dry_run=values["dry-run"],
        verdict_file=values["verdict-file"],
        max_artifact_bytes=values["max-artifact-mb"] << 20,
        wait_seconds=values["wait-seconds"],
    )


def _parse(name: str, environ: Mapping[str, str]) -> Any:
    value = environ.get(f"INPUT_{name.upper()}", "").strip() or INPUTS[name].default
    if not value:
        return None
    try:
        return INPUTS[name].parse(value)
    except ValueError as error:
        quoted = "***" if name == "github-token" else repr(value[:_MAX_QUOTED])
        raise UsageError(f"input `{name}` is {quoted}; allowed: {error}") from None


def _selector(side: str, values: Mapping[str, Any]) -> ArtifactSelector:
    selector = ArtifactSelector(values[f"{side}-artifact-id"], values[f"{side}-artifact"], values[f"{side}-run-id"])
    if selector.artifact_id is None and selector.name is None:
        raise UsageError(
            f"inputs `{side}-artifact` and `{side}-artifact-id` are both empty; "
            "allowed: an artifact's name or glob, or the output `artifact-id` of the upload step"
        )
    return selector
