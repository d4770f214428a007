"""What capture commands print."""

from freeze_gate.capture.bundle.store import Pin
from freeze_gate.commands._capture import format_pin, format_transport
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Record, Transport


def test_format_transport__one_line_of_fixed_words() -> None:
    """One line, nothing of an answer in it; null and unknown where nothing is known."""
    blank = Record("x", None, None, None, None)
    assert format_transport(blank) == (
        "x: transport_ok=null fault=none status=unknown bytes=unknown of unknown retries=unknown pin_complete=null"
    )
    transport = Transport(200, False, 1, "truncated", False, 14, 10000)
    assert format_transport(blank._replace(transport_ok=False, transport=transport)) == (
        "x: transport_ok=false fault=truncated status=200 bytes=14 of 10000 retries=1 pin_complete=false"
    )


def test_format_pin__two_lines() -> None:
    """Where the sample is, or that there is none."""
    assert format_pin(None) == "fixture_sha256=missing\nfixture_path=missing\n"
    pin = Pin(Sha256.of(b""), "fixtures/x")
    assert format_pin(pin) == f"fixture_sha256={Sha256.of(b'')}\nfixture_path=fixtures/x\n"
