"""JSON as this project reads it: one meaning or none."""

import json
from typing import Any, Final, NoReturn

from freeze_gate.evidence.shape import FORBIDDEN

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class NotJson(ValueError):
    """The bytes are not JSON with exactly one meaning; the message says why and quotes nothing of them."""


def read_json(payload: bytes, *, depth: int) -> Any:
    """Parse UTF-8 JSON (a byte-order mark is tolerated), strictly.

    `depth` is how many objects and lists may stand inside each other. Raises `NotJson` for a key given twice, NaN and
    the infinities, a control character or a lone surrogate in any string, deeper nesting, and anything that is not
    JSON.
    """
    try:
        value = json.loads(
            payload.removeprefix(_BYTE_ORDER_MARK).decode("utf-8"),
            object_pairs_hook=_unrepeated,
            parse_constant=_refuse_constant,
        )
    except NotJson:
        raise
    except UnicodeDecodeError:
        raise NotJson("is not UTF-8") from None
    except RecursionError:
        raise NotJson("is nested too deeply") from None
    except ValueError:  # JSONDecodeError, and Python's own limit on the digits of a number
        raise NotJson("is not JSON") from None
    _walk(value, depth)
    return value


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotJson("gives a key twice")
    return found


def _refuse_constant(_name: str) -> NoReturn:
    raise NotJson("holds NaN or an infinity")


def _walk(value: Any, depth: int) -> None:
    """Look at every string and at the nesting, unknown keys included: what is ignored is still refused if it is odd."""
    kind = type(value)
    if kind is str:
        if FORBIDDEN.search(value):
            raise NotJson("holds a control character or a lone surrogate")
    elif kind is dict or kind is list:
        if depth == 0:
            raise NotJson("is nested too deeply")
        for item in value:
            _walk(item, depth - 1)
        if kind is dict:
            for item in value.values():
                _walk(item, depth - 1)
    elif kind is float and value in (float("inf"), float("-inf")):
        raise NotJson("holds a number that is too large")
