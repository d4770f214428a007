"""Several calls for one fixture, merged into what one record says about the transport."""

import hashlib
import json
import re
from typing import Final, NamedTuple

from freeze_gate.capture.transport.observer import TransportOutcome, is_success_status
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Record, Sampler, Transport
from freeze_gate.validation.readers import CONTROL_CHARACTERS

_URL_SECRETS: Final = re.compile(r"(?<=://)[^/?#]*@|[?#].*", re.DOTALL)
_MAX_MODEL_LENGTH: Final = 200
_FAULTS_IN_BODY: Final = frozenset({"truncated", "stream_error", "length_check"})
_FAULTS_AT_ANY_TIME: Final = frozenset({"timeout", "connection"})


class RequestKey(NamedTuple):
    """What tells one request from another. `body` is None where reading it would use it up."""

    method: str
    url: str
    body: bytes | None

    def is_repeat_of(self, other: "RequestKey") -> bool:
        """Whether this is the other request once more."""
        return self.body is not None and self == other

    @property
    def sampler(self) -> Sampler:
        """What a record says about the request.

        `request_sha256` is the SHA-256 of `METHOD SP URL LF BODY`: the method in capitals, the URL without user and
        password, query and fragment (a key may hide in each), the body's bytes as sent. None where the body is not
        known. `model` is the string under `model` in a JSON body. Headers are in neither.
        """
        if self.body is None:
            return Sampler()
        url = remove_url_secrets(self.url)
        head = f"{self.method.upper()} {url}\n".encode("utf-8", "surrogateescape")
        return Sampler(_model(self.body), Sha256(hashlib.sha256(head + self.body).hexdigest()))


def remove_url_secrets(url: str) -> str:
    """Return a URL without user and password, query and fragment: a key may hide in each."""
    return _URL_SECRETS.sub("", url)


def _model(body: bytes) -> str | None:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    model = document.get("model") if isinstance(document, dict) else None
    if not isinstance(model, str) or CONTROL_CHARACTERS.search(model):
        return None
    return model if 0 < len(model) <= _MAX_MODEL_LENGTH else None


class Call(NamedTuple):
    """One call that the harness made: how its last attempt ended, and how many came before it (None: not known)."""

    outcome: TransportOutcome
    retries: int | None = 0

    def to_transport(self) -> Transport:
        """Return what a record says about this call alone."""
        outcome = self.outcome
        return Transport(
            status_code=outcome.status_code,
            timed_out=outcome.timed_out,
            retry_count=self.retries,
            fault=outcome.fault,
            bytes_received=outcome.bytes_received,
            bytes_declared=outcome.bytes_declared,
        )


def has_calls(record: Record) -> bool:
    """Whether any call is merged into the record: every call says whether it timed out."""
    return record.transport.timed_out is not None


def leaves_partial_body(fault: str | None, status: int | None, received: int | None) -> bool:
    """Whether a failed call can have left part of a body; without an answer there is none, and no pin is from it."""
    if fault in _FAULTS_AT_ANY_TIME:
        return is_success_status(status) or bool(received)
    return fault in _FAULTS_IN_BODY


def is_truncated(record: Record) -> bool:
    """Whether the first failed call of a record left part of a body."""
    transport = record.transport
    return leaves_partial_body(transport.fault, transport.status_code, transport.bytes_received)


def merge_calls(before: Record | None, calls: list[Call], sampler: int = 0) -> tuple[bool | None, Transport]:
    """Return `transport_ok` and `transport` of all calls together.

    `before` holds what earlier calls left, `sampler` is the index of the sampler's call. One failed call is a fault
    of all; one of which nothing can be said leaves it open, so that a later call can only make it worse. The fields
    are those of the first failed call, else of the sampler's; `retry_count` is the sum. `pin_complete` and `checks`
    are the caller's.
    """
    results = [(call.outcome.ok, call.to_transport()) for call in calls]
    if before is not None and has_calls(before):
        results.insert(0, (before.transport_ok, before.transport))
        sampler = 0
    if not results:
        return None, Transport()
    failures = [transport for ok, transport in results if ok is False]
    described = failures[0] if failures else results[sampler][1]
    counts = [transport.retry_count for _, transport in results]
    total = None if None in counts else sum(count or 0 for count in counts)
    ok: bool | None = True
    if failures:
        ok = False
    elif any(verdict is None for verdict, _ in results):
        ok = None
    return ok, described._replace(retry_count=total)
