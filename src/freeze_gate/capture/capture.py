"""The recorder as a library: HTTP clients whose calls are recorded, and the pin of what they brought."""

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freeze_gate.capture.bundle.store import Store, bundle_folder, validate_suffix
from freeze_gate.capture.environment import current_run
from freeze_gate.capture.transport.length_checks import make_checks
from freeze_gate.capture.transport.recorder import Recorder
from freeze_gate.capture.transport.selection import validate_pointer

if TYPE_CHECKING:  # imported only by who asks for a session
    import requests
    from urllib3.util.retry import Retry


class Capture:
    """One fixture id: its sampler call, further calls for it, and its pin.

    `bundle` is the folder, `FREEZE_GATE_BUNDLE` or `freeze-gate` unless given. `min_bytes`, `max_bytes` and `ends_with`
    are declared of the sampler's decoded answer: every 2xx answer before the pin is held to them. `error_events` are
    types of event, beside `error` and `response.failed`, by which a stream says that it failed. `suffix` ends the
    pinned file's name, such as `.json`. `select` is a JSON pointer to the string in the answer that is the sample;
    `pin` then takes that string's UTF-8 bytes and nothing else. `environ` is the runner's environment.

    The record is on disk after every call, without a pin at first. A failed call pins by itself what arrived of its
    answer; `pin` says what the sample really is.

    Raises `UsageError` for what is not allowed, and where an oracle has already run on this id.
    """

    def __init__(  # noqa: PLR0913 - each by its name, but the first two
        self,
        fixture_id: str,
        bundle: str | os.PathLike[str] | None = None,
        *,
        min_bytes: int | None = None,
        max_bytes: int | None = None,
        ends_with: str | bytes | None = None,
        error_events: Iterable[str] = (),
        suffix: str = "",
        select: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        environ = os.environ if environ is None else environ
        self._folder = bundle_folder(None if bundle is None else os.fspath(bundle), environ)
        self._recorder = Recorder(
            Store(self._folder),
            fixture_id,
            current_run(environ, datetime.now(UTC)),
            make_checks(min_bytes, max_bytes, ends_with, error_events),
            validate_suffix(suffix),
            None if select is None else validate_pointer(select),
        )

    def requests_session(self, *, max_retries: "int | Retry" = 0) -> "requests.Session":
        """Return a `requests.Session` whose calls are recorded; `max_retries` as of `requests.adapters.HTTPAdapter`."""
        from freeze_gate.capture.transport.requests_adapter import recording_session

        return recording_session(self._recorder, max_retries)

    def record(self, client: Any) -> Any:
        """Record what a client of httpx or httpx2 sends from now on, and return the client.

        It may be an SDK's own, such as `openai.DefaultHttpxClient()`: its proxies, redirects, limits and socket options
        stay. Raises `TypeError` for anything else.
        """
        from freeze_gate.capture.transport.httpx_transport import record_client

        record_client(self._recorder, client)
        return client

    def transport(self, library: Any, *, transport: Any = None) -> Any:
        """Return a transport for `httpx.Client`, or for `httpx2.Client`, which newer SDKs take.

        `library` is the module: `capture.transport(httpx)`. `transport` is the one that does the work. Unless
        given, requests go the way that the library's own client sends them, also by the proxies of the environment.
        Give it no retries, which nobody would see.
        """
        from freeze_gate.capture.transport.httpx_transport import recording_transport

        return recording_transport(library, self._recorder, transport)

    def async_transport(self, library: Any, *, transport: Any = None) -> Any:
        """Return a transport for `httpx.AsyncClient` or `httpx2.AsyncClient`; as `transport`."""
        from freeze_gate.capture.transport.httpx_transport import async_recording_transport

        return async_recording_transport(library, self._recorder, transport)

    def pin(self, payload: bytes | bytearray | memoryview, *, suffix: str | None = None, replace: bool = False) -> Path:
        """Store the sample under its digest, before anything is asserted about it, and return the file's path.

        The bytes may be an answer's body or a part of it. The record says `pin_complete` only where the recorder saw
        what they came from arrive completely. Raises `UsageError` for other bytes than are pinned already, unless
        `replace`; where calls ended and none with a 2xx; and for the body of an answer that is no 2xx. Raises
        `TypeError` for anything but bytes: text has no digest.
        """
        if not isinstance(payload, bytes | bytearray | memoryview):
            raise TypeError("pin takes bytes, such as response.content")
        pin = self._recorder.pin(bytes(payload), suffix, replace=replace)
        return (self._folder / pin.path).absolute()
