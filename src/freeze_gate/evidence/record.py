"""What one run says about one fixture: the format `freeze-gate/record/1`.

This module alone knows the format: the capture side writes records with `encode_record`, the gate reads them with
`read_record`. A record is a claim; `checks` compares it with the pinned bytes and with GitHub's metadata.
"""

import json
from typing import Any, Final, NamedTuple

from freeze_gate.evidence.digest import Sha256
from freeze_gate.validation.readers import (
    InvalidValue,
    ObjectReader,
    Problem,
    boolean,
    integer,
    nullable,
    of_type,
    one_of,
    seconds,
    text,
)
from freeze_gate.validation.strict_json import read_json

SCHEMA: Final = "freeze-gate/record/1"
MAX_RECORD_BYTES: Final = 64 * 1024
"""A record is a page of facts. Anything larger is not a record."""

FIXTURE_ID: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
TRANSPORT_FAULTS: Final = ("timeout", "connection", "truncated", "length_check", "stream_error", "http_status")
VERDICT_OF_OUTCOME: Final = {
    "passed": True,
    "failed": False,
    "crashed": False,
    "timed_out": False,
    "not_run": None,
    "unreported": None,
}
ORACLE_OUTCOMES: Final = tuple(VERDICT_OF_OUTCOME)
TRANSIENT_STATUS: Final = frozenset({408, 425, 429, *range(500, 600)})
"""The statuses that can be a fault of the harness. Any other one is an answer to the request."""

_DEPTH: Final = 3  # the record, its transport, the transport's checks


class LengthChecks(NamedTuple):
    """What the user declared about the sample in advance."""

    min_bytes: int | None = None
    max_bytes: int | None = None
    ends_with: str | None = None


class Transport(NamedTuple):
    """What the HTTP client saw, over all calls that the harness made for the fixture. None means unknown."""

    status_code: int | None = None
    timed_out: bool | None = None
    retry_count: int | None = None
    fault: str | None = None
    pin_complete: bool | None = None
    bytes_received: int | None = None
    bytes_declared: int | None = None
    checks: LengthChecks = LengthChecks()


class Oracle(NamedTuple):
    """How the oracle ended. None means unknown.

    `lane` names the other machine that ran it, or should have: the first word of its carrier, and its version.
    """

    outcome: str | None = None
    exit_code: int | None = None
    fixture_sha256: Sha256 | None = None
    egress: str | None = None
    egress_attempts: int | None = None
    runs: int | None = None
    seconds: float | None = None
    lane: str | None = None


class Run(NamedTuple):
    """Which run wrote the record. None means unknown.

    `commit` is `GITHUB_SHA`, which some events set to another commit than the tested one. `checkout` is HEAD of the
    work tree in which the capture ran.
    """

    repository: str | None = None
    run_id: int | None = None
    run_attempt: int | None = None
    job: str | None = None
    commit: str | None = None
    checkout: str | None = None
    event: str | None = None
    capture_id: str | None = None
    replay_of: str | None = None
    recorded_at: str | None = None


class Sampler(NamedTuple):
    """Which model was asked for what. It explains a drift and never changes a class.

    `selected` is the JSON pointer to the string in the answer that is pinned. `answer_sha256` is then the digest of the
    whole answer.
    """

    model: str | None = None
    request_sha256: Sha256 | None = None
    selected: str | None = None
    answer_sha256: Sha256 | None = None


class Record(NamedTuple):
    """One run's claim about one fixture id. `contradictions` finds claims that exclude each other."""

    fixture_id: str
    fixture_sha256: Sha256 | None
    fixture_path: str | None
    oracle_passed: bool | None
    transport_ok: bool | None
    transport: Transport = Transport()
    oracle: Oracle = Oracle()
    run: Run = Run()
    sampler: Sampler = Sampler()


JSON_POINTER: Final = r"(/([^~/]|~[01])*)+"
"""RFC 6901, but for the empty pointer, which names the whole document."""

_sha256: Final = text("64 lower-case hexadecimal characters", r"[0-9a-f]{64}", Sha256)
_capture_id: Final = text("32 lower-case hexadecimal characters", r"[0-9a-f]{32}")
_commit: Final = text("40 or 64 lower-case hexadecimal characters", r"[0-9a-f]{40}|[0-9a-f]{64}")
_TIME: Final = r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z"
_verdict: Final = nullable(boolean)
_count: Final = nullable(integer())

