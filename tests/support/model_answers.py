"""The answers of two model services, as their SDKs read them."""

import json

TEXT = "def sort(items): …"

COMPLETION = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "small-1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": TEXT}}],
    }
).encode()
MESSAGE = json.dumps(
    {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": "small-1",
        "content": [{"type": "text", "text": TEXT}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
).encode()
