"""Causes, by the classes of exceptions."""

import socket
import ssl
from http.client import BadStatusLine, HTTPException, IncompleteRead, LineTooLong, RemoteDisconnected

import pytest

from freeze_gate.capture.transport.faults import Cause, cause_in_body, fault_of, permanent_cause


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (FileNotFoundError(), Cause.CALLER),
        (ssl.SSLCertVerificationError(), Cause.NOT_TRUSTED),
        (ssl.SSLError(), Cause.NOT_HTTP),
        (BadStatusLine("SSH"), Cause.NOT_HTTP),
        (LineTooLong("header line"), Cause.LIMIT),
        (HTTPException("got more than 100 headers"), Cause.LIMIT),
        (ssl.SSLEOFError(), None),
        (RemoteDisconnected(), None),
        (IncompleteRead(b""), None),
        (ConnectionResetError(), None),
        (TimeoutError(), None),
    ],
)
def test_the_class_of_an_exception_names_what_no_rerun_heals(error: Exception, cause: Cause | None) -> None:
    """Also where the exception is only the cause of another."""
    outer = OSError("wrapped")
    outer.__cause__ = error
    assert permanent_cause(error) == permanent_cause(outer) == cause


def test_a_name_that_is_not_found_is_configuration_where_it_is_a_proxy_s() -> None:
    """A proxy's name stands in the environment; a host's may be missing for a while."""
    error = socket.gaierror()
    assert permanent_cause(error, is_to_proxy=True) is Cause.UNUSABLE_ADDRESS
    assert permanent_cause(error) is None


def test_only_what_broke_on_the_way_is_a_fault() -> None:
    """Every other cause is null."""
    faults = {cause: fault_of(cause) for cause in Cause if fault_of(cause)}
    assert faults == {
        Cause.TIMEOUT: "timeout",
        Cause.CONNECTION: "connection",
        Cause.TRUNCATED: "truncated",
    }


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (IncompleteRead(b""), Cause.TRUNCATED),
        (ConnectionResetError(), Cause.CONNECTION),
        (ssl.SSLError("bad record"), Cause.CONNECTION),
        (FileNotFoundError(), Cause.CALLER),
        (ValueError(), Cause.UNKNOWN),
    ],
)
def test_what_breaks_within_a_body_broke_on_the_way(error: Exception, cause: Cause) -> None:
    """HTTP and TLS had worked by then."""
    assert cause_in_body(error) is cause
