"""The recorder as a guest in somebody's HTTP client: it changes nothing for them, and misses nothing."""

import asyncio
import gc
import gzip
import socket
import ssl
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
from urllib3.util.retry import Retry

from freeze_gate.capture import Capture
from freeze_gate.capture.transport.requests_adapter import RecordingAdapter
from freeze_gate.cli import main
from freeze_gate.errors import UsageError
from freeze_gate.evidence.digest import Sha256
from tests.support.exact_server import HOLD, RESET, Answer, ExactServer, answer, chunked, sized
from tests.support.recording_clients import ID, IMPATIENT, PATIENT, bundle, capture, pinned_in, record_in

EVENTS = [b"data: %d\n\n" % number for number in range(3)]
STREAM = answer(
    [chunked(EVENTS[0])[:-5], chunked(EVENTS[1])[:-5], chunked(EVENTS[2])],
    "Transfer-Encoding: chunked",
    "Connection: close",  # as the server does
)


def _facts(tmp_path: Path) -> tuple[bool | None, str | None, int | None, int | None]:
    record = record_in(bundle(tmp_path))
    seen = record.transport
    return record.transport_ok, seen.fault, seen.status_code, seen.retry_count


def test_a_stream_reaches_its_reader_piece_by_piece(tmp_path: Path) -> None:
    """No piece waits for the next one; a reader of events sees each as it comes."""
    with ExactServer(STREAM) as server, capture(tmp_path).requests_session() as session:
        with session.post(server.url, stream=True, timeout=5) as response:
            assert list(response.iter_content(None)) == EVENTS
        with session.post(server.url, stream=True, timeout=5) as response:
            assert list(response.iter_lines(chunk_size=512)) == b"".join(EVENTS).splitlines()
    transport = capture(tmp_path / "other").transport(httpx)
    with (
        ExactServer(STREAM) as server,
        httpx.Client(transport=transport) as client,
        client.stream("POST", server.url) as streamed,
    ):
        assert list(streamed.iter_bytes()) == EVENTS


def test_a_body_can_be_read_once_as_ever(tmp_path: Path) -> None:
    """And `content` as often as one likes."""
    recorder = capture(tmp_path)
    with ExactServer(sized(b"sample")) as server, httpx.Client(transport=recorder.transport(httpx)) as client:
        with client.stream("GET", server.url) as response:
            assert b"".join(response.iter_raw()) == b"sample"
            with pytest.raises(httpx.StreamConsumed):
                response.read()
        assert client.get(server.url).content == b"sample"
        with recorder.requests_session() as session:
            answered = session.get(server.url, timeout=5)
            assert (answered.content, answered.content, answered.text) == (b"sample", b"sample", "sample")
            streamed = session.get(server.url, timeout=5, stream=True)
            assert b"".join(streamed.iter_content(2)) == b"sample"
            with pytest.raises(RuntimeError, match="already consumed"):
                _ = streamed.content


def test_a_requests_session_keeps_its_connection_and_its_cookies(tmp_path: Path) -> None:
    """Two answers over one connection, and what the first one set is sent with the second request."""

    class Keeping(ExactServer):
        def _send(self, connection: Any, planned: Answer) -> None:
            super()._send(connection, planned)
            if len(self.requests) == 1:
                index = self._read(connection)
                assert index == 1
                super()._send(connection, planned)

    with (
        Keeping(sized(b"sample", "Set-Cookie: a=b", "Connection: keep-alive")) as server,
        capture(tmp_path).requests_session() as session,
    ):
        assert [session.get(server.url, timeout=5).content for _ in range(2)] == [b"sample", b"sample"]
        assert b"Cookie: a=b" in server.requests[1][0]


