"""The settings of the environment for the way to GitHub: a proxy and certificate authorities, checked before any call.

A wrong one fails every call in the same way, so waiting for a better moment would not help. What `requests` makes of
the variables: https://requests.readthedocs.io/en/latest/user/advanced/#proxies and #ssl-cert-verification
"""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from requests.utils import get_environ_proxies, select_proxy

from freeze_gate.errors import CA_BUNDLES, UsageError


def check_network_settings(environ: Mapping[str, str], workspace: Path, api_url: str) -> None:
    """Raise `UsageError` for a setting that cannot be used, or that the tested code controls."""
    _check_certificates(environ, workspace)
    _check_proxy(environ, api_url)


def _check_certificates(environ: Mapping[str, str], workspace: Path) -> None:
    """Refuse certificate authorities from the workspace, which the patch controls, and what cannot be read."""
    values = [(name, environ[name]) for name in CA_BUNDLES if environ.get(name)]
    for name, value in values:
        if any(path.is_relative_to(folder) for path in _paths(Path(value)) for folder in _paths(workspace)):
            raise UsageError(f"`{name}` is {value!r}, inside the workspace; allowed: a file outside the checkout")
    if values and not os.access(values[0][1], os.R_OK):
        name, value = values[0]
        raise UsageError(
            f"`{name}` is {value!r}, which cannot be read: a container sees no paths of its host. Put the "
            "certificates below `$RUNNER_TEMP`, which the runner mounts, or leave the variable unset for this step"
        )


def _check_proxy(environ: Mapping[str, str], api_url: str) -> None:
    """Refuse a proxy that `requests` would take for the API and cannot use. Its address may hold a password."""
    proxies = get_environ_proxies(api_url)
    proxy = select_proxy(api_url, proxies)
    if not proxy:
        return
    key = next(key for key, value in proxies.items() if value == proxy)
    name = next((name for name in (f"{key}_proxy", f"{key}_proxy".upper()) if environ.get(name)), "the system's proxy")
    advice = "allowed: http://host:port, or GitHub's hosts in `NO_PROXY`"
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        scheme, host, _port = parts.scheme, parts.hostname, parts.port
    except ValueError:
        raise UsageError(f"`{name}` is not the address of a proxy; {advice}") from None
    if scheme not in ("http", "https"):
        raise UsageError(f"`{name}` names a proxy of the kind `{scheme[:20]}`, which Freeze Gate cannot use; {advice}")
    if not host:
        raise UsageError(f"`{name}` names no host; {advice}")


def _paths(path: Path) -> tuple[Path, Path]:
    """Return an absolute path as it is written, and where its links lead."""
    return Path(os.path.abspath(path)), path.resolve()  # noqa: PTH100 - `Path.absolute` keeps `..`
