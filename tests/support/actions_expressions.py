"""The expressions of a workflow, `${{ … }}`, as far as the README's recipes use them.

https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

_TOKEN: Final = re.compile(r"\s*(?:('(?:[^']|'')*')|(\d+)|([A-Za-z_][\w-]*)|(&&|\|\||==|!=|<=|>=|[!<>().,*]))")
_LITERALS: Final = {"true": True, "false": False, "null": None}
_STATUS: Final = re.compile(r"\b(?:always|cancelled|failure|success)\(\)")

Function = Callable[..., Any]


def says_when(condition: str) -> bool:
    """Whether a condition names a status itself; one that does not is only looked at while all went well."""
    return bool(_STATUS.search(condition))


def fill(text: Any, contexts: Mapping[str, Any], functions: Mapping[str, Function]) -> Any:
    """Replace the expressions in a text; a text that is one expression keeps the type of its value."""
    if not isinstance(text, str):
        return text
    if whole := re.fullmatch(r"\$\{\{((?:(?!\}\}).)*)\}\}\s*", text, re.DOTALL):
        return evaluate(whole[1], contexts, functions)
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: _text(evaluate(found[1], contexts, functions)), text)


def evaluate(expression: str, contexts: Mapping[str, Any], functions: Mapping[str, Function]) -> Any:
    """Evaluate one expression. What is not there is null. Raises `ValueError` for a form that is not known here."""
    return _Parser(expression, contexts, {**_FUNCTIONS, **functions}).value()


def is_true(value: Any) -> bool:
    """Whether a value counts as true."""
    return value not in (None, False, 0, "")


def _text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(value: Any) -> float:
    if isinstance(value, str):
        return float(value) if re.fullmatch(r"-?\d+(?:\.\d+)?", value) else 0.0 if value == "" else float("nan")
    return float(value or 0)


def _equal(left: Any, right: Any) -> bool:
    """Compare loosely: texts without their case, values of two types as numbers."""
    if isinstance(left, str) and isinstance(right, str):
        return left.lower() == right.lower()
    return _number(left) == _number(right)


def _contains(where: Any, what: Any) -> bool:
    if isinstance(where, list):
        return any(_equal(one, what) for one in where)
    return _text(what).lower() in _text(where).lower()


_FUNCTIONS: Final = {
    "contains": _contains,
    "startsWith": lambda text, start: _text(text).lower().startswith(_text(start).lower()),
}


class _Parser:
    """Reads by descent: or, and, comparison, not, what stands between. All sides are evaluated; none has an effect."""

    def __init__(self, text: str, contexts: Mapping[str, Any], functions: Mapping[str, Function]) -> None:
        self._contexts = contexts
        self._functions = functions
        self._tokens = _tokens(text)

    def value(self) -> Any:
        found = self._or()
        if self._tokens:
            raise ValueError(f"not understood from {self._tokens[0]!r} on")
        return found

    def _take(self, *wanted: str) -> str | None:
        return self._tokens.pop(0) if self._tokens and self._tokens[0] in wanted else None

    def _or(self) -> Any:
        left = self._and()
        while self._take("||"):
            right = self._and()
            left = left if is_true(left) else right
        return left

    def _and(self) -> Any:
        left = self._comparison()
        while self._take("&&"):
            right = self._comparison()
            left = right if is_true(left) else left
        return left

    def _comparison(self) -> Any:
        left = self._not()
        sign = self._take("==", "!=", "<", ">", "<=", ">=")
        if sign is None:
            return left
        right = self._not()
        if sign in ("==", "!="):
            return _equal(left, right) == (sign == "==")
        low, high = (left, right) if "<" in sign else (right, left)
        return _number(low) < _number(high) or ("=" in sign and _equal(low, high))

    def _not(self) -> Any:
        return not is_true(self._not()) if self._take("!") else self._single()

    def _single(self) -> Any:
        token = self._tokens.pop(0)
        if token == "(":
            found = self._or()
            self._expect(")")
            return found
        if token[0] == "'":
            return token[1:-1].replace("''", "'")
        if token.isdigit():
            return int(token)
        if token in _LITERALS:
            return _LITERALS[token]
        return self._call(token) if self._take("(") else self._path(self._contexts[token])

    def _call(self, name: str) -> Any:
        given: list[Any] = []
        while not self._take(")"):
            given.append(self._or())
            self._take(",")
        return self._functions[name](*given)

    def _path(self, value: Any) -> Any:
        while self._take("."):
            key = self._tokens.pop(0)
            if key == "*":
                return [self._at(one, *self._rest(index)) for index, one in enumerate(value.values())]
            value = self._at(value, key)
        return value

    def _rest(self, index: int) -> Sequence[str]:
        """Read what follows a `.*`, once: it is asked of each."""
        if index == 0:
            self._filtered = []
            while self._take("."):
                self._filtered.append(self._tokens.pop(0))
        return self._filtered

    @staticmethod
    def _at(value: Any, *path: str) -> Any:
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise ValueError(f"{token!r} is missing")


def _tokens(text: str) -> list[str]:
    tokens, place = [], 0
    while place < len(text.rstrip()):
        found = _TOKEN.match(text, place)
        if not found:
            raise ValueError(f"not understood: {text[place:]!r}")
        tokens.append(found.group().strip())
        place = found.end()
    return tokens