def test_requests_sees_the_errors_that_it_always_sees(tmp_path: Path) -> None:
    """A short body, a cut chunk, a reset, a silence: the exceptions are the library's own."""
    for number, (planned, error) in enumerate(
        (
            (answer(b"x", "Content-Length: 9"), requests.exceptions.ChunkedEncodingError),
            (answer(b"9\r\nx", "Transfer-Encoding: chunked"), requests.exceptions.ChunkedEncodingError),
            (answer(b"x", "Content-Length: 9", end=RESET), requests.exceptions.ChunkedEncodingError),
            (answer(b"x", "Content-Length: 9", end=HOLD), requests.exceptions.ConnectionError),
            (Answer((), RESET), requests.exceptions.ConnectionError),
            (Answer((), HOLD), requests.exceptions.ReadTimeout),
            (sized(b"plain", "Content-Encoding: gzip"), requests.exceptions.ContentDecodingError),
        )
    ):
        recorder = capture(tmp_path / str(number))
        with ExactServer(planned) as server, recorder.requests_session() as session, pytest.raises(error):
            session.get(server.url, timeout=IMPATIENT if planned.end == HOLD else PATIENT)


def test_only_codings_that_can_be_followed_are_asked_for(tmp_path: Path) -> None:
    """Whatever the library would offer."""
    recorder = capture(tmp_path)
    with ExactServer(sized(b"sample")) as server:
        with recorder.requests_session() as session:
            session.get(server.url, timeout=5)
            session.get(server.url, timeout=5, headers={"Accept-Encoding": "br"})
        with httpx.Client(transport=recorder.transport(httpx), headers={"accept-encoding": "zstd, gzip"}) as client:
            client.get(server.url)
        sent = [head.lower().split(b"accept-encoding: ")[1].split(b"\r\n")[0] for head, _ in server.requests]
    assert sent == [b"gzip", b"identity", b"gzip"]


def _retrying(recorder: Capture, retries: Retry) -> requests.Session:
    return recorder.requests_session(max_retries=retries)


def test_retries_of_urllib3_are_counted(tmp_path: Path) -> None:
    """They happen below requests, and the response does not tell."""
    retries = Retry(total=5, status_forcelist=[503], allowed_methods=None, backoff_factor=0)
    busy = sized(b"busy", status="503 Busy")
    with (
        ExactServer(busy, Answer((), RESET), busy, sized(b"sample")) as server,
        _retrying(capture(tmp_path), retries) as session,
    ):
        assert session.post(server.url, timeout=5).content == b"sample"
    assert _facts(tmp_path) == (True, None, 200, 3)


def test_a_custom_kind_of_retry_stays_what_it_is(tmp_path: Path) -> None:
    """It is counted, and asked as before; also where it is put into the adapter later."""

    class Patient(Retry):
        asked = 0

        def is_retry(self, *args: Any, **options: Any) -> bool:
            Patient.asked += 1
            return super().is_retry(*args, **options)

    with (
        ExactServer(sized(b"", status="503 Busy"), sized(b"sample")) as server,
        capture(tmp_path).requests_session() as session,
    ):
        adapter = session.get_adapter(server.url)
        assert isinstance(adapter, RecordingAdapter)
        adapter.max_retries = Patient(total=2, status_forcelist=[503], allowed_methods=None)
        assert session.post(server.url, timeout=5).content == b"sample"
    assert Patient.asked == 2
    assert _facts(tmp_path) == (True, None, 200, 1)


@pytest.mark.parametrize(
    ("planned", "facts"),
    [
        (sized(b"", status="503 Busy"), (False, "http_status", 503, 2)),
        (sized(b"", status="404 Not Found"), (None, None, 404, 2)),
        (Answer((), RESET), (False, "connection", None, 2)),
    ],
)
def test_retries_that_come_to_nothing_are_counted_too(planned: Answer, facts: tuple[Any, ...], tmp_path: Path) -> None:
    """Requests raises an error without an answer; the last status is known all the same."""
    retries = Retry(total=2, status_forcelist=[404, 503], allowed_methods=None)
    with (
        ExactServer(planned) as server,
        _retrying(capture(tmp_path), retries) as session,
        pytest.raises(requests.RequestException),
    ):
        session.post(server.url, timeout=5)
    assert _facts(tmp_path) == facts


