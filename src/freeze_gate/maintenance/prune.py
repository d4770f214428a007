"""The retention of a fixture store: which pins nothing refers to any more, and their removal.

Folders are opened once, without following a link, and everything below is reached through the open folder: a store that
is changed meanwhile cannot lead the removal out of itself.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path, PurePath
from typing import Final, NamedTuple, NoReturn

from freeze_gate.errors import NoVerdictError, UsageError
from freeze_gate.evidence.abbreviation import abbreviate
from freeze_gate.evidence.record import MAX_RECORD_BYTES, InvalidRecord, Record, read_record
from freeze_gate.policy.freezes import Policy
from freeze_gate.report.escape import escape_log

_PIN: Final = re.compile(r"([0-9a-f]{64})(\.[A-Za-z0-9_+=-]{1,32}){0,4}")
_FOLDER: Final = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE: Final = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_SECONDS_A_DAY: Final = 86_400


class Pin(NamedTuple):
    """A pinned file as it lies in `fixtures/`: its name, the digest in it, its size in bytes, its last change."""

    name: str
    sha256: str
    size: int
    changed: float


class FixtureStore:
    """An open store: a folder with `fixtures/`, and with records at any depth."""

    def __init__(self, root: int, fixtures: int) -> None:
        self._root = root
        self._fixtures = fixtures

    def prunable(self, policy: Policy, now: datetime) -> list[Pin]:
        """List the pins that may go: older than `retention.fixtures_days`, and of no record and no freeze.

        Lapsed freezes keep their pins too. Raises `UsageError` where no retention is set, and where a record cannot be
        read: what it refers to is not known.
        """
        if policy.fixtures_days is None:
            raise UsageError("the policy sets no retention; it takes a line such as retention: {fixtures_days: 90}")
        kept = self._referred() | {freeze.fixture_sha256 for freeze in policy.freezes}
        latest = now.timestamp() - policy.fixtures_days * _SECONDS_A_DAY
        return [pin for pin in self._pins() if pin.changed < latest and pin.sha256 not in kept]

    def remove(self, pin: Pin) -> None:
        """Remove a pin. Raises `NoVerdictError`."""
        try:
            os.unlink(pin.name, dir_fd=self._fixtures)
        except OSError as error:
            raise NoVerdictError(f"cannot remove fixtures/{pin.name}: {error.strerror}") from error

    def _pins(self) -> Iterator[Pin]:
        with os.scandir(self._fixtures) as entries:
            for entry in sorted(entries, key=lambda each: each.name):
                named = _PIN.fullmatch(entry.name)
                if named and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    yield Pin(entry.name, named[1], status.st_size, status.st_mtime)

    def _referred(self) -> frozenset[str]:
        """Return every digest that a record names in any way."""
        referred: set[str] = set()
        unread = []
        for folder, name, descriptor in self._record_files():
            try:
                referred |= _digests(_read(name, descriptor))
            except (OSError, InvalidRecord) as error:
                unread.append(f"{folder}/{name} ({error.strerror if isinstance(error, OSError) else error})")
        if unread:
            raise UsageError(
                "nothing is removed while a record cannot be read, because it may refer to any pin;"
                f" mend or remove {', '.join(abbreviate(unread, show=escape_log))}"
            )
        return frozenset(referred)

    def _record_files(self) -> Iterator[tuple[str, str, int]]:
        """Name every `*.json` in a `records/` folder, with the open folder."""
        try:
            for folder, folders, files, descriptor in os.fwalk(".", onerror=_raised, dir_fd=self._root):
                if PurePath(folder).name == "records":
                    yield from ((folder[2:], name, descriptor) for name in files if name.endswith(".json"))
                if "records" in folders:  # a link is among them, and is not walked into
                    os.close(os.open("records", _FOLDER, dir_fd=descriptor))
        except OSError as error:
            where = escape_log(str(error.filename or "the store"))
            raise UsageError(f"nothing is removed, because {where} cannot be read: {error.strerror}") from error


def _raised(error: OSError) -> NoReturn:
    raise error


@contextmanager
def fixture_store(folder: Path) -> Iterator[FixtureStore]:
    """Open a store. Raises `UsageError` where it is none: no folder, a link, or without `fixtures/`."""
    opened: list[int] = []
    try:
        try:
            opened.append(os.open(folder, _FOLDER))
            opened.append(os.open("fixtures", _FOLDER, dir_fd=opened[0]))
        except OSError as error:
            raise UsageError(
                f"{escape_log(str(folder))} is no fixture store: it must be a folder with a folder fixtures in it,"
                f" and neither may be a link ({error.strerror})"
            ) from error
        yield FixtureStore(*opened)
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _read(name: str, folder: int) -> Record:
    with os.fdopen(os.open(name, _FILE, dir_fd=folder), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(None, "not a file")
        return read_record(stream.read(MAX_RECORD_BYTES + 1), name.removesuffix(".json"))


def _digests(record: Record) -> set[str]:
    path = (record.fixture_path or "").rpartition("/")[2]
    return {digest for digest in (record.fixture_sha256, record.oracle.fixture_sha256, path[:64]) if digest}
