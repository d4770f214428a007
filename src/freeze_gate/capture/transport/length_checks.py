"""What the user declares about the sample before it is taken; an answer that breaks it is a fault of the harness."""

import json
import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from freeze_gate.capture.transport.sse import MAX_EVENT_TYPE_BYTES
from freeze_gate.errors import UsageError
from freeze_gate.evidence.record import LengthChecks

_EVENT_TYPE: Final = re.compile(rf"[A-Za-z0-9._-]{{1,{MAX_EVENT_TYPE_BYTES}}}")
_MAX_ENDING_BYTES: Final = 1000  # a record is a page


class BodyChecks(NamedTuple):
    """Bounds on the decoded body, in bytes, and the bytes that it ends with. None is not declared.

    `error_events` are further types of event that say that a stream failed.

    A record's own `LengthChecks` holds text: no JSON holds these bytes.
    """

    min_bytes: int | None = None
    max_bytes: int | None = None
    ends_with: bytes | None = None
    error_events: tuple[str, ...] = ()

    def to_record(self) -> LengthChecks:
        """Return the form in a record: `ends_with` is escaped as inside a JSON string, so that it is text."""
        ending = self.ends_with
        text = None if ending is None else json.dumps(ending.decode("utf-8", "surrogateescape"))[1:-1]
        return LengthChecks(self.min_bytes, self.max_bytes, text)

    def is_too_short(self, body: bytes | bytearray) -> bool:
        """Whether something is missing at the end of a body."""
        if self.min_bytes is not None and len(body) < self.min_bytes:
            return True
        return self.ends_with is not None and not body.endswith(self.ends_with)

    def is_too_long(self, body: bytes | bytearray) -> bool:
        """Whether a body is larger than it may be."""
        return self.max_bytes is not None and len(body) > self.max_bytes


NO_CHECKS: Final = BodyChecks()


def make_checks(
    min_bytes: int | None = None,
    max_bytes: int | None = None,
    ends_with: str | bytes | None = None,
    error_events: Iterable[str] = (),
) -> BodyChecks:
    """Check what is declared.

    Raises `UsageError` for bounds that nothing can meet, an end that is empty or long, and a type that no event has.
    """
    types = tuple(error_events)
    if not all(_EVENT_TYPE.fullmatch(text) for text in types):
        raise UsageError(
            f"error-event must be the type of an event: 1 to {MAX_EVENT_TYPE_BYTES} letters, digits or ._-"
        )
    ending = ends_with.encode("utf-8", "surrogateescape") if isinstance(ends_with, str) else ends_with
    for name, bound in (("min-bytes", min_bytes), ("max-bytes", max_bytes)):
        if bound is not None and bound < 0:
            raise UsageError(f"{name} is {bound}: it must be 0 or more")
    if min_bytes is not None and max_bytes is not None and min_bytes > max_bytes:
        raise UsageError(f"min-bytes is {min_bytes}, above max-bytes, {max_bytes}: no answer can meet both")
    if ending is not None and not 0 < len(ending) <= _MAX_ENDING_BYTES:
        raise UsageError(f"ends-with must be 1 to {_MAX_ENDING_BYTES} bytes")
    return BodyChecks(min_bytes, max_bytes, ending, types)
