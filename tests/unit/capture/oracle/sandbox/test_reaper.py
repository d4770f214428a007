"""Killing what a command left behind."""

import subprocess
import sys

PROGRAM = """
import os, subprocess, sys
from freeze_gate.capture.oracle.sandbox import linux
from freeze_gate.capture.oracle.sandbox.reaper import kill_descendants

def start(*command):
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"up\\n"
    return process

linux.set_child_subreaper()
daemon = start("sh", "-c", "(setsid sh -c 'sleep 600 & sleep 600 & echo up; wait' &)")
brackets = "import ctypes, time; ctypes.CDLL(None).prctl(15, b') 1 (x'); print('up', flush=True); time.sleep(600)"
child = start(sys.executable, "-c", brackets)
survivors = kill_descendants()
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("survivors", survivors, "and no child")
"""


def test_all_descendants_are_killed_whatever_their_names() -> None:
    """A daemon with children of its own, and a process with brackets in its name: none is left, none is a zombie."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "survivors 0 and no child\n"
