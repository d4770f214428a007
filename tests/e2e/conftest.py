"""A real engine and the real image, built once. `script/e2e` starts the engine and names the base image."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = "/opt/freeze-gate/bin/python"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")

Docker = Callable[..., str]


@pytest.fixture(scope="session")
def docker() -> Docker:
    """Run the engine's client, which must succeed; give its standard output."""

    def run(*words: str | Path, stdin: str = "") -> str:
        done = subprocess.run(["docker", *map(str, words)], input=stdin, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"docker {words[0]} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def base_image() -> str:
    """Name the image that ours stands on."""
    return os.environ["BASE_IMAGE"]


@pytest.fixture(scope="session")
def image(docker: Docker, base_image: str) -> str:
    """Build the action's image, as the runner builds it."""
    arguments = [word for name in ("BASE_IMAGE", *PROXIES) for word in ("--build-arg", name)]
    docker("build", "--network", "host", *arguments, "--tag", "freeze-gate-e2e/action", ROOT)
    return "freeze-gate-e2e/action"