def test_a_redirect_that_is_followed_is_part_of_the_call(tmp_path: Path) -> None:
    """Both libraries follow it their own way."""
    away = sized(b"", "Location: /v1/other", status="307 Temporary Redirect")
    with ExactServer(away, sized(b"sample"), away, sized(b"sample")) as server:
        with capture(tmp_path / "a").requests_session() as session:
            session.post(server.url, json={}, timeout=5)
        transport = capture(tmp_path / "b").transport(httpx)
        with httpx.Client(transport=transport, follow_redirects=True) as client:
            client.post(server.url, json={})
    assert _facts(tmp_path / "a") == _facts(tmp_path / "b") == (True, None, 200, 0)


def test_a_cancelled_task_is_no_fault(tmp_path: Path) -> None:
    """It is its user's choice; nothing is known of what would have come."""

    async def call(url: str, recorder: Capture) -> None:
        async with httpx.AsyncClient(transport=recorder.async_transport(httpx)) as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await client.get(url)

    for number, planned in enumerate((Answer((), HOLD), answer(b"x", "Content-Length: 9", end=HOLD))):
        with ExactServer(planned) as server:
            asyncio.run(call(server.url, capture(tmp_path / str(number))))
        record = record_in(bundle(tmp_path / str(number)))
        assert (record.transport_ok, record.transport.fault, record.fixture_sha256) == (None, None, None)


def test_a_response_that_is_dropped_is_no_fault(tmp_path: Path) -> None:
    """Closed early, or left to the garbage collector."""
    recorder = capture(tmp_path)
    with ExactServer(answer(b"x" * 10, "Content-Length: 99", end=HOLD)) as server:
        with recorder.requests_session() as session:
            session.get(server.url, timeout=5, stream=True)
            gc.collect()
        with httpx.Client(transport=recorder.transport(httpx)) as client, client.stream("GET", server.url) as response:
            next(response.iter_raw())
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.fault) == (None, None)


def test_a_request_body_that_streams_is_sent_and_not_hashed(tmp_path: Path) -> None:
    """It can be read only once, and the server is to have it."""
    recorder = capture(tmp_path)
    with ExactServer(sized(b"sample")) as server:
        with httpx.Client(transport=recorder.transport(httpx)) as client:
            client.post(server.url, content=iter([b"ab", b"c"]), headers={"content-length": "3"})
        with recorder.requests_session() as session, (tmp_path / "body").open("w+b") as body:
            body.write(b"abc")
            body.seek(0)
            session.post(server.url, data=body, timeout=5)
        assert [body for _, body in server.requests] == [b"abc", b"abc"]
    assert record_in(bundle(tmp_path)).sampler.request_sha256 is None


def test_a_certificate_that_is_not_trusted_is_no_fault(tmp_path: Path) -> None:
    """It would not be trusted in a rerun either."""

    class Distrusting(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("not trusted", request=request) from ssl.SSLCertVerificationError(1, "not trusted")

    with (
        httpx.Client(transport=capture(tmp_path).transport(httpx, transport=Distrusting())) as client,
        pytest.raises(httpx.ConnectError),
    ):
        client.get("https://127.0.0.1/")
    assert _facts(tmp_path) == (None, None, None, 0)


def test_a_handshake_that_breaks_off_is_a_fault(tmp_path: Path) -> None:
    """The server closes where TLS should begin."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"

        def close_two() -> None:
            for _ in range(2):
                connection, _ = listener.accept()
                connection.recv(65536)
                connection.close()

        closing = threading.Thread(target=close_two)
        closing.start()
        with (
            httpx.Client(transport=capture(tmp_path / "a").transport(httpx)) as client,
            pytest.raises(httpx.ConnectError),
        ):
            client.get(url)
        with capture(tmp_path / "b").requests_session() as session, pytest.raises(requests.exceptions.SSLError):
            session.get(url, timeout=5)
        closing.join()
    assert _facts(tmp_path / "a") == _facts(tmp_path / "b") == (False, "connection", None, 0)


def test_a_head_request_has_no_body_to_miss(tmp_path: Path) -> None:
    """Its length is that of another answer."""
    recorder = capture(tmp_path)
    with ExactServer(answer(b"", "Content-Length: 99")) as server:
        with recorder.requests_session() as session:
            session.head(server.url, timeout=5)
        with httpx.Client(transport=recorder.transport(httpx)) as client:
            client.head(server.url)
    assert _facts(tmp_path)[0] is True


def test_a_lane_that_fails_after_the_pin_leaves_the_pin_whole(tmp_path: Path) -> None:
    """One capture, two clients: the sampler's answer is pinned whole, the executing lane drops the connection."""
    recorder = capture(tmp_path)
    with ExactServer(sized(b"sample"), answer(b"half", "Content-Length: 9")) as server:
        with httpx.Client(transport=recorder.transport(httpx)) as client:
            path = recorder.pin(client.post(server.url).content)
        with recorder.requests_session() as session, pytest.raises(requests.RequestException):
            session.post(server.url, data=b"run", timeout=5)
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.fault, record.transport.pin_complete) == (False, "truncated", True)
    assert path == (bundle(tmp_path) / str(record.fixture_path)).absolute()
    assert path.read_bytes() == b"sample"


