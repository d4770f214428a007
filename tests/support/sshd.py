"""A real sshd on the loopback, with its own keys and its own configuration, ended by its id."""

import contextlib
import getpass
import shlex
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.support.waiting import wait_until

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")


class Sshd(NamedTuple):
    """A server that was started, and the words of a client that reaches its forced command."""

    process: subprocess.Popen[bytes]
    client: list[str]

    def stop(self) -> None:
        """End the server, as a lane does that is down."""
        self.process.terminate()
        self.process.wait(10)


@contextlib.contextmanager
def run_sshd(folder: Path, command: Sequence[str]) -> Iterator[Sshd]:
    """Start a server that takes one key, and runs one command for it."""
    folder.mkdir()
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where it gives up its privileges
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    forced = shlex.join(["cd", str(folder.parent)]) + "; exec " + shlex.join(command)
    escaped = forced.replace("\\", "\\\\").replace('"', '\\"')
    public = (folder / "user.pub").read_text()
    (folder / "authorized").write_text(f'restrict,command="{escaped}" {public}')
    (folder / "known").write_text(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}")
    (folder / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\nStrictModes no\nUsePAM no\n"
        f"AuthorizedKeysFile {folder}/authorized\nPasswordAuthentication no\nPermitRootLogin forced-commands-only\n"
    )
    client = [
        *("ssh", "-T", "-F", "none", "-i", str(folder / "user"), "-p", str(port), "-l", getpass.getuser()),
        *("-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", f"UserKnownHostsFile={folder}/known"),
        *("127.0.0.1", "freeze-gate", "lane"),
    ]
    with (folder / "log").open("wb") as log:
        words = [str(SSHD), "-D", "-e", "-f", str(folder / "config")]
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait_until(lambda: "Server listening" in (folder / "log").read_text())
        yield Sshd(process, client)
    finally:
        process.terminate()
        process.wait(10)
