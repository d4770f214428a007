"""A verdict document without what only GitHub can say, to compare the gate's with that of `classify`."""

import json
from typing import Any

_GITHUB = ("github_metadata", "repository", "pull_request", "policy", "limits")


def only_evidence(document: bytes) -> Any:
    """Return what the evidence alone gives: the records, the pins, the class, the reason, the checks."""
    read = json.loads(document)
    for name in _GITHUB:
        read["case"].pop(name, None)
    for source in read["case"]["sources"]:
        for name in [name for name in source if name != "label"]:
            del source[name]
    return read
