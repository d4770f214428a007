"""The stand-in in a process of its own, with the evidence of one scene: `python -m tests.bench.github SCENE`.

It prints what the gate's step gets, as one line of JSON. To each line that it reads, it answers with what was asked of
it since the last one. It ends with its input.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.bench.evidence import ATTEMPTS, flake
from tests.builders.bundle import Capture, make_capture
from tests.builders.record import OTHER_SAMPLE
from tests.standin import Standin
from tests.standin.faults import Fault
from tests.support.gate_job import Job

POLICY: Final = b"schema: freeze-gate/policy/1\nmax_freeze_days: 30\nrequire: {sealed_oracle: true}\n"
PAIRS: Final[dict[str, tuple[Capture, Capture]]] = {
    "property_miss": (make_capture(oracle=False), make_capture(oracle=False)),
    "fixture_drift": (make_capture(oracle=False), make_capture(pin=OTHER_SAMPLE)),
    "harness_flake": (flake(1), flake(2)),
    "unclassified": (make_capture(oracle=False), make_capture()),
}
SHARDS: Final = 256


def main() -> None:
    """Start, fill, print, answer."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.github", description=__doc__)
    parser.add_argument("scene", choices=(*PAIRS, "shards", "merged", "zips"))
    parser.add_argument("zips", nargs="*", type=Path, metavar="ZIP", help="first and rerun, of the scene zips")
    parser.add_argument("--latency", type=float, default=0, help="seconds that each answer takes")
    asked = parser.parse_args()
    with Standin() as github, tempfile.TemporaryDirectory() as folder:
        job = Job(Path(folder), github)
        job.repository.add_file(".github/freeze-gate.yml", POLICY)
        inputs = _fill(job, asked.scene, asked.zips)
        arrivals: list[float] = []
        github.fault(Fault("act", act=lambda: arrivals.append(time.monotonic())))
        if asked.latency:
            github.fault(Fault("slow", seconds=asked.latency))
        print(json.dumps({"environ": job.variables(**inputs), "workspace": str(job.workspace)}), flush=True)  # noqa: T201
        for _ in sys.stdin:
            told = {"calls": len(github.asked("api")), "rounds": _rounds(arrivals, asked.latency)}
            arrivals.clear()
            github.log.clear()
            print(json.dumps(told), flush=True)  # noqa: T201 - that is what it is asked for


def _fill(job: Job, scene: str, zips: list[Path]) -> dict[str, str]:
    """Upload the scene's evidence and return the inputs that name it."""
    if scene == "shards":
        for number in range(SHARDS):
            for name, attempt in ATTEMPTS:
                job.upload(f"{name}-{number:03}", flake(attempt, f"fixture-{number:03}"))
        return {"first_artifact": "first-*", "rerun_artifact": "rerun-*"}
    if scene == "merged":
        for name, attempt in ATTEMPTS:
            job.upload(name, *(flake(attempt, f"fixture-{number:03}") for number in range(SHARDS)))
        return {}
    for (name, _), path in zip(ATTEMPTS, zips, strict=False):
        job.run.add_artifact(name, path)
    if scene in PAIRS:
        job.pair(*PAIRS[scene])
    return {}


def _rounds(arrivals: list[float], latency: float) -> int:
    """Count the round trips that waited for each other: what arrived while another was on its way came with it."""
    rounds, until = 0, 0.0
    for arrival in sorted(arrivals):
        if arrival >= until:
            rounds, until = rounds + 1, arrival + latency
    return rounds


if __name__ == "__main__":
    main()
