"""The image in a container engine that is there."""

import os
import re
import shutil
import subprocess
from typing import NamedTuple

from tests.bench.measure import Command
from tests.bench.place import ROOT, GitHub

_DOCKER = shutil.which("docker") or "docker"
_TAG = "freeze-gate-bench"


class Image(NamedTuple):
    """The names of the image and of its base, and their sizes in bytes."""

    image: str
    base: str
    size: int
    base_size: int


def answers() -> bool:
    """Whether there is an engine."""
    return bool(shutil.which(_DOCKER)) and _run("info").returncode == 0


def built() -> Image | None:
    """Build the image; None where its base cannot be had. BASE_IMAGE names another base, as for `script/e2e`."""
    named = re.search(r"^ARG BASE_IMAGE=(.+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    base = os.environ.get("BASE_IMAGE") or (named[1] if named else "")
    if _run("image", "inspect", base).returncode and _run("pull", base).returncode:
        return None
    _run("build", "--quiet", "--tag", _TAG, "--build-arg", f"BASE_IMAGE={base}", str(ROOT)).check_returncode()
    return Image(_TAG, base, _size(_TAG), _size(base))


def running(image: str, server: GitHub | None) -> Command:
    """Return the command that runs a container to its end: the gate, or an interpreter that does nothing."""
    words = [_DOCKER, "run", "--rm", "--network", "host"]
    if server is None:
        return Command([*words, "--entrypoint", "python", image, "-c", "pass"], environ=_engine())
    place = server.workspace.parent
    words += ["--volume", f"{place}:{place}", "--workdir", str(server.workspace)]
    for name in server.environ:
        words += ["--env", name]
    return Command([*words, image], environ={**server.environ, **_engine()}, code=1)


def _engine() -> dict[str, str]:
    return {name: os.environ[name] for name in ("DOCKER_HOST", "HOME") if name in os.environ}


def _run(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([_DOCKER, *words], capture_output=True, text=True, check=False)


def _size(image: str) -> int:
    return int(_run("image", "inspect", "--format", "{{.Size}}", image).stdout)
