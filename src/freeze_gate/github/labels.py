"""Labels of issues and pull requests. They are only ever added."""

from typing import Final

from freeze_gate.github.client import GitHubClient, parse_payload
from freeze_gate.github.errors import Operation, RequestRefused
from freeze_gate.validation.readers import ObjectReader, list_of, of_type

_ADD: Final = Operation("adding the label", "issues: write")
_LABELS: Final = list_of(ObjectReader(lambda **fields: fields["name"], {"name": of_type(str, "a string")}))


def add_label(client: GitHubClient, number: int, label: str) -> None:
    """Add one label; GitHub creates it if the repository has none of that name.

    POST adds, PUT would replace: a label that somebody else adds at the same time stays. Raises `ApiError`, also if
    GitHub reports success and the label is not there.
    """
    response = client.post(f"issues/{number}/labels", {"labels": [label]}, _ADD, retryable=True)
    labels = parse_payload(_LABELS, response.payload, _ADD)
    if label.lower() not in {name.lower() for name in labels}:
        raise RequestRefused("GitHub accepted the label but did not set it: the token may need `issues: write`")
