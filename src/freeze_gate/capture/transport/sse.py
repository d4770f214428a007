"""Error events in a `text/event-stream`, seen as they pass by.

Only an event of the *type* `error` counts, as https://html.spec.whatwg.org/multipage/server-sent-events.html parses
it: what stands in `data:` is the model's text, and no text is evidence.
"""

import re
from typing import Final

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_KEPT: Final = 64
"""Bytes of an unfinished line that are kept: more than any line that matters has, so that memory stays flat."""


class ErrorEvents:
    """Follows one stream, piece by piece. `seen` turns True with the first error event."""

    def __init__(self) -> None:
        self.seen = False
        self._line = b""
        self._type = b""
        self._first = True
        self._after_return = False

    def feed(self, piece: bytes) -> None:
        """Look at the next bytes, wherever they were cut."""
        if not piece:
            return
        if self._after_return and piece.startswith(b"\n"):
            piece = piece[1:]
            self._after_return = False
        if piece:
            self._after_return = piece.endswith(b"\r")
        *lines, rest = _LINE_END.split(piece)
        for line in lines:
            self._end_of_line(self._line + line)
            self._line = b""
        self._line = (self._line + rest)[:_KEPT]

    def end(self) -> None:
        """Take the clean end of the stream: an event without its last line end counts."""
        self._end_of_line(self._line)
        self._end_of_line(b"")

    def _end_of_line(self, line: bytes) -> None:
        if self._first:
            line, self._first = line.removeprefix(_BYTE_ORDER_MARK), False
        if not line:
            self.seen |= self._type == b"error"
            self._type = b""
        elif line == b"event" or line.startswith(b"event:"):
            self._type = line[len(b"event:") :].removeprefix(b" ")
