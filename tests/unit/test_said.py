"""What is printed of a record."""

from freeze_gate.capture.said import said
from freeze_gate.evidence.record import Record, Transport


def test_a_record_is_said_in_closed_words() -> None:
    """One line, nothing of an answer in it; null and unknown where nothing is known."""
    blank = Record("x", None, None, None, None)
    assert said(blank) == (
        "x: transport_ok=null fault=none status=unknown bytes=unknown of unknown retries=unknown pin_complete=null"
    )
    transport = Transport(200, False, 1, "truncated", False, 14, 10000)
    assert said(blank._replace(transport_ok=False, transport=transport)) == (
        "x: transport_ok=false fault=truncated status=200 bytes=14 of 10000 retries=1 pin_complete=false"
    )
