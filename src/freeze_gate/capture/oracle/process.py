"""What a run of the oracle is, wherever it runs: prepared first, then started, then known by its result."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from freeze_gate.capture.oracle.sandbox.protocol import SandboxResult
from freeze_gate.evidence.digest import Sha256


class OracleSpec(NamedTuple):
    """What to run: the fixture id, the command, and its time limit in seconds."""

    fixture_id: str
    command: Sequence[str]
    timeout: float | None


class OracleResult(NamedTuple):
    """How the command ended, None if its supervisor was killed; and the digest of the pinned file afterwards."""

    process: SandboxResult | None
    fixture_sha256: Sha256 | None


class OracleProcess(Protocol):
    """A command that is ready to start; nothing of it has run yet.

    `egress` is `sealed` or `open`. `lane` names the other machine, None for this one. `lane_retries` counts the
    attempts to reach it that failed before.
    """

    @property
    def egress(self) -> str: ...

    @property
    def lane(self) -> str | None: ...

    @property
    def lane_retries(self) -> int: ...

    def run(self) -> OracleResult:
        """Start the command and wait for its end. Raises `ResultLost`."""


Prepare = Callable[[OracleSpec, Path], AbstractContextManager[OracleProcess]]
"""Prepares the command for a pinned file. Leaving the context ends everything that it started. Raises `NotRun`."""


class NotRun(Exception):
    """The oracle cannot be started, for a cause outside the tested tree.

    `lane` names the lane, if there was one. `fault` is the transport's fault if the lane was not reached, None if
    another try would end in the same way. `lane_retries` counts the attempts before the last one.
    """

    def __init__(self, cause: str, lane: str | None = None, fault: str | None = None, lane_retries: int = 0) -> None:
        super().__init__(cause)
        self.lane, self.fault, self.lane_retries = lane, fault, lane_retries


class ResultLost(Exception):
    """The oracle started on a lane, and its result will never arrive. `fault` is the transport's."""

    def __init__(self, cause: str, fault: str) -> None:
        super().__init__(cause)
        self.fault = fault
