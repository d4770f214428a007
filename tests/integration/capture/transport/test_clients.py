"""What the recorder says of real clients against a server that sends exactly these bytes."""

from pathlib import Path

import pytest

from tests.support.exact_server import ExactServer
from tests.support.recording_clients import CLIENTS, bundle, capture
from tests.support.transport_cases import CASES, check


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("case", CASES)
def test_every_client_is_recorded_alike(case: str, client: str, tmp_path: Path) -> None:
    """Whoever reads, and however: the record says the same, and the pin holds every byte that arrived."""
    expected = CASES[case]
    with ExactServer(*expected.answers) as server:
        CLIENTS[client](capture(tmp_path, **expected.checks), server.url, len(expected.answers), expected.wait)
    check(bundle(tmp_path), expected)
