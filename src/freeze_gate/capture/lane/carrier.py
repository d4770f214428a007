"""The carrier: the process whose standard input and output lead to the lane, such as ssh."""

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from typing import IO, Any, Final, cast

from freeze_gate.capture.lane.protocol import MAX_LINE, InvalidMessage, read_message

COMMAND_FAILURES: Final = frozenset({126, 127})
"""The exit statuses of a shell, and of `docker exec`, for a command that is missing or cannot be executed."""

_CHUNK: Final = 1 << 16
_CLOSE_TIMEOUT: Final = 10.0
"""Seconds for the lane to end everything after its input is closed."""


class CarrierError(Exception):
    """The lane cannot be heard any more. `fault` is the transport's; None where it would happen on any day."""

    def __init__(self, cause: str, fault: str | None) -> None:
        super().__init__(cause)
        self.fault = fault


class Carrier:
    """A carrier that was started. `timeout` is how long the lane may be silent, in seconds."""

    def __init__(self, words: Sequence[str], timeout: float) -> None:
        self._timeout = timeout
        self._outgoing: Iterator[bytes] = iter(())
        self._pending = memoryview(b"")
        self._incoming = b""
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the words are the user's own
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # Ctrl-C reaches only this process, which then ends the lane in order
            )
        except (OSError, ValueError) as error:
            cause = getattr(error, "strerror", None) or "its arguments are not allowed"
            raise CarrierError(f"{words[0]!a} cannot be started: {cause}", None) from None
        self._stdin, self._stdout = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        os.set_blocking(self._stdin.fileno(), False)

    def send(self, chunks: Iterator[bytes]) -> None:
        """Send chunks while `receive` waits, one after the other: none is kept longer than it takes to write."""
        self._outgoing = chunks

    def receive(self, time_limit: float | None = None) -> tuple[str, Any]:
        """Return the next message but `alive`. Raises `CarrierError`, and what the chunks raise.

        `time_limit` is how long it may take in all, in seconds, however lively the lane is.
        """
        started = heard = time.monotonic()
        while True:
            if b"\n" in self._incoming:
                line, _, self._incoming = self._incoming.partition(b"\n")
                try:
                    kind, content = read_message(line)
                except InvalidMessage as error:
                    raise CarrierError(f"the lane sent {error}", None) from None
                if kind != "alive":
                    return kind, content
                heard = time.monotonic()
                continue
            if len(self._incoming) > MAX_LINE:
                raise CarrierError(f"the lane sent a line of over {MAX_LINE >> 20} MiB", None)
            now = time.monotonic()
            if time_limit is not None and now - started > time_limit:
                raise CarrierError(f"the lane did not end the oracle within {time_limit:.0f} s", "timeout")
            if now - heard > self._timeout:
                raise CarrierError(f"the lane said nothing for {self._timeout:g} s", "timeout")
            self._pump(heard + self._timeout - now)

    def _pump(self, timeout: float) -> None:
        """Wait until a chunk can be written or something can be read, and do it. Raises `CarrierError` at the end."""
        if not self._pending:
            self._pending = memoryview(next(self._outgoing, b""))
        writable = [self._stdin] if self._pending else []
        readable, writable, _ = select.select([self._stdout], writable, [], timeout + 0.001)
        if writable:
            try:
                self._pending = self._pending[os.write(self._stdin.fileno(), self._pending) :]
            except BlockingIOError:
                pass
            except OSError:  # the reader is gone; what it said before can still be read
                self._outgoing, self._pending = iter(()), memoryview(b"")
        if readable:
            chunk = os.read(self._stdout.fileno(), _CHUNK)
            self._incoming += chunk
            if not chunk:
                status = self._wait()
                fault = None if status in COMMAND_FAILURES else "connection"
                raise CarrierError(f"the carrier ended with exit status {status}", fault)

    def close(self) -> None:
        """Close the lane's input, on which it ends everything; then end the carrier, and all that it started here."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        self._wait()
        self._stdout.close()

    def _wait(self) -> int:
        try:
            return self._process.wait(_CLOSE_TIMEOUT)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            return self._process.wait()
