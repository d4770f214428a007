"""Run a command and say what it took, as JSON: seconds of wall and of processor, MiB at the peak, the exit code.

A process of its own, and a small one: the peak that the kernel reports of a child is at least that of its parent, for
it survives the exec. Needs nothing but the standard library: `python -I -S spend.py COMMAND…`.
"""

import json
import os
import sys
import time

began = time.perf_counter()
silence = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=silence)
_, status, usage = os.wait4(child, 0)
wall = time.perf_counter() - began
code = os.waitstatus_to_exitcode(status)
spent = {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss / 1024, "code": code}
print(json.dumps(spent))  # noqa: T201 - that is what it is started for
