"""Responses that a cassette library plays back reach the test, and say nothing of the transport."""

import io
from pathlib import Path
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter

from freeze_gate.capture import Capture
from freeze_gate.capture.transport.requests_adapter import RecordingAdapter
from tests.support.recording_clients import bundle, capture, pinned_in, record_in


class _Cassette:
    """The raw response of a cassette: a file with a status and headers, and nothing else of urllib3's."""

    def __init__(self, status: int) -> None:
        self.status, self.headers, self.reason = status, {"Content-Length": "6"}, "OK"
        self._file = io.BytesIO(b"sample")

    def read(self, *_args: Any, **_options: Any) -> bytes:
        return self._file.read()

    def close(self) -> None:
        self._file.close()

    def release_conn(self) -> None:
        """Have no connection to release."""


class _CassetteAdapter(HTTPAdapter):
    """Plays a response instead of sending, where cassette libraries do it."""

    status = 200

    def send(self, request: requests.PreparedRequest, *_args: Any, **_options: Any) -> requests.Response:
        return self.build_response(request, _Cassette(self.status))  # type: ignore[arg-type]


class _RecordedCassette(RecordingAdapter, _CassetteAdapter):
    """The recorder above a cassette."""


def _session(recorder: Capture, status: int) -> requests.Session:
    session = recorder.requests_session()
    adapter = _RecordedCassette(session.get_adapter("http://")._recorder)  # type: ignore[attr-defined]  # noqa: SLF001
    adapter.status = status
    session.mount("http://", adapter)
    return session


@pytest.mark.parametrize("status", [200, 503])
def test_a_cassette_s_response_is_passed_on_and_is_null(status: int, tmp_path: Path) -> None:
    """No network was there that could have failed: neither a 200 nor a 503 says anything."""
    with _session(capture(tmp_path), status) as session:
        response = session.get("http://sampler.invalid/", timeout=5)
    assert (response.status_code, response.content) == (status, b"sample")
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.fault, record.transport.status_code) == (None, None, status)


def test_a_cassette_s_sample_can_be_pinned(tmp_path: Path) -> None:
    """Whether it is whole is not known."""
    recorder = capture(tmp_path)
    with _session(recorder, 200) as session:
        recorder.pin(session.get("http://sampler.invalid/", timeout=5).content)
    record = record_in(bundle(tmp_path))
    assert (pinned_in(bundle(tmp_path), record), record.transport.pin_complete) == (b"sample", None)
