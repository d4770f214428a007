"""Where the API is, and what belongs to it: the token is sent to one server alone."""

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

from freeze_gate.errors import UsageError

_REPOSITORY: Final = re.compile(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}")


def checked_base(base: str) -> str:
    """Return the address of the API without a slash at its end. Raises `UsageError`."""
    try:
        parts = urlsplit(base)
        sound = _origin(base)[0] in ("http", "https") and bool(parts.hostname)
    except ValueError:
        sound = False
    if not sound or not re.fullmatch(r"[!-~]+", base) or {"@", "?", "#"} & set(base):
        raise UsageError("GITHUB_API_URL: must be the address of GitHub's API, such as https://api.github.com")
    return base.rstrip("/")


def checked_repository(repository: str) -> str:
    """Return `owner/name` as it is. Raises `UsageError`."""
    if not _REPOSITORY.fullmatch(repository) or {".", ".."} & set(repository.split("/")):
        raise UsageError("GITHUB_REPOSITORY: must be owner/name")
    return repository


def _origin(url: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port of a URL. Raises `ValueError` for what is none."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def inside(root: str, location: str) -> str | None:
    """Return the absolute URL that a server leads to from `root`; None for what leads nowhere or to another server."""
    try:
        url = urljoin(root, location)
        return url if location and _origin(url) == _origin(root) else None
    except ValueError:
        return None
