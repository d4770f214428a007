"""How the commands that judge read a file that the user names: never more of it than they could use."""

from pathlib import Path

from freeze_gate.errors import UsageError
from freeze_gate.report.escape import escape_log


def read_file(path: Path, max_bytes: int, option: str = "") -> bytes:
    """Read a file or a pipe, at most one byte beyond `max_bytes`: with it, the content is too large for its reader.

    Raises `UsageError`; `option` is the option that names the file.
    """
    try:
        with path.open("rb") as stream:
            return stream.read(max_bytes + 1)
    except OSError as error:
        name = " ".join(filter(None, (option, escape_log(str(path)))))
        raise UsageError(f"{name} cannot be read: {error.strerror}") from None
