"""`python -m freeze_gate`."""

from freeze_gate.cli import entry

if __name__ == "__main__":
    entry()
