"""The oracle on this machine, in its sandbox."""

import contextlib
import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from freeze_gate.capture.oracle.process import NotRun, OracleResult, OracleSpec
from freeze_gate.capture.oracle.sandbox import linux
from freeze_gate.capture.oracle.sandbox.launcher import Method, SandboxProcess, SandboxUnavailable, prepare
from freeze_gate.capture.oracle.sandbox.protocol import ConnectionLost, SandboxRequest
from freeze_gate.capture.oracle.sandbox.reaper import kill_descendants
from freeze_gate.evidence.digest import Sha256, hash_stream

FIXTURE_VARIABLE: Final = "FREEZE_GATE_FIXTURE"
FIXTURE_PLACEHOLDER: Final = "{fixture}"

_OPEN: Final = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


class LocalOracle(NamedTuple):
    """A command in a sandbox of this machine. `run` hashes the pin once more when the command has ended."""

    sandbox: SandboxProcess
    pin: Path
    lane: str | None = None
    lane_retries: int = 0

    @property
    def egress(self) -> str:
        """Whether the network is off."""
        return "sealed" if self.sandbox.is_sealed else "open"

    def run(self) -> OracleResult:
        """Start the command and wait for its end. Loses no result: a supervisor that was killed is one."""
        try:
            result = self.sandbox.run()
        except ConnectionLost:
            kill_descendants()
            result = None
        return OracleResult(result, hash_file(self.pin))


class Workspace(NamedTuple):
    """Where the command runs: its folder, the bundle that becomes read-only, the methods to try, the environment."""

    folder: Path
    bundle: Path
    methods: Sequence[Method]
    environ: Mapping[str, str]


@contextlib.contextmanager
def prepare_local(workspace: Workspace, spec: OracleSpec, pin: Path) -> Iterator[LocalOracle]:
    """Prepare the command by the first method that works. Raises `NotRun`."""
    if not sys.platform.startswith("linux"):
        raise NotRun("it needs Linux; run this step on a Linux runner")
    umask = os.umask(0)
    os.umask(umask)
    request = SandboxRequest(
        command=[argument.replace(FIXTURE_PLACEHOLDER, str(pin)) for argument in spec.command],
        folder=str(workspace.folder),
        environ={**workspace.environ, FIXTURE_VARIABLE: str(pin)},
        umask=umask,
        groups=os.getgroups(),
        timeout=spec.timeout,
        isolation=None,
    )
    linux.set_child_subreaper()
    try:
        sandbox = prepare(request, workspace.bundle.resolve(), workspace.methods)
    except SandboxUnavailable as error:
        raise NotRun(str(error)) from None
    linux.set_dumpable(dumpable=False)  # an oracle without a seal must not be able to change this process's memory
    try:
        yield LocalOracle(sandbox, pin)
    finally:
        sandbox.close()
        linux.set_dumpable(dumpable=True)


def hash_file(path: Path) -> Sha256 | None:
    """Hash a regular file; None if there is none. Links are not followed, and a FIFO is not waited for."""
    try:
        descriptor = os.open(path, _OPEN)
        with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor
            return hash_stream(stream).sha256 if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except OSError:
        return None
