"""Error events in a `text/event-stream`, detected while the stream is read.

Only an event of a failing *type* counts: `error`, `response.failed`, and what the user declared in advance. Events are
parsed as https://html.spec.whatwg.org/multipage/server-sent-events.html says: what stands in `data:` is the model's
text, and no text is evidence.
"""

import re
from collections.abc import Iterable
from typing import Final

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
FAILING_EVENTS: Final = ("error", "response.failed")
"""The types by which samplers say that a stream failed."""

MAX_EVENT_TYPE_BYTES: Final = 50
_MAX_LINE_BYTES: Final = 64
"""What is kept of an unfinished line: more than any line that matters has, so that memory stays flat."""


class SseErrorDetector:
    """Reads one stream, piece by piece. `has_error` turns True with the first error event."""

    def __init__(self, further_types: Iterable[str] = ()) -> None:
        self._failing_types = {text.encode() for text in (*FAILING_EVENTS, *further_types)}
        self.has_error = False
        self._line = b""
        self._event_type = b""
        self._is_first_line = True
        self._ends_with_return = False

    def feed(self, piece: bytes) -> None:
        """Read the next bytes, wherever they were cut."""
        if not piece:
            return
        if self._ends_with_return and piece.startswith(b"\n"):
            piece = piece[1:]
            self._ends_with_return = False
        if piece:
            self._ends_with_return = piece.endswith(b"\r")
        *lines, rest = _LINE_END.split(piece)
        for line in lines:
            self._end_line(self._line + line)
            self._line = b""
        self._line = (self._line + rest)[:_MAX_LINE_BYTES]

    def end(self) -> None:
        """Take the clean end of the stream: an event without its last line end counts."""
        self._end_line(self._line)
        self._end_line(b"")

    def _end_line(self, line: bytes) -> None:
        if self._is_first_line:
            line, self._is_first_line = line.removeprefix(_BYTE_ORDER_MARK), False
        if not line:
            if self._event_type in self._failing_types:
                self.has_error = True
            self._event_type = b""
        elif line == b"event" or line.startswith(b"event:"):
            self._event_type = line[len(b"event:") :].removeprefix(b" ")
