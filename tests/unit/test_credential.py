"""The token: it opens GitHub and shows nothing of itself."""

import pytest

from freeze_gate.errors import UsageError
from freeze_gate.github.credential import Token

SECRET = "ghs_0123456789"


def test_a_token_shows_nothing_of_itself() -> None:
    """Neither text nor representation of a token, nor of what holds it, shows the secret."""
    token = Token(SECRET)
    shown = f"{token} {token!r} {[token]} {vars(type(token))}"
    assert SECRET not in shown
    assert str(token) == "***"
    assert token.bearer() == f"Bearer {SECRET}"


@pytest.mark.parametrize("secret", ["", " ", "two words", "line\nend", "ümlaut", "x" * 1001])
def test_what_cannot_be_a_token_is_refused(secret: str) -> None:
    """A token goes into a header: it is one word of plain characters, and the message does not repeat it."""
    with pytest.raises(UsageError, match="github-token: must be one word") as caught:
        Token(secret)
    assert secret.strip() == "" or secret not in str(caught.value)
