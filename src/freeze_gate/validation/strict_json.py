"""JSON as this project reads it: with exactly one meaning, or not at all."""

import json
from math import isinf
from typing import Any, Final, NoReturn

from freeze_gate.validation.readers import BYTE_ORDER_MARK, InvalidValue, Problem, has_control_character


class InvalidJson(InvalidValue):
    """The bytes are not JSON with exactly one meaning; the message says why and quotes nothing of them."""

    def __init__(self, message: str) -> None:
        super().__init__(Problem("", message))


def read_json(payload: bytes, *, depth: int) -> Any:
    """Parse UTF-8 JSON (a byte-order mark is tolerated), strictly.

    `depth` is how many objects and lists may stand inside each other. Raises `InvalidJson` for a key given twice, NaN
    and the infinities, a control character or a lone surrogate in any string, deeper nesting, and anything that is not
    JSON.
    """
    try:
        value = _DECODER.decode(payload.removeprefix(BYTE_ORDER_MARK).decode("utf-8"))
    except InvalidJson:
        raise
    except UnicodeDecodeError:
        raise InvalidJson("is not UTF-8") from None
    except RecursionError:
        raise InvalidJson("is nested too deeply") from None
    except ValueError:  # JSONDecodeError, and Python's own limit on the digits of a number
        raise InvalidJson("is not JSON") from None
    strings: list[str] = []
    _walk([value], depth + 1, strings)
    if has_control_character(" ".join(strings)):
        raise InvalidJson("holds a control character or a lone surrogate")
    return value


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise InvalidJson("gives a key twice")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise InvalidJson("holds a number that is too large")
    return number


def _reject_constant(_name: str) -> NoReturn:
    raise InvalidJson("holds NaN or an infinity")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_reject_duplicate_keys, parse_float=_finite, parse_constant=_reject_constant
)


def _walk(value: Any, depth: int, strings: list[str]) -> None:
    """Limit the nesting and collect every string, also of unknown keys, whose control characters are refused too."""
    if depth == 0:
        raise InvalidJson("is nested too deeply")
    if type(value) is dict:
        strings.extend(value)
        value = list(value.values())
    for item in value:
        kind = type(item)
        if kind is str:
            strings.append(item)
        elif kind is dict or kind is list:
            _walk(item, depth - 1, strings)
