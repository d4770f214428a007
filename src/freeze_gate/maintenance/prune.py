"""Finds and removes the pins of a fixture store that nothing refers to any more.

Folders are opened once, without following links, and files are reached only through the open folder. So a store that is
changed in the meantime cannot redirect the removal to another place.
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
from freeze_gate.evidence.archive.base import is_record
from freeze_gate.evidence.record import MAX_RECORD_BYTES, InvalidRecord, read_record
from freeze_gate.policy.freezes import Policy

_PIN: Final = re.compile(r"([0-9a-f]{64})(\.[A-Za-z0-9_+=-]{1,32}){0,4}")
_FOLDER: Final = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE: Final = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_SECONDS_A_DAY: Final = 86_400


class StoredPin(NamedTuple):
    """A pinned file in `fixtures/`: its name, the digest in the name, its size in bytes, its modification time."""

    name: str
    sha256: str
    size: int
    modified: float


class PrunableStore:
    """An open store: a folder with `fixtures/`, and with records at any depth."""

    def __init__(self, root: int, fixtures: int) -> None:
        self._root = root
        self._fixtures = fixtures

    def list_prunable(self, policy: Policy, now: datetime) -> list[StoredPin]:
        """List the pins that are older than `retention.fixtures_days` and belong to no record and no freeze.

        Expired freezes keep their pins too. Raises `UsageError` if the policy sets no retention, or if a record cannot
        be read: it may refer to any pin.
        """
        if policy.fixtures_days is None:
            raise UsageError("the policy sets no retention; add a line such as retention: {fixtures_days: 90}")
        needed = self._recorded_digests() | {freeze.fixture_sha256 for freeze in policy.freezes}
        oldest_kept = now.timestamp() - policy.fixtures_days * _SECONDS_A_DAY
        return [pin for pin in self._list_pins() if pin.modified < oldest_kept and pin.sha256 not in needed]

    def remove(self, pin: StoredPin) -> None:
        """Remove a pin. Raises `NoVerdictError`."""
        try:
            os.unlink(pin.name, dir_fd=self._fixtures)
        except OSError as error:
            raise NoVerdictError(f"cannot remove fixtures/{pin.name}: {error.strerror}") from error

    def _list_pins(self) -> Iterator[StoredPin]:
        with os.scandir(self._fixtures) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                match = _PIN.fullmatch(entry.name)
                if match and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    yield StoredPin(entry.name, match[1], status.st_size, status.st_mtime)

    def _recorded_digests(self) -> set[str]:
        """Return every digest that a record contains."""
        digests: set[str] = set()
        unreadable = []
        for folder, name, descriptor in self._record_files():
            try:
                digests |= _read_digests(name, descriptor)
            except (OSError, InvalidRecord) as error:
                unreadable.append(f"{folder}/{name} ({error.strerror if isinstance(error, OSError) else error})")
        if unreadable:
            raise UsageError(
                "nothing is removed while a record cannot be read, because it may refer to any pin;"
                f" fix or remove {', '.join(abbreviate(unreadable))}"
            )
        return digests

    def _record_files(self) -> Iterator[tuple[str, str, int]]:
        """List every `*.json` in a `records/` folder: the folder's path, the file's name, the open folder."""
        try:
            for folder, folders, files, descriptor in os.fwalk(".", onerror=_raise, dir_fd=self._root):
                if PurePath(folder).name == "records":
                    yield from ((folder[2:], name, descriptor) for name in files if is_record(f"records/{name}"))
                if "records" in folders:  # may be a link, which os.fwalk lists but does not enter: refuse it
                    os.close(os.open("records", _FOLDER, dir_fd=descriptor))
        except OSError as error:
            where = error.filename or "the store"
            raise UsageError(f"nothing is removed, because {where} cannot be read: {error.strerror}") from error


def _raise(error: OSError) -> NoReturn:
    raise error


@contextmanager
def open_store(folder: Path) -> Iterator[PrunableStore]:
    """Open a store. Raises `UsageError` if it is not a folder with a folder `fixtures`, or if either is a link."""
    descriptors: list[int] = []
    try:
        try:
            descriptors.append(os.open(folder, _FOLDER))
            descriptors.append(os.open("fixtures", _FOLDER, dir_fd=descriptors[0]))
        except OSError as error:
            raise UsageError(
                f"{folder} is not a fixture store: it must be a folder with a folder fixtures in it,"
                f" and neither may be a link ({error.strerror})"
            ) from error
        yield PrunableStore(*descriptors)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _read_digests(name: str, folder: int) -> set[str]:
    with os.fdopen(os.open(name, _FILE, dir_fd=folder), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(None, "not a file")
        record = read_record(stream.read(MAX_RECORD_BYTES + 1), name.removesuffix(".json"))
    in_path = (record.fixture_path or "").rpartition("/")[2][:64]
    return {digest for digest in (record.fixture_sha256, record.oracle.fixture_sha256, in_path) if digest}
