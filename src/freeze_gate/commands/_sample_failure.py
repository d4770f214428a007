"""The one sentence of `freeze-gate sample` that says why there is no whole sample: the host, the cause, no secret."""

import base64
import re
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urljoin, urlsplit

from freeze_gate.capture.transport.failure import Failure
from freeze_gate.capture.transport.merge import remove_url_secrets
from freeze_gate.capture.transport.observer import Exchange, is_success_status
from freeze_gate.capture.transport.sampler import SamplerRequest
from freeze_gate.report.escape import escape_log

_BODY_CHARACTERS: Final = 200
_HOST_CHARACTERS: Final = 253
_MIN_SECRET: Final = 4
"""A shorter value would black out ordinary words, and protects nothing."""

_FAULTS: Final = {
    "truncated": "the answer was cut off",
    "length_check": "the answer is not as long, or does not end, as was declared",
    "stream_error": "the event stream reported an error",
    "timeout": "it gave no whole answer in time",
    "connection": "the connection broke",
}


def explain_failure(
    request: SamplerRequest, exchange: Exchange | None, failure: Failure | None, pointer: str | None
) -> str:
    """Say why a call brought no whole sample. What the server sent is cleaned, cut, and free of what was sent to it."""
    host = escape_log(urlsplit(request.url).hostname or "", _HOST_CHARACTERS)
    outcome = exchange.outcome if exchange else None
    status = outcome.status_code if outcome else None
    if failure is not None and status is not None and not is_success_status(status):
        return f"{host}: {_describe_answer(request, status, failure)}"
    cause = failure.cause if failure else None
    fault = _FAULTS.get(outcome.fault) if outcome and outcome.fault else None
    if is_success_status(status):
        if fault is None and pointer is not None:
            return f"{host}: the answer has no string at {escape_log(pointer)}, so nothing is pinned"
        cause = fault
    return f"{host}: {cause or fault or 'the call ended without a whole answer'}"


def _describe_answer(request: SamplerRequest, status: int, failure: Failure) -> str:
    if failure.location is not None:
        target = remove_url_secrets(urljoin(request.url, failure.location))
        shown = escape_log(_remove_secrets(target, request), _BODY_CHARACTERS)
        return f"status {status}, a redirect, is not followed: name its target as --url: {shown}"
    text = _remove_secrets(failure.body.decode("utf-8", "replace"), request)
    body = escape_log(" ".join(text.split()), _BODY_CHARACTERS)
    return f"status {status}: {body or 'without a body'}"


def _remove_secrets(text: str, request: SamplerRequest) -> str:
    """Black out what the request held, also percent-encoded: a server may repeat a key.

    Only the beginning of a body is read, so its last characters may be the beginning of a key.
    """
    parts = urlsplit(request.url)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    values = [user, password, base64.b64encode(f"{user}:{password}".encode()).decode()]
    values += [value for _, value in parse_qsl(parts.query)] + [parts.query]
    values += [word for value in request.headers.values() for word in (value, *value.split())]
    values += [quote(value, safe="") for value in values]
    for secret in sorted({value for value in values if len(value) >= _MIN_SECRET}, key=len, reverse=True):
        text = re.sub(re.escape(secret), "***", text, flags=re.IGNORECASE)
        for length in range(min(len(secret) - 1, len(text)), _MIN_SECRET - 1, -1):
            if text[-length:].lower() == secret[:length].lower():
                text = text[:-length] + "***"
                break
    return text
