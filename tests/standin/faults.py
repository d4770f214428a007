"""Trouble on demand: which request meets it, and what happens to that request."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Fault:
    """Trouble for the requests that match `method`, `pattern` (searched in the path) and `host` (`api` or `blob`).

    It meets the matching requests from number `first` (1 is the first) on, `times` of them, or for ever where that is
    None. The kinds:

    - `refuse`: the connection is dropped, and from then on nobody listens on that port
    - `reset`: the connection is reset before anything is answered
    - `cut`: the answer announces its whole length and ends in the middle
    - `lost`: the effect takes place, the answer does not arrive
    - `status`: an error of that `status`, with `headers` and `payload`; nothing takes place
    - `slow`: `seconds` pass, then all is well
    - `drip`: the body arrives one byte at a time, `seconds` apart
    - `drip-head`: the same from the status line on
    - `drip-chunk`: the same of the line before the first chunk, which does not end
    - `continue`: interim responses (100 Continue) arrive, `seconds` apart, and no other
    - `no-http`: what arrives is the greeting of another protocol
    - `meet`: waits until `parties` requests have come this far, then all of them go on
    - `act`: `act()` is called, as if somebody else had been a moment faster; then all is well
    """

    kind: str
    method: str = ".*"
    pattern: str = ""
    host: str | None = None
    first: int = 1
    times: int | None = None
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    payload: Any = None
    seconds: float = 0.0
    parties: int = 2
    act: Callable[[], object] = bool
    seen: int = 0
    barrier: threading.Barrier = field(init=False)

    def __post_init__(self) -> None:
        """Make the meeting point."""
        self.barrier = threading.Barrier(self.parties)

    def meets(self, host: str, method: str, path: str) -> bool:
        """Count a request that matches, and say whether the trouble is for this one."""
        if self.host not in (None, host) or not re.fullmatch(self.method, method) or not re.search(self.pattern, path):
            return False
        self.seen += 1
        return self.first <= self.seen and (self.times is None or self.seen < self.first + self.times)


class Faults:
    """All trouble that is planned."""

    def __init__(self) -> None:
        self._planned: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> Fault:
        """Plan trouble."""
        self._planned.append(fault)
        return fault

    def clear(self) -> None:
        """Plan no more trouble."""
        self._planned.clear()

    def meeting(self, host: str, method: str, path: str) -> list[Fault]:
        """Return what is planned for this request, in the order of planning."""
        with self._lock:
            return [fault for fault in self._planned if fault.meets(host, method, path)]
