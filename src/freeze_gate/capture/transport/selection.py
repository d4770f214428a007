"""The string in an answer that is the sample, named in advance by a JSON pointer (RFC 6901)."""

import json
import re
from typing import Any, Final

from freeze_gate.errors import UsageError
from freeze_gate.evidence.record import JSON_POINTER
from freeze_gate.validation.readers import has_control_character

_MAX_LENGTH: Final = 500  # a record is a page
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def validate_pointer(pointer: str) -> str:
    """Return a JSON pointer. Raises `UsageError` for anything else, and for one of control characters."""
    is_pointer = re.fullmatch(JSON_POINTER, pointer, re.DOTALL) and not has_control_character(pointer)
    if not is_pointer or len(pointer) > _MAX_LENGTH:
        raise UsageError(f"select must be a JSON pointer of {_MAX_LENGTH} characters at most, such as /choices/0/text")
    return pointer


def select_text(body: bytes, pointer: str) -> bytes | None:
    """Return the UTF-8 bytes of the string at `pointer`.

    None where the body is no JSON, gives a key twice, or has no string there, or one that UTF-8 cannot hold.
    """
    try:
        value = json.loads(body.removeprefix(_BYTE_ORDER_MARK).decode("utf-8"), object_pairs_hook=_unique_members)
        for token in pointer.split("/")[1:]:
            value = _child(value, token.replace("~1", "/").replace("~0", "~"))
        return value.encode("utf-8") if isinstance(value, str) else None
    except (ValueError, LookupError, RecursionError):
        return None


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key is given twice")
    return members


def _child(value: Any, token: str) -> Any:
    if isinstance(value, list) and _INDEX.fullmatch(token):
        return value[int(token)]
    if isinstance(value, dict):
        return value[token]
    raise LookupError(token)
