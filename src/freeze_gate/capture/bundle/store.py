"""The bundle on disk, as the capture side writes it: pins under their digests, one record for each fixture id."""

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from freeze_gate.capture.bundle.lock import file_lock
from freeze_gate.errors import UsageError
from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.digest import Sha256, hash_stream
from freeze_gate.evidence.record import (
    FIXTURE_ID,
    MAX_RECORD_BYTES,
    InvalidRecord,
    Record,
    encode_record,
    read_record,
)
from freeze_gate.files import Folder, open_folder, os_errors, refuse_links

DEFAULT_FOLDER: Final = "freeze-gate"
"""No dot in front: the upload step leaves hidden folders out unless it is told not to."""

_SUFFIX: Final = re.compile(r"(\.[A-Za-z0-9_+=-]{1,32}){0,4}")
_READ_ONLY: Final = 0o444


class Pin(NamedTuple):
    """Where bytes are stored: their digest, and their path below the bundle's folder, with `/`."""

    sha256: Sha256
    path: str


def pin_of(record: Record) -> Pin | None:
    """Return what the record names as its pin."""
    if record.fixture_sha256 is None or record.fixture_path is None:
        return None
    return Pin(record.fixture_sha256, record.fixture_path)


def bundle_folder(option: str | None, environ: Mapping[str, str]) -> Path:
    """Return where the bundle is: the option, else `FREEZE_GATE_BUNDLE`, else `freeze-gate`. "" is no option."""
    return Path(option or environ.get("FREEZE_GATE_BUNDLE") or DEFAULT_FOLDER)


def has_oracle_started(record: Record) -> bool:
    """Whether an oracle was ever started on the record; one that could not be sealed was not."""
    return record.oracle_passed is not None or bool(record.oracle.runs)


def conflicting_sample(fixture_id: str) -> str:
    """Return the message for other bytes under an id that has its pin."""
    return f"{fixture_id} already has a different pin; use another fixture id for a second sample"


class Store:
    """One bundle's folder: `records/<fixture_id>.json` and `fixtures/<sha256><suffix>`. Made on the first write.

    Every method raises `UsageError` for a fixture id that is none, and for a link or a special file in the way;
    `NoVerdictError` where the file system refuses.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes and threads off the bundle; hold it around a read and the write that follows."""
        with os_errors("lock", self.folder):
            refuse_links(self.folder)
            self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / ".lock"
        refuse_links(path)
        with file_lock(path):
            yield

    def record_file(self, fixture_id: str) -> Path:
        """Where the record of an id is, whether it is there or not."""
        if not re.fullmatch(FIXTURE_ID, fixture_id):
            raise UsageError(
                f"fixture id {fixture_id[:128]!a} is not allowed: letters, digits, dots, underscores and hyphens,"
                " 128 at most, the first a letter or a digit"
            )
        return self.folder / "records" / f"{fixture_id}.json"

    def read(self, fixture_id: str) -> Record | None:
        """Read the record of an id; None where there is none. Raises `UsageError` where what is there is no record."""
        path = self.record_file(fixture_id)
        refuse_links(self.folder, path.parent, path)
        with os_errors("read", path):
            try:
                with path.open("rb") as stream:
                    payload = stream.read(MAX_RECORD_BYTES + 1)
            except FileNotFoundError:
                return None
        try:
            return read_record(payload, fixture_id)
        except InvalidRecord as error:
            raise UsageError(f"{path} is not a record ({error}): remove it and capture again") from None

    def read_unless_checked(self, fixture_id: str) -> Record | None:
        """Read the record of an id that is about to be changed by anything but an oracle.

        Raises `UsageError` once an oracle has started on it: a retry inside one job must not wash a fail away.
        """
        record = self.read(fixture_id)
        if record is not None and has_oracle_started(record):
            raise UsageError(
                f"an oracle has already run on {fixture_id}, and its record stays as it is:"
                " take another fixture id, or start a new run"
            )
        return record

    def write(self, record: Record) -> None:
        """Put a record in its place. Raises `InvalidRecord` for one that nobody could read or that cannot be true."""
        path, payload = self.record_file(record.fixture_id), encode_record(record)
        read_record(payload, record.fixture_id)
        if problems := contradictions(record):
            raise InvalidRecord(*problems)
        with os_errors("write", path), self._open("records") as folder, folder.temporary_file([payload]) as temporary:
            folder.rename(temporary, path.name)

    def pin(self, payload: bytes | Iterable[bytes], suffix: str = "", *, expected: Sha256 | None = None) -> Pin:
        """Store bytes under their digest, read-only; equal bytes under an equal suffix are stored once.

        An iterable is written as it comes. Raises `UsageError` for a suffix that is none, for bytes that are not the
        `expected` ones, and where the place is taken by other bytes: a pin that something changed is never repaired.
        """
        validate_suffix(suffix)
        chunks = [payload] if isinstance(payload, bytes) else payload
        with (
            os_errors("write", self.folder / "fixtures"),
            self._open("fixtures") as folder,
            folder.temporary_file(chunks, _READ_ONLY) as temporary,
        ):
            sha256 = _sha256(folder, temporary)
            if expected not in (None, sha256):
                raise UsageError(f"the bytes hash to {sha256}, not to {expected}: they are not what was pinned")
            name = f"{sha256}{suffix}"
            try:
                existing = _sha256(folder, name)
            except FileNotFoundError:
                folder.rename(temporary, name)
            else:
                if existing != sha256:
                    raise UsageError(
                        f"{folder.path / name} does not match the digest in its name: the pin was modified;"
                        " start with a new bundle folder"
                    )
        return Pin(sha256, f"fixtures/{name}")

    def pinned_file(self, record: Record) -> Path | None:
        """Return the absolute path of the record's pin, whether it is there or not; None where nothing is pinned."""
        if record.fixture_path is None:
            return None
        path = self.folder / record.fixture_path
        refuse_links(self.folder, *(self.folder / part for part in Path(record.fixture_path).parents), path)
        return path.absolute()

    @contextlib.contextmanager
    def _open(self, name: str) -> Iterator[Folder]:
        refuse_links(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        with open_folder(self.folder) as folder, folder.subfolder(name) as subfolder:
            yield subfolder


def validate_suffix(suffix: str) -> str:
    """Return what may end a pinned file's name; "" may. Raises `UsageError` for anything else."""
    if not _SUFFIX.fullmatch(suffix):
        raise UsageError(f"suffix {suffix[:64]!a} is not allowed: such as .json, of letters, digits and _+=-")
    return suffix


def _sha256(folder: Folder, name: str) -> Sha256:
    with folder.read(name) as stream:
        return hash_stream(stream).sha256
