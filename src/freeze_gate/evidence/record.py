"""What one run says about one fixture: the format `freeze-gate/record/1`.

The only place that knows the format: the capture side writes records with `encode_record`, the gate reads them with
`read_record`. A record is a claim. What it claims is compared with the pinned bytes and with GitHub in `checks`.
"""

import json
from typing import Any, Final, NamedTuple

from freeze_gate.evidence.digest import Sha256
from freeze_gate.validation.readers import (
    Detail,
    ObjectReader,
    Problem,
    Problems,
    boolean,
    integer,
    nullable,
    one_of,
    seconds,
    text,
)
from freeze_gate.validation.strict_json import NotJson, read_json

SCHEMA: Final = "freeze-gate/record/1"
MAX_RECORD_BYTES: Final = 64 * 1024
"""A record is a page of facts; anything larger is not one, and 10,000 of them must fit into memory one by one."""

FIXTURE_ID: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
FAULTS: Final = ("timeout", "connection", "truncated", "length_check", "stream_error", "http_status")
OUTCOMES: Final = ("passed", "failed", "crashed", "timed_out", "not_run")
VERDICT_OF_OUTCOME: Final = {"passed": True, "failed": False, "crashed": False, "timed_out": False, "not_run": None}
TRANSIENT_STATUS: Final = frozenset({408, 425, 429, *range(500, 600)})
"""The statuses that say something about the harness; any other refusal says something about the request."""

_DEPTH: Final = 3  # the record, its transport, the transport's checks


class LengthChecks(NamedTuple):
    """What the user declared about the sample in advance."""

    min_bytes: int | None = None
    max_bytes: int | None = None
    ends_with: str | None = None


class Transport(NamedTuple):
    """What the HTTP client saw, over every call that the harness made for the fixture. None is unknown."""

    status_code: int | None = None
    timed_out: bool | None = None
    retry_count: int | None = None
    fault: str | None = None
    pin_complete: bool | None = None
    bytes_received: int | None = None
    bytes_declared: int | None = None
    checks: LengthChecks = LengthChecks()


class Oracle(NamedTuple):
    """How the oracle ended. None is unknown."""

    outcome: str | None = None
    exit_code: int | None = None
    fixture_sha256: Sha256 | None = None
    egress: str | None = None
    egress_attempts: int | None = None
    runs: int | None = None
    seconds: float | None = None


class Run(NamedTuple):
    """Which run wrote the record. None is unknown."""

    repository: str | None = None
    run_id: int | None = None
    run_attempt: int | None = None
    job: str | None = None
    commit: str | None = None
    capture_id: str | None = None
    replay_of: str | None = None
    recorded_at: str | None = None


class Sampler(NamedTuple):
    """What was asked of which model; explains a drift and never changes a class."""

    model: str | None = None
    request_sha256: Sha256 | None = None


class Record(NamedTuple):
    """One run's claim about one fixture id, well-formed; whether it contradicts itself, `contradictions` says."""

    fixture_id: str
    fixture_sha256: Sha256 | None
    fixture_path: str | None
    oracle_passed: bool | None
    transport_ok: bool | None
    transport: Transport = Transport()
    oracle: Oracle = Oracle()
    run: Run = Run()
    sampler: Sampler = Sampler()


_sha256: Final = text("64 lower-case hexadecimal characters", r"[0-9a-f]{64}", Sha256)
_capture_id: Final = text("32 lower-case hexadecimal characters", r"[0-9a-f]{32}")
_TIME: Final = r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z"
_verdict: Final = nullable(boolean)
_count: Final = nullable(integer())

