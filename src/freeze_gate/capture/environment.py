"""Which run is writing, and which code it tests: the runner's environment and the checkout as the `run` of a record."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from freeze_gate.capture.git import read_checkout
from freeze_gate.evidence.record import RUN, Run
from freeze_gate.validation.readers import MAX_SAFE_INTEGER, InvalidValue

_VARIABLES: Final = {
    "repository": "GITHUB_REPOSITORY",
    "run_id": "GITHUB_RUN_ID",
    "run_attempt": "GITHUB_RUN_ATTEMPT",
    "job": "GITHUB_JOB",
    "commit": "GITHUB_SHA",
    "event": "GITHUB_EVENT_NAME",
}
_NUMBERS: Final = {"run_id", "run_attempt"}


def current_run(environ: Mapping[str, str], now: datetime, *, replay_of: str | None = None) -> Run:
    """Describe this run, with a `capture_id` drawn anew, and the commit that is checked out in the current folder.

    `now` is an aware time. What the environment does not say, or says in a form that no record may hold, is None:
    unknown, which the gate refuses where it matters.
    """
    known = {field: _read(field, environ.get(variable)) for field, variable in _VARIABLES.items()}
    return Run(
        **known,
        checkout=read_checkout(Path()),
        capture_id=secrets.token_hex(16),
        replay_of=replay_of,
        recorded_at=now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def is_same_run(left: Run, right: Run) -> bool:
    """Whether two descriptions can be of one run: nothing that both know differs."""
    names = ("repository", "run_id", "run_attempt")
    pairs = [(getattr(left, name), getattr(right, name)) for name in names]
    return all(None in pair or pair[0] == pair[1] for pair in pairs)


def _read(field: str, text: str | None) -> Any:
    value: str | int | None = text or None
    if text and field in _NUMBERS:
        is_number = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_SAFE_INTEGER))
        value = int(text) if is_number else None
    try:
        return RUN.fields[field](value)
    except InvalidValue:
        return None
