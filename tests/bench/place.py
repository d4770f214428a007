"""What is measured, set up as the image has it, and the processes that it is measured against."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.bench.measure import Command

ROOT = Path(__file__).parents[2]
_E2E = ROOT / "tests" / "e2e"
_REQUIRE = (  # parts of the client are CommonJS, and a module has no `require` of its own
    '--banner:js=import { createRequire as from } from "node:module"; const require = from(import.meta.url);'
)


class Installation(NamedTuple):
    """A folder for files, and an interpreter with Freeze Gate in it, made the way the Dockerfile makes the image's."""

    folder: Path
    python: Path

    @classmethod
    def make(cls, folder: Path, python: str) -> "Installation":
        """Make it: hash-locked dependencies, nothing else, bytecode that is never compared with its source."""
        venv, lock = folder / "freeze-gate", ROOT / "requirements" / "runtime.txt"
        own = venv / "bin" / "python"
        subprocess.run([python, "-m", "venv", "--without-pip", str(venv)], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(own), "--disable-pip-version-check", "install", "-qq"]
        locked = ["--no-compile", "--only-binary", ":all:", "--require-hashes", "--requirement", str(lock)]
        subprocess.run([*pip, *locked], check=True)
        (site,) = venv.glob("lib/python*/site-packages")
        shutil.copytree(ROOT / "src/freeze_gate", site / "freeze_gate", ignore=shutil.ignore_patterns("__pycache__"))
        compiling = ["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", str(site)]
        subprocess.run([str(own), *compiling], check=True)
        return cls(folder, own)

    @property
    def added(self) -> int:
        """Bytes of the tree that the image has over its base."""
        files = (path for path in self.python.parents[1].rglob("*") if path.is_file() and not path.is_symlink())
        return sum(path.stat().st_size for path in files)

    @property
    def version(self) -> str:
        """The interpreter's name and version."""
        said = subprocess.run([self.python, "--version"], stdout=subprocess.PIPE, text=True, check=True)
        return said.stdout.strip()

    def imports(self) -> Command:
        """Return the floor: the imports that the gate cannot do without, and nothing else."""
        return Command([self.python, "-I", "-c", "import requests, yaml"])

    def classify(self, first: Path, rerun: Path) -> Command:
        """Judge two zips offline; the pair is a flake, so it blocks."""
        return Command([self.python, "-I", "-m", "freeze_gate", "classify", first, rerun], code=1)

    def plain_reading(self, first: Path, rerun: Path) -> Command:
        """Return the floor of `classify`: read every member of two zips, parse the records, hash the pins."""
        return Command([self.python, "-I", Path(__file__).with_name("plain_reading.py"), first, rerun])

    def official_client(self) -> Path | None:
        """Bundle the official client's download as its action does; None where it is not installed."""
        esbuild, node = _E2E / "node_modules/.bin/esbuild", shutil.which("node")
        if not esbuild.exists() or not node:
            return None
        bundled = self.folder / "official.mjs"
        source = Path(__file__).with_name("official.mjs")
        told = ["--bundle", "--platform=node", "--format=esm", "--log-level=error", f"--outfile={bundled}", _REQUIRE]
        environ = {"PATH": os.environ["PATH"], "NODE_PATH": str(_E2E / "node_modules")}
        subprocess.run([esbuild, source, *told], check=True, env=environ)
        return bundled


class ApiTraffic(NamedTuple):
    """API calls, and round trips that waited for each other, the blob host's included."""

    calls: int
    rounds: int


class GitHub(NamedTuple):
    """A stand-in that runs, and the gate's step for it."""

    process: "subprocess.Popen[str]"
    environ: dict[str, str]
    workspace: Path

    def gate(self, place: Installation) -> Command:
        """Return the command of the image's entry point."""
        return Command([place.python, "-I", "-u", "-m", "freeze_gate", "gate"], self.workspace, self.environ, code=1)

    def download(self, bundled: Path, into: Path) -> Command:
        """Return the command of the official client."""
        environ = {**self.environ, "GITHUB_SERVER_URL": "https://github.com"}  # it works for no other
        return Command([str(shutil.which("node")), bundled, into], self.workspace, environ)

    def asked(self) -> ApiTraffic:
        """Say what was asked since the last time."""
        assert self.process.stdin
        assert self.process.stdout
        print(file=self.process.stdin, flush=True)
        return ApiTraffic(**json.loads(self.process.stdout.readline()))


@contextmanager
def github(scene: str, *zips: Path, latency: float = 0) -> Iterator[GitHub]:
    """Run a stand-in of one scene."""
    words = [sys.executable, "-m", "tests.bench.github", scene, *map(str, zips), "--latency", str(latency)]
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        told = json.loads(process.stdout.readline())
        yield GitHub(process, told["environ"], Path(told["workspace"]))
        process.stdin.close()
