"""Which links to an artifact's storage are followed."""

import pytest

from freeze_gate.github.download import validate_link
from freeze_gate.github.errors import ApiError

SECRET = "sig=s3cret"


@pytest.mark.parametrize(
    ("link", "base"),
    [
        (f"https://blob.example.com/a.zip?{SECRET}", "https://api.github.com"),
        (f"https://blob.example.com/a.zip?{SECRET}", "http://127.0.0.1:8080"),
        (f"http://localhost:9/a.zip?{SECRET}", "http://127.0.0.1:8080"),
        (f"https://[::1]:9/a.zip?{SECRET}", "https://api.github.com"),
    ],
)
def test_a_link_as_safe_as_the_api_is_followed(link: str, base: str) -> None:
    """Over https, or over http where the API itself is asked over http."""
    validate_link(link, base)


@pytest.mark.parametrize(
    "link",
    [
        f"http://blob.example.com/a.zip?{SECRET}",
        f"ftp://blob.example.com/a.zip?{SECRET}",
        f"file:///etc/passwd?{SECRET}",
        f"/relative?{SECRET}",
        f"//blob.example.com/a.zip?{SECRET}",
        f"https://?{SECRET}",
        f"https://user:word@blob.example.com/a.zip?{SECRET}",
        f"https://[::1/a.zip?{SECRET}",
        f"https://x`y/a.zip?{SECRET}",
        f"https://x%20y/a.zip?{SECRET}",
        f"https://b\u0142ob.example.com/a.zip?{SECRET}",
        "",
    ],
)
def test_any_other_link_is_refused_and_not_shown(link: str) -> None:
    """A weaker channel, no host or an odd one, a name and a password: refused, and the message holds no signature."""
    with pytest.raises(ApiError, match="does not lead to an https address") as caught:
        validate_link(link, "https://api.github.com")
    assert SECRET not in str(caught.value)
