"""What is said of a connection that broke."""

import pytest
import requests
import urllib3

from freeze_gate.github.session import Token, describe_connection_error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (requests.exceptions.SSLError("x"), "The certificate of GitHub is not trusted"),
        (requests.exceptions.ProxyError("x"), "The proxy to GitHub did not answer, or did not let the call through"),
        (requests.exceptions.ConnectTimeout("x"), "GitHub could not be reached in time"),
        (requests.exceptions.ReadTimeout("x"), "GitHub did not answer in time"),
        (urllib3.exceptions.ProtocolError("x"), "The response of GitHub was cut short"),
        (requests.exceptions.ConnectionError("x"), "GitHub could not be reached, or closed the connection"),
        (requests.exceptions.InvalidURL("x"), "The connection to GitHub broke"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_cause_is_said_without_the_error_s_own_text(error: Exception, words: str) -> None:
    """What the library says may hold the whole address; the place is named as the caller knows it."""
    assert describe_connection_error(error).startswith(words)
    assert (
        describe_connection_error(error, "the storage")
        .lower()
        .startswith(words.replace("GitHub", "the storage").lower())
    )


SECRET = "ghs_0123456789"


def test_a_token_shows_nothing_of_itself() -> None:
    """Neither text nor representation of a token, nor of what holds it, shows the secret."""
    token = Token(SECRET)
    shown = f"{token} {token!r} {[token]} {vars(type(token))}"
    assert SECRET not in shown
    assert str(token) == "***"
    assert token.to_header() == f"Bearer {SECRET}"


@pytest.mark.parametrize("secret", ["", " ", "two words", "line\nend", "ümlaut", "x" * 1001])
def test_what_cannot_be_a_token_is_refused(secret: str) -> None:
    """A token goes into a header: it is one word of plain characters, and the message does not repeat it."""
    with pytest.raises(ValueError, match="one word of plain characters") as caught:
        Token(secret)
    assert secret.strip() == "" or secret not in str(caught.value)
