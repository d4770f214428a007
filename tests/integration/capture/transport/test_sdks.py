"""The real OpenAI and Anthropic SDKs over the recorder: what they hide is in the record, and they notice nothing."""

import asyncio
import json
from pathlib import Path
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest

from freeze_gate.capture import Capture
from freeze_gate.evidence.record import Record
from tests.support.exact_server import RESET, Answer, ExactServer, answer, chunked, sized
from tests.support.model_answers import COMPLETION, MESSAGE, TEXT
from tests.support.recording_clients import bundle, capture, pinned_in, record_in

SOON = "retry-after-ms: 1"
JSON = "Content-Type: application/json"
EVENTS = ("Content-Type: text/event-stream", "Transfer-Encoding: chunked")
DONE = b"data: [DONE]\n\n"


def _delta(text: str) -> bytes:
    chunk = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    body = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "small-1", "choices": [chunk]}
    return f"data: {json.dumps(body)}\n\n".encode()


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


ASKED: dict[str, Any] = {"model": "small-1", "messages": [{"role": "user", "content": "sort"}]}


def _openai(server: ExactServer, capture: Capture, **options: Any) -> openai.OpenAI:
    http = httpx.Client(transport=capture.transport(httpx))
    return openai.OpenAI(api_key="sk-x", base_url=server.url, http_client=http, **options)  # type: ignore[arg-type]


def _anthropic(server: ExactServer, capture: Capture, **options: Any) -> anthropic.Anthropic:
    http = httpx2.Client(transport=capture.transport(httpx2))
    return anthropic.Anthropic(api_key="sk-x", base_url=server.url, http_client=http, **options)


def _facts(record: Record) -> tuple[bool | None, str | None, int | None, int | None]:
    seen = record.transport
    return record.transport_ok, seen.fault, seen.status_code, seen.retry_count


BUSY = sized(b'{"error": {"message": "busy"}}', JSON, SOON, status="503 Busy")


def test_retries_that_the_openai_sdk_hides_are_counted(tmp_path: Path) -> None:
    """Two answers of 503 that the SDK never tells of are two retries of one call that held."""
    recorder = capture(tmp_path)
    with ExactServer(BUSY, BUSY, sized(COMPLETION, JSON)) as server, _openai(server, recorder) as client:
        raw = client.chat.completions.with_raw_response.create(**ASKED)
        assert raw.parse().choices[0].message.content == TEXT
        recorder.pin(raw.content)
    record = record_in(bundle(tmp_path))
    assert _facts(record) == (True, None, 200, 2)
    assert pinned_in(bundle(tmp_path), record) == COMPLETION
    assert record.transport.pin_complete is True
    assert record.sampler.model == "small-1"


def test_retries_that_the_anthropic_sdk_hides_are_counted(tmp_path: Path) -> None:
    """An overloaded sampler that answers at the second attempt has held, with one retry."""
    recorder = capture(tmp_path)
    overloaded = sized(b'{"type": "error", "error": {"type": "overloaded_error"}}', JSON, SOON, status="529 Overloaded")
    with ExactServer(overloaded, sized(MESSAGE, JSON)) as server, _anthropic(server, recorder) as client:
        raw = client.messages.with_raw_response.create(max_tokens=9, **ASKED)
        body = raw.http_response.content
        recorder.pin(body)
    record = record_in(bundle(tmp_path))
    assert _facts(record) == (True, None, 200, 1)
    assert pinned_in(bundle(tmp_path), record) == body == MESSAGE


def test_an_sdk_that_gives_up_leaves_the_fault_and_no_pin(tmp_path: Path) -> None:
    """Three times 503: one call that failed, with two retries; an error body is no sample."""
    with (
        ExactServer(BUSY) as server,
        _openai(server, capture(tmp_path)) as client,
        pytest.raises(openai.InternalServerError),
    ):
        client.chat.completions.create(**ASKED)
    record = record_in(bundle(tmp_path))
    assert _facts(record) == (False, "http_status", 503, 2)
    assert record.fixture_sha256 is None


def test_a_refusal_is_no_fault(tmp_path: Path) -> None:
    """401 says something about the key, not about the harness."""
    refusal = sized(b'{"error": {"message": "no"}}', JSON, status="401 Unauthorized")
    with (
        ExactServer(refusal) as server,
        _anthropic(server, capture(tmp_path)) as client,
        pytest.raises(anthropic.AuthenticationError),
    ):
        client.messages.create(max_tokens=9, **ASKED)
    assert _facts(record_in(bundle(tmp_path))) == (None, None, 401, 0)


def test_a_reset_before_the_answer_is_one_hidden_retry(tmp_path: Path) -> None:
    """The SDK tries again after a reset; the record counts it."""
    recorder = capture(tmp_path)
    with ExactServer(Answer((), RESET), sized(COMPLETION, JSON)) as server, _openai(server, recorder) as client:
        recorder.pin(str(client.chat.completions.create(**ASKED).choices[0].message.content).encode())
    record = record_in(bundle(tmp_path))
    assert _facts(record) == (True, None, 200, 1)
    assert record.transport.pin_complete is True, "the pinned text was taken out of a body that arrived whole"


def test_a_short_answer_that_an_sdk_retries_is_counted_and_let_go(tmp_path: Path) -> None:
    """The truncated sample of the first attempt is no sample once the second brought one."""
    recorder = capture(tmp_path)
    short = answer(COMPLETION[:40], JSON, f"Content-Length: {len(COMPLETION)}")
    with ExactServer(short, sized(COMPLETION, JSON)) as server, _openai(server, recorder) as client:
        client.chat.completions.create(**ASKED)
        assert record_in(bundle(tmp_path)).fixture_sha256 is None
        recorder.pin(COMPLETION)
    assert _facts(record_in(bundle(tmp_path))) == (True, None, 200, 1)