_CHECKS: Final = ObjectReader(
    LengthChecks, {"min_bytes": _count, "max_bytes": _count, "ends_with": nullable(text())}, null_as_empty=True
)
_TRANSPORT: Final = ObjectReader(
    Transport,
    {
        "status_code": nullable(integer(100, 999)),
        "timed_out": nullable(boolean),
        "retry_count": _count,
        "fault": nullable(one_of(*TRANSPORT_FAULTS)),
        "pin_complete": nullable(boolean),
        "bytes_received": _count,
        "bytes_declared": _count,
        "checks": _CHECKS,
    },
    null_as_empty=True,
)
_ORACLE: Final = ObjectReader(
    Oracle,
    {
        "outcome": nullable(one_of(*ORACLE_OUTCOMES)),
        "exit_code": _count,
        "fixture_sha256": nullable(_sha256),
        "egress": nullable(one_of("sealed", "open")),
        "egress_attempts": _count,
        "runs": _count,
        "seconds": nullable(seconds),
        "lane": nullable(text()),
    },
    null_as_empty=True,
)
RUN: Final = ObjectReader(
    Run,
    {
        "repository": nullable(text("owner/name", r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}")),
        "run_id": nullable(integer(1)),
        "run_attempt": nullable(integer(1)),
        "job": nullable(text()),
        "commit": nullable(_commit),
        "checkout": nullable(_commit),
        "event": nullable(text("the name of an event, such as pull_request", r"[a-z][a-z0-9_]{0,63}")),
        "capture_id": nullable(_capture_id),
        "replay_of": nullable(_capture_id),
        "recorded_at": nullable(text("a UTC time such as 2026-11-29T12:00:00Z", _TIME)),
    },
    null_as_empty=True,
)
_SAMPLER: Final = ObjectReader(
    Sampler,
    {
        "model": nullable(text()),
        "request_sha256": nullable(_sha256),
        "selected": nullable(text("a JSON pointer", JSON_POINTER)),
        "answer_sha256": nullable(_sha256),
    },
    null_as_empty=True,
)


_plain_path: Final = text("a relative path of letters, digits and ._+=/-", r"[A-Za-z0-9._+=/-]{1,512}")


def fixture_path(value: Any) -> str:
    """Read a path below the bundle's root."""
    path = _plain_path(value)
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise InvalidValue(Problem("", "must not have an empty, . or .. part"))
    return path


RECORD: Final = ObjectReader(
    Record,
    {
        "fixture_id": text("letters, digits, dots, underscores and hyphens, 128 at most", FIXTURE_ID),
        "fixture_sha256": nullable(_sha256),
        "fixture_path": nullable(fixture_path),
        "oracle_passed": _verdict,
        "transport_ok": _verdict,
        "transport": _TRANSPORT,
        "oracle": _ORACLE,
        "run": RUN,
        "sampler": _SAMPLER,
    },
    required=("fixture_id", "fixture_sha256", "fixture_path", "oracle_passed", "transport_ok"),
)


class InvalidRecord(InvalidValue):
    """The bytes are not a record; `problems` has everything that is wrong with them."""


def read_record(payload: bytes, stem: str) -> Record:
    """Parse the bytes of `records/<stem>.json`. Raises `InvalidRecord`. `contradictions` are another module's."""
    mapping = read_mapping(payload)
    problems = [] if mapping.get("schema") == SCHEMA else [Problem("schema", f"must be {SCHEMA}")]
    try:
        record = RECORD(mapping)
    except InvalidValue as error:
        raise InvalidRecord(*problems, *error.problems) from None
    problems += consistency_problems(record, stem)
    if problems:
        raise InvalidRecord(*problems)
    return record


def read_mapping(payload: bytes) -> dict[str, Any]:
    """Parse a record's bytes as far as an object with unique keys. Raises `InvalidRecord`."""
    if len(payload) > MAX_RECORD_BYTES:
        raise InvalidRecord(Problem("", f"is over {MAX_RECORD_BYTES // 1024} KiB"))
    try:
        return of_type(dict, "an object")(read_json(payload, depth=_DEPTH))
    except InvalidValue as error:
        raise InvalidRecord(*error.problems) from None


def unknown_keys(mapping: dict[str, Any]) -> list[str]:
    """Name the keys of a record that nothing reads."""
    return [key for key in RECORD.unknown_keys(mapping) if key != "schema"]


def consistency_problems(record: Record, stem: str | None) -> list[Problem]:
    """Name the fields that do not fit together; `stem` is the name of the record's file without `.json`."""
    problems = []
    if record.fixture_id != stem:
        problems.append(Problem("fixture_id", "must be the file's name without .json"))
    if (record.fixture_sha256 is None) != (record.fixture_path is None):
        problems.append(Problem("fixture_path", "must be null where fixture_sha256 is, and only there"))
    return problems


def to_dict(value: Any) -> Any:
    """Convert nested named tuples to nested dicts and lists, for JSON."""
    if hasattr(value, "_asdict"):
        return {name: to_dict(item) for name, item in value._asdict().items()}
    if isinstance(value, tuple):
        return [to_dict(item) for item in value]
    return value


def encode_record(record: Record) -> bytes:
    """Write a record as `read_record` reads it: indented UTF-8 JSON, every field, a newline at the end."""
    return (json.dumps({"schema": SCHEMA, **to_dict(record)}, indent=1, allow_nan=False) + "\n").encode()
