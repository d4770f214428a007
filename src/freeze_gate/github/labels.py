"""Putting a label on an issue or a pull request, and nothing else: labels are only ever added."""

from typing import Final

from freeze_gate.github.client import Api, read
from freeze_gate.github.errors import ApiError, Purpose
from freeze_gate.validation.readers import ObjectReader, list_of, of_type

_ADD: Final = Purpose("add the label", "issues: write")
_LABELS: Final = list_of(ObjectReader(lambda **found: found["name"], {"name": of_type(str, "a string")}))


def add_label(api: Api, number: int, label: str) -> None:
    """Add one label, which GitHub creates where the repository has none of that name.

    Sent with the method that adds, so that a label that somebody else adds meanwhile stays. Raises `ApiError`, also
    where GitHub says that all is well and the label is not there.
    """
    answer = api.post(f"issues/{number}/labels", {"labels": [label]}, _ADD, again=True)
    if label.lower() not in {name.lower() for name in read(_LABELS, answer.payload, _ADD)}:
        raise ApiError("refused", "GitHub accepted the label and did not set it: it may need `issues: write`")