_CHECKS: Final = ObjectReader(LengthChecks, {"min_bytes": _count, "max_bytes": _count, "ends_with": nullable(text())})
_TRANSPORT: Final = ObjectReader(
    Transport,
    {
        "status_code": nullable(integer(100, 999)),
        "timed_out": nullable(boolean),
        "retry_count": _count,
        "fault": nullable(one_of(*FAULTS)),
        "pin_complete": nullable(boolean),
        "bytes_received": _count,
        "bytes_declared": _count,
        "checks": Detail(_CHECKS),
    },
)
_ORACLE: Final = ObjectReader(
    Oracle,
    {
        "outcome": nullable(one_of(*OUTCOMES)),
        "exit_code": _count,
        "fixture_sha256": nullable(_sha256),
        "egress": nullable(one_of("sealed", "open")),
        "egress_attempts": _count,
        "runs": _count,
        "seconds": nullable(seconds),
    },
)
_RUN: Final = ObjectReader(
    Run,
    {
        "repository": nullable(text("owner/name", r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}")),
        "run_id": nullable(integer(1)),
        "run_attempt": nullable(integer(1)),
        "job": nullable(text()),
        "commit": nullable(text("40 lower-case hexadecimal characters", r"[0-9a-f]{40}")),
        "capture_id": nullable(_capture_id),
        "replay_of": nullable(_capture_id),
        "recorded_at": nullable(text("a UTC time such as 2026-11-29T12:00:00Z", _TIME)),
    },
)
_SAMPLER: Final = ObjectReader(Sampler, {"model": nullable(text()), "request_sha256": nullable(_sha256)})


_plain_path: Final = text("a relative path of letters, digits and ._+=/-", r"[A-Za-z0-9._+=/-]{1,512}")


def fixture_path(value: Any, address: str, problems: Problems) -> str:
    """Read a path below the bundle's root."""
    path = _plain_path(value, address, problems)
    if type(path) is str and path and not {"", ".", ".."}.isdisjoint(path.split("/")):
        problems.append(Problem(address, "must not have an empty, . or .. part"))
    return path


RECORD: Final = ObjectReader(
    Record,
    {
        "fixture_id": text("letters, digits, dots, underscores and hyphens, 128 at most", FIXTURE_ID),
        "fixture_sha256": nullable(_sha256),
        "fixture_path": nullable(fixture_path),
        "oracle_passed": _verdict,
        "transport_ok": _verdict,
        "transport": Detail(_TRANSPORT),
        "oracle": Detail(_ORACLE),
        "run": Detail(_RUN),
        "sampler": Detail(_SAMPLER),
    },
    required=("fixture_id", "fixture_sha256", "fixture_path", "oracle_passed", "transport_ok"),
)


class RecordInvalid(ValueError):
    """The bytes are not a record; `problems` says all that is wrong, each with its address."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def read_record(payload: bytes, stem: str) -> Record:
    """Parse the bytes of `records/<stem>.json`. Raises `RecordInvalid`; contradictions are looked for apart."""
    mapping = read_mapping(payload)
    problems: Problems = []
    if mapping.get("schema") != SCHEMA:
        problems.append(Problem("schema", f"must be {SCHEMA}"))
    record: Record = RECORD(mapping, "", problems)
    if not problems:
        problems += mismatches(record, stem)
    if problems:
        raise RecordInvalid(*problems)
    return record


def read_mapping(payload: bytes) -> dict[str, Any]:
    """Parse a record's bytes as far as an object with unique keys. Raises `RecordInvalid`."""
    if len(payload) > MAX_RECORD_BYTES:
        raise RecordInvalid(Problem("", f"is over {MAX_RECORD_BYTES // 1024} KiB"))
    try:
        mapping = read_json(payload, depth=_DEPTH)
    except NotJson as error:
        raise RecordInvalid(Problem("", str(error))) from None
    if type(mapping) is not dict:
        raise RecordInvalid(Problem("", "must be an object"))
    return mapping


def unknown_keys(mapping: dict[str, Any]) -> list[str]:
    """Name the keys that a record may carry and that nothing reads."""
    return [key for key in RECORD.unknown(mapping) if key != "schema"]


def mismatches(record: Record, stem: str | None) -> Problems:
    """Name what does not fit together in a record of well-formed fields; `stem` is its file's name without `.json`."""
    problems = []
    if record.fixture_id != stem:
        problems.append(Problem("fixture_id", "must be the file's name without .json"))
    if (record.fixture_sha256 is None) != (record.fixture_path is None):
        problems.append(Problem("fixture_path", "must be null where fixture_sha256 is, and only there"))
    return problems


def as_mapping(value: Any) -> Any:
    """Turn nested named tuples into nested mappings, field by field, for JSON."""
    if hasattr(value, "_asdict"):
        return {name: as_mapping(item) for name, item in value._asdict().items()}
    if isinstance(value, tuple):
        return [as_mapping(item) for item in value]
    return value


def encode_record(record: Record) -> bytes:
    """Write a record as `read_record` reads it: indented UTF-8 JSON, every field, a newline at the end."""
    return (json.dumps({"schema": SCHEMA, **as_mapping(record)}, indent=1, allow_nan=False) + "\n").encode()
