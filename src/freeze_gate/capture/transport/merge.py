"""Several calls for one fixture, folded into what one record says of them."""

import hashlib
import json
import re
from typing import Final, NamedTuple

from freeze_gate.capture.transport.observer import Outcome, is_success
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Record, Sampler, Transport
from freeze_gate.validation.readers import CONTROL_CHARACTERS

_SECRET_PARTS: Final = re.compile(r"(?<=://)[^/?#]*@|[?#].*", re.DOTALL)
_LONGEST_MODEL: Final = 200
_CUTTING: Final = frozenset({"truncated", "stream_error", "length_check"})
_BREAKING: Final = frozenset({"timeout", "connection"})


class Asked(NamedTuple):
    """A request, as far as it tells one call from another. `body` is None where reading it would use it up."""

    method: str
    url: str
    body: bytes | None

    def same(self, other: "Asked") -> bool:
        """Whether the other is this request once more."""
        return self.body is not None and self == other

    @property
    def sampler(self) -> Sampler:
        """What a record says of the request.

        `request_sha256` is the SHA-256 of `METHOD SP URL LF BODY`: the method in capitals, the URL without user and
        password, query and fragment (a key may hide in each), the body's bytes as sent. None where the body is not
        known. `model` is the string under `model` in a JSON body. Headers are in neither.
        """
        if self.body is None:
            return Sampler()
        head = f"{self.method.upper()} {_SECRET_PARTS.sub('', self.url)}\n".encode("utf-8", "surrogateescape")
        return Sampler(_model(self.body), Sha256(hashlib.sha256(head + self.body).hexdigest()))


def _model(body: bytes) -> str | None:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return None
    model = parsed.get("model") if isinstance(parsed, dict) else None
    fits = isinstance(model, str) and 0 < len(model) <= _LONGEST_MODEL and not CONTROL_CHARACTERS.search(model)
    return model if fits else None


class Call(NamedTuple):
    """One call that the harness made: how its last attempt ended, and how many came before it (None: not known)."""

    outcome: Outcome
    retries: int | None = 0


def called(record: Record) -> bool:
    """Whether any call was folded into the record: every call says whether it timed out."""
    return record.transport.timed_out is not None


def leaves_stump(fault: str | None, status: int | None, received: int | None) -> bool:
    """Whether what came of a failed call is part of a body; without an answer nothing came, and no pin is from it."""
    return fault in _CUTTING or (fault in _BREAKING and (is_success(status) or bool(received)))


def cut(record: Record) -> bool:
    """Whether the first failed call of a record left a stump."""
    seen = record.transport
    return leaves_stump(seen.fault, seen.status_code, seen.bytes_received)


def folded(before: Record | None, calls: list[Call], sampler: int = 0) -> tuple[bool | None, Transport]:
    """Say of all calls together whether the transport held, and what is written of it.

    `before` holds what earlier calls left, `sampler` is the index of the sampler's call. One failed call is a fault
    of the whole; one of which nothing can be said leaves it open, so that a later call can only make it worse. The
    fields are those of the first failed call, else of the sampler's; `retry_count` is the sum. `pin_complete` and
    `checks` are the caller's.
    """
    earlier = [(before.transport_ok, before.transport)] if before is not None and called(before) else []
    everything = earlier + [(call.outcome.ok, _fields(call)) for call in calls]
    if not everything:
        return None, Transport()
    verdicts = [ok for ok, _ in everything]
    failed = [fields for ok, fields in everything if ok is False]
    chosen = failed[0] if failed else everything[0 if earlier else sampler][1]
    counts = [fields.retry_count for _, fields in everything]
    total = None if None in counts else sum(count or 0 for count in counts)
    return False if failed else None if None in verdicts else True, chosen._replace(retry_count=total)


def _fields(call: Call) -> Transport:
    seen = call.outcome
    return Transport(
        status_code=seen.status_code,
        timed_out=seen.timed_out,
        retry_count=call.retries,
        fault=seen.fault,
        bytes_received=seen.bytes_received,
        bytes_declared=seen.bytes_declared,
    )
