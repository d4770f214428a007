"""Run the stand-in until it is interrupted: its addresses and tokens are printed as one line of JSON.

`python -m tests.standin --zip first=first.zip --zip rerun=rerun.zip` serves two artifacts of run 4242.
"""

import argparse
import json
import signal
import threading
from pathlib import Path

from tests.standin.server import Standin


def main() -> None:
    """Start, fill, print, wait."""
    parser = argparse.ArgumentParser(prog="python -m tests.standin", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 for containers")
    parser.add_argument("--name", default="127.0.0.1", help="the API's host name, as clients are to call it")
    parser.add_argument("--blob-name", default="localhost", help="the blob host's name")
    parser.add_argument("--port", type=int, default=0, help="the API's port; drawn unless given")
    parser.add_argument("--repository", default="octo-org/widgets")
    parser.add_argument("--run", type=int, default=4242)
    parser.add_argument("--sha", default="c" * 40, help="the head of the run and of the pull request")
    parser.add_argument("--pull", type=int, default=7, help="the number of an open pull request")
    parser.add_argument("--zip", action="append", default=[], metavar="NAME=FILE", help="an artifact of the run")
    asked = parser.parse_args()
    with Standin(host=asked.host, name=asked.name, blob_name=asked.blob_name, port=asked.port) as github:
        repository = github.repository(asked.repository)
        run = repository.add_run(asked.run, head_sha=asked.sha)
        repository.add_pull(number=asked.pull, head_sha=asked.sha)
        for name, _, path in (entry.partition("=") for entry in asked.zip):
            run.add_artifact(name, Path(path))
        started = {"api": github.url, "token": github.token, "runtime_token": github.results.token(run)}
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        print(json.dumps(started), flush=True)  # noqa: T201 - that is what it is started for
        stop.wait()


if __name__ == "__main__":
    main()
