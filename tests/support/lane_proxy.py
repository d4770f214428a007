"""A carrier that breaks: it starts a lane, forwards both ways, and does one of a few things at one place.

    python lane_proxy.py ACTION PLACE -- LANE…

PLACE is a text in what the near side sends, or `<` and a text in what the lane sends; the text itself is not
forwarded. ACTION is `cut` (close everything and end with 255, as ssh does), `hang` (forward nothing more), `change`
(forward another byte instead of its first), or `kill` (send SIGKILL to the lane, then forward on).
"""

import os
import select
import subprocess
import sys


def main() -> int:
    """Forward until both ends are closed, or the place is reached."""
    action, place, _, *command = sys.argv[1:]
    source, text = (1, place[1:]) if place.startswith("<") else (0, place)
    pattern = text.encode()
    lane = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert lane.stdin
    assert lane.stdout
    routes = {0: lane.stdin.fileno(), lane.stdout.fileno(): 1}
    readers = list(routes)
    while readers:
        for reader in select.select(readers, [], [])[0]:
            data = os.read(reader, 1 << 16)
            if not data:
                readers.remove(reader)
                if reader == 0:
                    lane.stdin.close()
                    continue
                return lane.wait()
            at = data.find(pattern) if reader == list(routes)[source] else -1
            if at >= 0:
                _write(routes[reader], data[:at])
                data = data[at:]
                if action == "cut":
                    lane.stdin.close()
                    lane.stdout.close()
                    lane.wait()
                    return 255
                if action == "hang":
                    readers = [0]
                    routes[0] = os.open(os.devnull, os.O_WRONLY)
                    continue
                if action == "change":
                    data = bytes([data[0] ^ 1]) + data[1:]
                if action == "kill":
                    lane.kill()
            _write(routes[reader], data)
    return lane.wait()


def _write(descriptor: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except BrokenPipeError:
        pass


if __name__ == "__main__":
    sys.exit(main())
