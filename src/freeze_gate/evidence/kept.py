"""What an archive shows, kept outside of memory: a row for each record, found by its fixture id."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from json import JSONDecoder, JSONEncoder
from typing import Any, Final, NamedTuple, Protocol

from freeze_gate.evidence.digest import Observed, Sha256
from freeze_gate.evidence.record import LengthChecks, Oracle, Record, Run, Sampler, Transport
from freeze_gate.evidence.side import Fault, Side, Source

_DECODER: Final = JSONDecoder()
_ENCODER: Final = JSONEncoder(separators=(",", ":"))


class Rows(Protocol):
    """Where rows are kept. A row is ASCII without a line end."""

    def put(self, line: bytes, /) -> int:
        """Keep a row, and return its place."""

    def get(self, place: int, /) -> bytes:
        """Return the row at a place."""


class Reading(NamedTuple):
    """What was read of one source. `places` has the fixture ids, each with the place of its last row.

    `attempt` is the one attempt of the run that all of its records name.
    """

    source: Source
    rows: Rows
    places: Mapping[str, int] = {}
    attempt: int | None = None

    def sides(self, fixture_id: str) -> Iterator[Side]:
        """Return what it shows for an id: a side for each record, the last one first."""
        place = self.places.get(fixture_id)
        while place is not None:
            place, *row = _DECODER.decode(self.rows.get(place).decode("ascii"))
            yield _side(self.source, *row)


def keep(source: Source, rows: Rows, sides: Iterable[tuple[str, Side]]) -> Reading:
    """Keep what a source shows, one side after the other. Raises what `rows` and `sides` raise.

    One that shows nothing has a fault: a shard that lost its records must not vanish.
    """
    places: dict[str, int] = {}
    attempts: set[int | None] = set()
    for fixture_id, side in sides:
        row = (places.get(fixture_id), *_facts(side))  # each row names the one before it of the same id
        places[fixture_id] = rows.put(_ENCODER.encode(row).encode("ascii"))
        if side.record and len(attempts) <= 1:
            attempts.add(side.record.run.run_attempt)
    if not places:
        return Reading(source._replace(fault=Fault("record-missing", "it holds no record")), rows)
    return Reading(source, rows, places, attempts.pop() if len(attempts) == 1 else None)


def _facts(side: Side) -> tuple[Any, ...]:
    """Return all of a side but its source: named tuples in each other, which are lists of lists in JSON."""
    return side[1:]


def _side(source: Source, record: Any, record_sha256: Any, pin: Any, fault: Any) -> Side:
    return Side(
        source,
        record and _record(*record),
        _sha256(record_sha256),
        pin and Observed(_known_sha256(pin[0]), pin[1]),
        fault and Fault(*fault),
    )


def _record(*row: Any) -> Record:
    fixture_id, sha256, path, oracle_passed, transport_ok, transport, oracle, run, sampler = row
    status, timed_out, retries, why, whole, received, declared, checks = transport
    outcome, exit_code, seen, *more = oracle
    model, request = sampler
    return Record(
        fixture_id,
        _sha256(sha256),
        path,
        oracle_passed,
        transport_ok,
        Transport(status, timed_out, retries, why, whole, received, declared, LengthChecks(*checks)),
        Oracle(outcome, exit_code, _sha256(seen), *more),
        Run(*run),
        Sampler(model, _sha256(request)),
    )


def _sha256(text: str | None) -> Sha256 | None:
    return None if text is None else _known_sha256(text)


_known_sha256 = lru_cache(16)(Sha256)  # most digests of a pair are the same one
