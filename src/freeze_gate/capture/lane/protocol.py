"""The protocol between `freeze-gate oracle --lane` and `freeze-gate lane`: one line of JSON a message.

    near side                                lane
    request, the pin's bytes, the tree's tar
                                             ready: what it hashed; the sandbox stands, and nothing has run
    go
                                             ended: how the command ended

The lane also says `alive` every few seconds, from the request to the end. Instead of `ready` it may say `refused`,
which every version of the protocol understands.
"""

import json
from typing import Any, Final, NamedTuple

from freeze_gate.capture.oracle.process import OracleResult
from freeze_gate.capture.oracle.sandbox.protocol import SandboxResult
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.limits import Limits
from freeze_gate.evidence.record import FIXTURE_ID, to_dict
from freeze_gate.validation.readers import (
    InvalidValue,
    ObjectReader,
    Reader,
    boolean,
    integer,
    list_of,
    nullable,
    of_type,
    one_of,
    seconds,
    text,
)
from freeze_gate.validation.strict_json import read_json

SCHEMA: Final = "freeze-gate/lane/1"
MAX_LINE: Final = 1 << 20
"""Bytes of a message. A longer command line would not start either."""
LIMITS: Final = Limits()

MAX_TREE_BYTES: Final = 2 * LIMITS.total_bytes
"""Bytes of the tar: its headers take less than the files that they are allowed to hold."""

_DEPTH: Final = 3  # a message, its content, the process in a result
_MAX_EXIT_STATUS: Final = 255
_MAX_SIGNAL: Final = 64


class Request(NamedTuple):
    """What the near side asks for.

    `size` is the pin's, `tree_size` that of the tar, in bytes; 0 is no tree. `timeout` is in seconds. `alive_interval`
    is how often the lane must be heard of, in seconds.
    """

    schema: str
    fixture_id: str
    fixture_sha256: Sha256
    size: int
    suffix: str
    command: tuple[str, ...]
    timeout: float | None
    allow_egress: bool
    tree_size: int
    alive_interval: float


class Ready(NamedTuple):
    """What the lane has prepared: its version, the digest that it hashed itself, and whether the network is off."""

    version: str
    fixture_sha256: Sha256
    egress: str


class InvalidMessage(Exception):
    """A line is no message of this protocol."""


_SHA256: Final = text("64 lower-case hexadecimal characters", r"[0-9a-f]{64}", Sha256)
_STRING: Final = of_type(str, "a string")  # a word of a command may hold a line feed

_REQUEST: Final = ObjectReader(
    Request,
    {
        "schema": one_of(SCHEMA),
        "fixture_id": text("a fixture id", FIXTURE_ID),
        "fixture_sha256": _SHA256,
        "size": integer(0, LIMITS.member_bytes),
        "suffix": _STRING,
        "command": list_of(_STRING),
        "timeout": nullable(seconds),
        "allow_egress": boolean,
        "tree_size": integer(0, MAX_TREE_BYTES),
        "alive_interval": seconds,
    },
)
_READY: Final = ObjectReader(Ready, {"version": text(), "fixture_sha256": _SHA256, "egress": one_of("sealed", "open")})
_PROCESS: Final = ObjectReader(
    SandboxResult,
    {
        "exit_status": nullable(integer(-_MAX_SIGNAL, _MAX_EXIT_STATUS)),
        "seconds": seconds,
        "egress_attempts": nullable(integer()),
        "survivors": integer(),
    },
)
_RESULT: Final = ObjectReader(OracleResult, {"process": nullable(_PROCESS), "fixture_sha256": nullable(_SHA256)})


def encode(kind: str, content: Any = None) -> bytes:
    """Return a message as a line: an object with its kind as the only key."""
    return json.dumps({kind: to_dict(content)}).encode() + b"\n"


def read_request(line: bytes) -> Request:
    """Read the near side's first line. Raises `InvalidMessage`, which says why, also for another version."""
    try:
        return _REQUEST(json.loads(line)["request"])
    except InvalidValue as error:
        raise InvalidMessage(f"the request is not one of {SCHEMA}: {error}") from None
    except (ValueError, LookupError, TypeError, RecursionError):
        raise InvalidMessage(f"the first line is no request of {SCHEMA}") from None


def read_message(line: bytes) -> tuple[str, Any]:
    """Read a line of the lane: its kind and its content. Raises `InvalidMessage`, and quotes nothing of the line."""
    readers: dict[str, Reader[Any]] = {"ready": _READY, "ended": _RESULT, "refused": text(), "alive": lambda _: None}
    try:
        message = of_type(dict, "an object")(read_json(line, depth=_DEPTH))
        ((kind, content),) = message.items()
        return kind, readers[kind](content)
    except (ValueError, LookupError):
        raise InvalidMessage(f"a line that is no message of {SCHEMA}") from None