def test_a_capture_of_an_id_that_an_oracle_has_seen_is_refused(tmp_path: Path) -> None:
    """Before any call is made."""
    recorder = capture(tmp_path)
    recorder.pin(b"sample")
    record = record_in(bundle(tmp_path))
    path = bundle(tmp_path) / "records" / f"{ID}.json"
    path.write_bytes(path.read_bytes().replace(b'"oracle_passed": null', b'"oracle_passed": false'))
    with pytest.raises(UsageError, match="an oracle has already run"):
        capture(tmp_path)
    with ExactServer(sized(b"sample")) as server, recorder.requests_session() as session:
        with pytest.raises(UsageError, match="an oracle has already run"):
            session.post(server.url, timeout=5)
        assert not server.requests
    assert record_in(bundle(tmp_path)) == record._replace(oracle_passed=False)


@pytest.mark.parametrize("status", ["302 Found", "401 Unauthorized", "404 Not Found", "503 Busy"])
def test_an_error_body_is_not_pinned(status: str, tmp_path: Path) -> None:
    """Where no recorded call ended in a 2xx, there is no sample, whatever the bytes are; the status is named."""
    for number, library in enumerate((requests, httpx)):
        recorder = capture(tmp_path / str(number))
        with ExactServer(sized(b"no sample", status=status)) as server:
            body = _post(recorder, library, server.url)
        for payload in (body, b"no", b""):
            with pytest.raises(UsageError, match=f"status {status[:3]}.*no sample"):
                recorder.pin(payload, replace=True)
        record = record_in(bundle(tmp_path / str(number)))
        assert (record.fixture_sha256, record.transport.status_code) == (None, int(status[:3]))
        assert not (bundle(tmp_path / str(number)) / "fixtures").exists()


@pytest.mark.parametrize("headers", [(), ("Content-Encoding: gzip",)], ids=["identity", "gzip"])
def test_the_body_of_an_error_is_not_pinned_beside_another_answer(headers: tuple[str, ...], tmp_path: Path) -> None:
    """A retry or a lane that answers 200 makes no sample of the error's bytes, decoded or as they were sent."""
    sent = gzip.compress(b"busy") if headers else b"busy"
    for number, path in enumerate(("", "/lane")):
        recorder = capture(tmp_path / str(number))
        with ExactServer(sized(sent, *headers, status="503 Busy"), sized(b"sample")) as server:
            _post(recorder, requests, server.url)
            sample = _post(recorder, requests, server.url + path)
        for payload in {b"busy", sent}:
            with pytest.raises(UsageError, match="status 503"):
                recorder.pin(payload)
        recorder.pin(sample)
        assert pinned_in(bundle(tmp_path / str(number)), record_in(bundle(tmp_path / str(number)))) == b"sample"


def test_a_call_without_an_answer_brings_no_sample(tmp_path: Path) -> None:
    """Bytes from elsewhere are not pinned in its place."""
    recorder = capture(tmp_path)
    with (
        ExactServer(Answer((), RESET)) as server,
        recorder.requests_session() as session,
        pytest.raises(requests.ConnectionError),
    ):
        session.get(server.url, timeout=5)
    with pytest.raises(UsageError, match="no call brought an answer"):
        recorder.pin(b"from a cache")


