"""Which methods of making a seal are tried, and the message if none works."""

import os
import sys
from pathlib import Path

import pytest

from freeze_gate.capture.oracle.sandbox.launcher import (
    AS_ROOT,
    WITH_USER_NAMESPACE,
    Method,
    SandboxUnavailable,
    available_methods,
    prepare,
    with_sudo,
)
from freeze_gate.capture.oracle.sandbox.protocol import SandboxRequest

REQUEST = SandboxRequest(["true"], "/", dict(os.environ), 0o22, [], None, None)


def _sudo(folder: Path, script: str) -> str:
    path = folder / "sudo"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_root_uses_no_sudo_and_other_users_try_it_last(tmp_path: Path) -> None:
    """Root does without sudo. Another user tries a user namespace first, then sudo if it is there."""
    sudo = _sudo(tmp_path, "exit 1")
    expected = [AS_ROOT, WITH_USER_NAMESPACE] if os.geteuid() == 0 else [WITH_USER_NAMESPACE, with_sudo(sudo, {})]
    assert available_methods({"PATH": str(tmp_path)}) == expected


def test_sudo_asks_no_password_and_keeps_the_library_path() -> None:
    """No password is ever asked for; a Python that needs `LD_LIBRARY_PATH` still starts."""
    assert with_sudo("/usr/bin/sudo", {}).prefix == ("/usr/bin/sudo", "-n", "--")
    prefix = with_sudo("/usr/bin/sudo", {"LD_LIBRARY_PATH": "/opt/lib"}).prefix
    assert prefix == ("/usr/bin/sudo", "-n", "--", "env", "LD_LIBRARY_PATH=/opt/lib")


def test_the_stderr_of_sudo_is_shown_cleaned(tmp_path: Path) -> None:
    """It is quoted on one line, without control characters, and cut."""
    sudo = _sudo(tmp_path, r"printf 'sudo: \033[31mno\n\n::error::%0500d\n' 1 >&2; exit 1")
    with pytest.raises(SandboxUnavailable) as caught:
        prepare(REQUEST, tmp_path, [with_sudo(sudo, {})])
    assert str(caught.value).isprintable()
    assert len(str(caught.value).partition(" Do one of these: ")[0]) < 400


def test_each_method_that_fails_gives_its_cause(tmp_path: Path) -> None:
    """The methods are tried in order; the message names each with its cause."""
    broken = [
        Method("method one", ("/no/such/program",)),
        Method("method two", (sys.executable, "-c", "raise SystemExit('no luck')")),
    ]
    with pytest.raises(SandboxUnavailable) as caught:
        prepare(REQUEST, tmp_path, broken)
    causes = "method one: starting: No such file or directory; method two: starting: no luck. Do one of these: "
    assert str(caught.value).startswith(causes)
