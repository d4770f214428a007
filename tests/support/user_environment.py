"""Environments to run an oracle in, made for real: another user, a real sudo, limits of 0. All ends with the test."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.oracle_job import make_oracle_job
from tests.support.user_environment_setup import EXTRA_GROUP, GID, UID, UserEnvironment

ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def make_home(environment: UserEnvironment) -> Iterator[Path]:
    """Make the working folder of an environment where its user can reach it, which is not below pytest's own."""
    if os.geteuid() != 0:
        pytest.skip("only root can make another user's environment")
    if environment.sudo and shutil.which("sudo") is None:
        pytest.skip("there is no sudo on this machine")
    with tempfile.TemporaryDirectory(prefix="freeze-gate-user-") as name:
        home = Path(name)
        home.chmod(0o755)
        _fill_home(home, environment)
        yield home


def run_python_in(
    environment: UserEnvironment, home: Path, *arguments: str, path: str | None = None, **run: Any
) -> subprocess.CompletedProcess[str]:
    """Run `python *arguments` in an environment."""
    variables = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", "PATH": path or os.environ["PATH"]}
    setup = [sys.executable, "-m", "tests.support.user_environment_setup"]
    setup.append(json.dumps([environment._asdict(), str(home), arguments]))
    run = {"capture_output": True, "text": True, "timeout": 60, "env": variables} | run
    return subprocess.run(setup, check=False, **run)


def _fill_home(home: Path, environment: UserEnvironment) -> None:
    """Put into `home` what the user needs: the package, a folder for the interpreter, accounts, sudo's rules."""
    etc = home / "etc"
    etc.mkdir()
    (home / "python").mkdir()
    shutil.copytree(ROOT / "src", home / "src")
    account = f"stranger:*:{UID}:{GID}::{home}:/bin/sh\n"
    (etc / "passwd").write_text(Path("/etc/passwd").read_text() + account)
    (etc / "group").write_text(Path("/etc/group").read_text() + f"stranger:x:{GID}:\nextra:x:{EXTRA_GROUP}:stranger\n")
    rules = "root ALL=(ALL) ALL\n" + ("stranger ALL=(ALL) NOPASSWD: ALL\n" if environment.sudo else "")
    (etc / "sudoers").write_text("Defaults env_reset, secure_path=/usr/sbin:/usr/bin:/sbin:/bin\n" + rules)
    (etc / "resolv.conf").write_text("nameserver 127.0.0.53\noptions timeout:1 attempts:1\n")
    (etc / "sudoers").chmod(0o440)
    shutil.copy(Path(__file__).with_name("network_probe.py"), home)
    make_oracle_job(home)
    for path in (home, *home.rglob("*")):
        if etc not in (path.parent, path):
            os.chown(path, environment.uid, GID if environment.uid else 0)