def test_only_the_selected_string_of_an_answer_is_pinned(tmp_path: Path) -> None:
    """The text that was named in advance; not the body around it, not the text of an error."""
    recorder = capture(tmp_path, select="/text")
    with ExactServer(sized(b'{"text": "busy"}', status="503 Busy"), sized(b'{"id": 1, "text": "sample"}')) as server:
        _post(recorder, requests, server.url)
        body = _post(recorder, requests, server.url)
    for payload in (body, b"busy", b"samp"):
        with pytest.raises(UsageError, match="string at /text"):
            recorder.pin(payload)
    recorder.pin(b"sample")
    record = record_in(bundle(tmp_path))
    assert pinned_in(bundle(tmp_path), record) == b"sample"
    assert (record.sampler.selected, record.sampler.answer_sha256) == ("/text", Sha256.of(body))
    assert record.transport.pin_complete is True


def test_a_later_error_takes_no_sample_away(tmp_path: Path) -> None:
    """An empty sample stays one where a lane's error is empty too, also if another process recorded that error."""
    recorder = capture(tmp_path)
    with ExactServer(sized(b""), sized(b"", status="503 Busy")) as server:
        _post(recorder, requests, server.url)
        _post(recorder, requests, server.url + "/lane")
    other = ["transport", "--id", ID, "--bundle", str(bundle(tmp_path)), "--status-code", "503"]
    assert main(other, {}) == 0
    recorder.pin(b"")
    assert pinned_in(bundle(tmp_path), record_in(bundle(tmp_path))) == b""

    again = capture(tmp_path)
    with ExactServer(sized(b"x", status="503 Busy")) as server:
        _post(again, requests, server.url)
    again.pin(b"")


def test_an_error_that_another_process_recorded_is_no_sample_here(tmp_path: Path) -> None:
    """The record alone says so."""
    assert main(["transport", "--id", ID, "--bundle", str(bundle(tmp_path)), "--status-code", "404"], {}) == 0
    with pytest.raises(UsageError, match="status 404"):
        capture(tmp_path).pin(b"Not Found")


def _post(recorder: Capture, library: Any, url: str) -> bytes:
    if library is requests:
        with recorder.requests_session() as session:
            return session.post(url, data=b"sort", timeout=5, allow_redirects=False).content
    with httpx.Client(transport=recorder.transport(httpx)) as client:
        return client.post(url, content=b"sort").content


@pytest.mark.parametrize("payload", ["text", None, 7, ["x"]])
def test_only_bytes_are_pinned(payload: Any, tmp_path: Path) -> None:
    """Text has no digest before somebody chooses its encoding."""
    with pytest.raises(TypeError, match="bytes"):
        capture(tmp_path).pin(payload)


def test_anything_that_holds_bytes_is_pinned(tmp_path: Path) -> None:
    """A bytearray is bytes."""
    assert capture(tmp_path).pin(bytearray(b"sample"), suffix=".txt").suffix == ".txt"
    assert capture(tmp_path / "other", suffix=".json").pin(memoryview(b"sample")).suffix == ".json"


@pytest.mark.parametrize(
    "options",
    [{"min_bytes": -1}, {"ends_with": ""}, {"suffix": "/x"}],
    ids=lambda options: next(iter(options)),
)
def test_a_capture_says_what_is_not_allowed(options: dict[str, Any], tmp_path: Path) -> None:
    """When it is built, not when it is used."""
    with pytest.raises(UsageError):
        capture(tmp_path, **options)


def test_a_cut_gzip_body_that_requests_takes_for_whole_is_recorded_as_cut(tmp_path: Path) -> None:
    """Requests raises nothing; its user pins what it was given, and the record knows better."""
    packed = gzip.compress(bytes(range(256)) * 8, mtime=0)
    recorder = capture(tmp_path)
    with ExactServer(sized(packed[:-12], "Content-Encoding: gzip")) as server, recorder.requests_session() as session:
        recorder.pin(session.get(server.url, timeout=5).content)
    record = record_in(bundle(tmp_path))
    assert (record.transport.fault, record.transport.pin_complete) == ("truncated", False)
