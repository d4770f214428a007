"""Which ways to a seal are tried, and what is said where none works."""

import os
import sys
from pathlib import Path

import pytest

from freeze_gate.capture.oracle.sandbox.launcher import (
    AS_ROOT,
    WITH_USER_NAMESPACE,
    NotSealed,
    Way,
    prepare_sealed,
    ways,
    with_sudo,
)
from freeze_gate.capture.oracle.sandbox.protocol import Order

ORDER = Order(["true"], "/", dict(os.environ), 0o22, [], None, None)


def _program(folder: Path, text: str) -> str:
    path = folder / "sudo"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_root_needs_nobody_and_others_try_sudo_last(tmp_path: Path) -> None:
    """Root builds by itself; another user without root's help first, then through sudo where there is one."""
    sudo = _program(tmp_path, "exit 1")
    found = ways({"PATH": str(tmp_path)})
    others = [WITH_USER_NAMESPACE, with_sudo(sudo, {})]
    assert found == ([AS_ROOT, WITH_USER_NAMESPACE] if os.geteuid() == 0 else others)


def test_sudo_is_asked_nothing_and_keeps_the_path_of_libraries() -> None:
    """No password is ever asked for; a Python that needs `LD_LIBRARY_PATH` still starts."""
    assert with_sudo("/usr/bin/sudo", {}).prefix == ("/usr/bin/sudo", "-n", "--")
    prefix = with_sudo("/usr/bin/sudo", {"LD_LIBRARY_PATH": "/opt/lib"}).prefix
    assert prefix == ("/usr/bin/sudo", "-n", "--", "env", "LD_LIBRARY_PATH=/opt/lib")


def test_what_sudo_complains_of_is_shown_cleaned(tmp_path: Path) -> None:
    """The cause is quoted in one line, without control characters, and cut."""
    sudo = _program(tmp_path, r"printf 'sudo: \033[31mno\n\n::error::%0500d\n' 1 >&2; exit 1")
    with pytest.raises(NotSealed) as caught:
        prepare_sealed(ORDER, tmp_path, [with_sudo(sudo, {})])
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_each_way_that_fails_gives_its_cause(tmp_path: Path) -> None:
    """The ways are tried in order; the message names each with what was in its way."""
    broken = [
        Way("by one", ("/no/such/program",)),
        Way("by two", (sys.executable, "-c", "raise SystemExit('no luck')")),
    ]
    with pytest.raises(NotSealed) as caught:
        prepare_sealed(ORDER, tmp_path, broken)
    assert str(caught.value) == "by one: starting: No such file or directory; by two: starting: no luck"
