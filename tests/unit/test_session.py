"""What is said of a connection that broke."""

import pytest
import requests
import urllib3

from freeze_gate.github.session import cause


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (requests.exceptions.SSLError("x"), "The certificate of GitHub is not trusted"),
        (requests.exceptions.ProxyError("x"), "The proxy to GitHub did not answer, or did not let the call through"),
        (requests.exceptions.ConnectTimeout("x"), "GitHub could not be reached in time"),
        (requests.exceptions.ReadTimeout("x"), "GitHub did not answer in time"),
        (urllib3.exceptions.ProtocolError("x"), "The answer of GitHub was cut short"),
        (requests.exceptions.ConnectionError("x"), "GitHub could not be reached, or closed the connection"),
        (requests.exceptions.InvalidURL("x"), "The connection to GitHub broke"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_cause_is_said_without_the_error_s_own_text(error: Exception, words: str) -> None:
    """What the library says may hold the whole address; the place is named as the caller knows it."""
    assert cause(error).startswith(words)
    assert cause(error, "the storage").lower().startswith(words.replace("GitHub", "the storage").lower())
