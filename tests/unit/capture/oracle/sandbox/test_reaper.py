"""Ending what a command left behind."""

import subprocess
import sys

PROGRAM = """
import os, subprocess, sys, time
from freeze_gate.capture.oracle.sandbox import linux
from freeze_gate.capture.oracle.sandbox.reaper import kill_descendants
linux.set_child_subreaper()
subprocess.run(["sh", "-c", "(setsid sh -c 'sleep 600 & sleep 600 & wait' &) ; sleep 0.1"], check=True)
odd = "import ctypes, time; ctypes.CDLL(None).prctl(15, b') 1 (x'); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", odd])
time.sleep(0.3)
left = kill_descendants()
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("left", left, "and no child")
"""


def test_all_descendants_end_whatever_they_call_themselves() -> None:
    """A daemon with children of its own, and a process with brackets in its name: none is left, none is a zombie."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "left 0 and no child\n"
