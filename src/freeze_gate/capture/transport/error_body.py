"""Which bytes may be a sample: an error body is none, whoever made the call."""

from collections.abc import Sequence

from freeze_gate.capture.transport.merge import is_truncated
from freeze_gate.capture.transport.observer import Answer, is_success_status
from freeze_gate.errors import UsageError
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Record


def require_sample(fixture_id: str, payload: bytes, answers: Sequence[Answer], before: Record | None) -> None:
    """Refuse bytes that cannot be a sample.

    `answers` are those of this process, `before` is the record that other processes left. Raises `UsageError` for the
    body of an answer that is not 2xx, unless it is a 2xx answer's too, and where calls ended and none with a 2xx.
    """
    sha256 = Sha256.of(payload)
    successes = [answer for answer in answers if is_success_status(answer.status)]
    failures = [answer for answer in answers if answer.has_ended and answer not in successes]
    if any(answer.has_body(sha256) for answer in successes):
        return
    source = next((answer for answer in reversed(failures) if answer.status and answer.has_body(sha256)), None)
    if source is not None:
        raise UsageError(_refusal(fixture_id, source.status))
    if successes:
        return
    if failures:
        raise UsageError(_refusal(fixture_id, failures[-1].status))
    if before is not None:
        require_answer(before)


def require_answer(record: Record) -> None:
    """Raise `UsageError` for a record without a pin whose calls brought nothing that may be pinned.

    A record names the status of one call. Where that is no 2xx, another call may have had one, but nothing shows it.
    """
    status = record.transport.status_code
    has_failed = status is not None or record.transport_ok is False
    if record.fixture_sha256 is None and has_failed and not is_success_status(status) and not is_truncated(record):
        raise UsageError(_refusal(record.fixture_id, status))


def _refusal(fixture_id: str, status: int | None) -> str:
    if status is None:
        return f"{fixture_id}: no call brought an answer, so nothing is pinned: call the sampler again"
    return f"{fixture_id}: the call ended with status {status}, whose body is no sample, so nothing is pinned"