def test_a_short_answer_without_retries_leaves_its_truncated_sample(tmp_path: Path) -> None:
    """The SDK raises and hands out nothing; what arrived is pinned all the same, as a truncated sample."""
    short = answer(COMPLETION[:40], JSON, f"Content-Length: {len(COMPLETION)}")
    with (
        ExactServer(short) as server,
        _openai(server, capture(tmp_path), max_retries=0) as client,
        pytest.raises(openai.APIConnectionError),
    ):
        client.chat.completions.create(**ASKED)
    record = record_in(bundle(tmp_path))
    assert _facts(record) == (False, "truncated", 200, 0)
    assert (pinned_in(bundle(tmp_path), record), record.transport.pin_complete) == (COMPLETION[:40], False)


def _streamed(server: ExactServer, recorder: Capture) -> str:
    with _openai(server, recorder) as client:
        stream = client.chat.completions.create(stream=True, **ASKED)
        return "".join(str(chunk.choices[0].delta.content) for chunk in stream)


STREAM = answer([chunked(_delta("def "), _delta("sort"), DONE)[:-5]], *EVENTS)


def test_a_stream_that_its_reader_leaves_at_the_end_marker_is_not_known_to_be_whole(tmp_path: Path) -> None:
    """The SDK stops at [DONE]; what would have come is unknown, and unknown is neither true nor false."""
    recorder = capture(tmp_path)
    with ExactServer(STREAM) as server:
        recorder.pin(_streamed(server, recorder).encode())
    record = record_in(bundle(tmp_path))
    assert _facts(record) == (None, None, 200, 0)
    assert (pinned_in(bundle(tmp_path), record), record.transport.pin_complete) == (b"def sort", None)


def test_a_stream_that_reached_its_declared_end_marker_is_whole(tmp_path: Path) -> None:
    """BodyChecks in advance, the end marker says that all has come."""
    recorder = capture(tmp_path, ends_with="data: [DONE]\n\n")
    with ExactServer(STREAM) as server:
        recorder.pin(_streamed(server, recorder).encode())
    record = record_in(bundle(tmp_path))
    assert _facts(record) == (True, None, 200, 0)
    assert record.transport.pin_complete is True
    assert record.transport.checks.ends_with == r"data: [DONE]\n\n"


def test_a_stream_that_breaks_off_is_truncated(tmp_path: Path) -> None:
    """Two events and half a third: the SDK raises, the record says truncated, the bytes are pinned."""
    whole = chunked(_delta("def "), _delta("sort"))[:-5]
    broken = answer([whole, b"40\r\ndata: {"], *EVENTS)
    with ExactServer(broken) as server, pytest.raises(openai.APIConnectionError):
        _streamed(server, capture(tmp_path))
    record = record_in(bundle(tmp_path))
    assert _facts(record) == (False, "truncated", 200, 0)
    assert pinned_in(bundle(tmp_path), record) == _delta("def ") + _delta("sort") + b"data: {"
    assert record.transport.timed_out is False


ERRING = (
    _event("message_start", message=json.loads(MESSAGE) | {"content": []}),
    _event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    _event("content_block_delta", index=0, delta={"type": "text_delta", "text": "event: error"}),
    _event("error", error={"type": "overloaded_error", "message": "Overloaded"}),
)


def test_an_error_event_in_a_stream_is_a_fault_of_a_call_that_answered_200(tmp_path: Path) -> None:
    """The SDK raises at the event and reads no further; the status stays 200, the part is pinned."""
    recorder = capture(tmp_path)
    with (
        ExactServer(answer([chunked(*ERRING)], *EVENTS)) as server,
        _anthropic(server, recorder) as client,
        pytest.raises(anthropic.APIStatusError),
    ):
        list(client.messages.create(stream=True, max_tokens=9, **ASKED))
    record = record_in(bundle(tmp_path))
    assert _facts(record) == (False, "stream_error", 200, 0)
    assert (pinned_in(bundle(tmp_path), record), record.transport.pin_complete) == (b"".join(ERRING), False)


def test_the_async_sdks_are_recorded_as_the_others(tmp_path: Path) -> None:
    """Hidden retries of an async client, and a stream of the other that errs, fold into one record."""

    async def call(first: ExactServer, second: ExactServer, recorder: Capture) -> None:
        http = httpx.AsyncClient(transport=recorder.async_transport(httpx))
        async with openai.AsyncOpenAI(api_key="sk-x", base_url=first.url, http_client=http) as client:  # type: ignore[arg-type]
            raw = await client.chat.completions.with_raw_response.create(**ASKED)
            recorder.pin(raw.content)
        other = httpx2.AsyncClient(transport=recorder.async_transport(httpx2))
        async with anthropic.AsyncAnthropic(api_key="sk-x", base_url=second.url, http_client=other) as client:
            with pytest.raises(anthropic.APIStatusError):
                async for _ in await client.messages.create(stream=True, max_tokens=9, **ASKED):
                    pass

    failing = answer([chunked(*ERRING)], *EVENTS)
    with ExactServer(BUSY, sized(COMPLETION, JSON)) as first, ExactServer(failing) as second:
        asyncio.run(call(first, second, capture(tmp_path)))
    record = record_in(bundle(tmp_path))
    assert _facts(record) == (False, "stream_error", 200, 1)
    assert (pinned_in(bundle(tmp_path), record), record.transport.pin_complete) == (COMPLETION, True)
