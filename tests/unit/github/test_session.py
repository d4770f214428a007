"""What is said of a connection that broke."""

import errno

import pytest
import requests
import urllib3

from freeze_gate.github.errors import ConnectionFailed, Operation, ResourceShort
from freeze_gate.github.session import Token, error_from_exception

OPERATION = Operation("adding the label", "issues: write")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (requests.exceptions.SSLError("x"), "The certificate of GitHub is not trusted"),
        (requests.exceptions.ProxyError("x"), "The proxy to GitHub did not answer, or did not let the call through"),
        (requests.exceptions.ConnectTimeout("x"), "GitHub could not be reached in time"),
        (requests.exceptions.ReadTimeout("x"), "GitHub did not answer in time"),
        (urllib3.exceptions.ProtocolError("x"), "The response of GitHub was cut short"),
        (requests.exceptions.ConnectionError("x"), "GitHub could not be reached, or closed the connection"),
        (requests.exceptions.RetryError("x"), "The connection to GitHub broke"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_cause_is_said_without_the_error_s_own_text(error: Exception, words: str) -> None:
    """What the library says may hold the whole address; the place is named as the caller knows it."""
    assert str(error_from_exception(error, OPERATION)).startswith(words)
    failure = error_from_exception(error, OPERATION, "the storage")
    assert type(failure) is ConnectionFailed
    assert str(failure).lower().startswith(words.replace("GitHub", "the storage").lower())
    assert str(failure).endswith("while adding the label")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EMFILE, "This process may open no more files"),
        (errno.ENFILE, "This machine may open no more files"),
        (errno.ENOMEM, "The memory is used up"),
    ],
)
def test_the_resource_that_is_short_is_named(number: int, words: str) -> None:
    """However many libraries have wrapped the error of the system."""
    error = requests.exceptions.ConnectionError("x")
    error.__context__ = urllib3.exceptions.ProtocolError("x")
    error.__context__.__cause__ = OSError(number, "x")
    failure = error_from_exception(error, OPERATION)
    assert type(failure) is ResourceShort
    assert str(failure).startswith(words)


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
