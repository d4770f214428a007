"""Calls of other clients, in their words."""

import json

import pytest

from freeze_gate.capture.transport.curl import outcome_from_facts, parse_curl_report
from freeze_gate.capture.transport.merge import Call
from freeze_gate.capture.transport.observer import TransportOutcome
from freeze_gate.errors import UsageError


def _curl(**said: object) -> Call:
    return parse_curl_report(json.dumps(said).encode())


@pytest.mark.parametrize(
    ("exit_code", "fault"),
    [
        (6, "connection"),
        (7, "connection"),
        (16, "connection"),
        (18, "truncated"),
        (28, "timeout"),
        (52, "connection"),
        (55, "connection"),
        (56, "connection"),
        (92, "connection"),
    ],
)
def test_curl_s_exit_code_names_the_fault(exit_code: int, fault: str) -> None:
    """Whatever status had come before."""
    for status in (0, 200, 404, 503):
        outcome = _curl(exitcode=exit_code, http_code=status, size_download=3).outcome
        assert (outcome.ok, outcome.fault, outcome.timed_out) == (False, fault, fault == "timeout")
        assert outcome.status_code == (status or None)


@pytest.mark.parametrize("exit_code", [1, 3, 5, 22, 23, 26, 35, 43, 47, 60, 61, 63, 77, 97, 100, 999])
def test_an_exit_code_that_is_not_about_the_transport_says_nothing(exit_code: int) -> None:
    """A bad option, a full disk, a certificate, a proxy without a name, no TLS: nothing that a rerun heals."""
    assert _curl(exitcode=exit_code, http_code=0 if exit_code == 22 else 200).outcome.ok is None


@pytest.mark.parametrize(
    ("status", "ok"), [(200, True), (204, True), (206, None), (302, None), (401, None), (429, False), (503, False)]
)
@pytest.mark.parametrize("exit_code", [0, 22])
def test_without_a_failure_the_status_speaks(status: int, ok: bool | None, exit_code: int) -> None:
    """Also where `--fail` made an exit code of it."""
    assert _curl(exitcode=exit_code, http_code=status).outcome.ok is ok


@pytest.mark.parametrize(("status", "fault"), [(403, None), (407, None), (302, None), (502, "http_status")])
@pytest.mark.parametrize("exit_code", [22, 56])
def test_a_proxy_that_refuses_to_connect_is_read_by_its_status(status: int, fault: str | None, exit_code: int) -> None:
    """With `--fail` and without, whose exit codes differ."""
    outcome = _curl(exitcode=exit_code, http_code=0, http_connect=status).outcome
    assert (outcome.ok, outcome.fault, outcome.status_code) == (False if fault else None, fault, status)


def test_a_connection_that_breaks_behind_a_proxy_is_a_fault() -> None:
    """The proxy had connected."""
    assert _curl(exitcode=56, http_code=0, http_connect=200).outcome.fault == "connection"


def test_more_headers_than_curl_reads_are_no_fault() -> None:
    """Old releases end with the exit code of a broken connection there, and their report has the size."""
    assert _curl(exitcode=56, http_code=200, size_header=307_976).outcome.ok is None
    assert _curl(exitcode=56, http_code=200, size_header=3_079).outcome.fault == "connection"


def test_numbers_are_read_as_every_version_prints_them() -> None:
    """Sizes were printed as 14.000 once; retries are counted since 8.9, and are unknown before."""
    call = _curl(exitcode=18, http_code=200, size_download=14.0, num_retries=2)
    assert (call.outcome.bytes_received, call.retries) == (14, 2)
    assert _curl(exitcode=0, http_code=200).retries is None
    assert _curl(exitcode=0, http_code=200, size_download=1.5).outcome.bytes_received is None


@pytest.mark.parametrize(
    "printed", [b"", b"[]", b'{"exitcode": "0"}', b'{"exitcode": -1}', b'{"exitcode": NaN}', b"nul"]
)
def test_anything_else_is_refused(printed: bytes) -> None:
    """Without an exit code there is no call to speak of."""
    with pytest.raises(UsageError, match="curl -w"):
        parse_curl_report(printed)


def test_fewer_bytes_than_declared_are_a_fault_by_themselves() -> None:
    """And so is no call that is said to have held."""
    assert outcome_from_facts(200, received=5, declared=9) == TransportOutcome(
        False, False, "truncated", 200, False, 5, 9
    )
    assert outcome_from_facts(200, received=9, declared=9) == TransportOutcome(True, None, None, 200, False, 9, 9)
