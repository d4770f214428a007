"""Content codings, followed to their end: whether a compressed body is whole is known only by its decoder.

HTTP clients return a gzip body without its end as if it were whole, so the recorder decodes for itself. It can follow
what the standard library decodes; a request is made to ask for nothing else.
"""

import zlib
from collections.abc import Callable
from typing import Final, Protocol

_GZIP: Final = 16 + zlib.MAX_WBITS
_MAGIC: Final = b"\x1f"
_ZLIB_HEAD: Final = 2  # bytes
_MOST_LAYERS: Final = 5


class Layer(Protocol):
    """One coding: bytes in, bytes out."""

    @property
    def whole(self) -> bool:
        """Whether the coding has come to its end; also true before the first byte: an empty body is a whole one."""

    def feed(self, data: bytes) -> bytes:
        """Decode a piece. Raises `zlib.error` where it is not what it should be."""

    def flush(self) -> bytes:
        """Return what the decoder still holds."""


class Gzip:
    """RFC 1952: members one after the other. What follows the last one and is no member is ignored, as clients do."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP)
        self._begun = False
        self._members = 0
        self._padding = False

    @property
    def whole(self) -> bool:
        """Whether no member is left open."""
        return not self._begun

    def feed(self, data: bytes) -> bytes:
        """Decode a piece."""
        out = []
        while data and not self._padding:
            if self._members and not self._begun and not data.startswith(_MAGIC):
                self._padding = True
                break
            out.append(self._member.decompress(data))
            data = self._next_member()
        return b"".join(out)

    def _next_member(self) -> bytes:
        self._begun = not self._member.eof
        if self._begun:
            return b""
        rest = self._member.unused_data
        self._members += 1
        self._member = zlib.decompressobj(_GZIP)
        return rest

    def flush(self) -> bytes:
        """Return what the decoder still holds."""
        return self._member.flush()


class Deflate:
    """RFC 9110 says zlib, and some servers send the bare stream: the first two bytes tell which."""

    def __init__(self) -> None:
        self._head = b""
        self._stream = zlib.decompressobj()
        self._begun = False

    @property
    def whole(self) -> bool:
        """Whether the stream's end has come, or nothing yet."""
        return not (self._head or self._begun) or self._stream.eof

    def feed(self, data: bytes) -> bytes:
        """Decode a piece."""
        if not self._begun:
            data, self._head = self._head + data, b""
            if len(data) < _ZLIB_HEAD:
                self._head = data
                return b""
            self._begun = True
            if data[0] & 0x0F != zlib.DEFLATED or int.from_bytes(data[:_ZLIB_HEAD], "big") % 31:
                self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
        return self._stream.decompress(data)

    def flush(self) -> bytes:
        """Return what the decoder still holds."""
        return self._stream.flush()


_LAYERS: Final[dict[str, Callable[[], Layer]]] = {"gzip": Gzip, "x-gzip": Gzip, "deflate": Deflate}


class Decoding:
    """The codings of one body, as its `Content-Encoding` names them.

    `known` is False where it names one that cannot be followed; the body is then passed over. `broken` turns True where
    the bytes are not what the header says.
    """

    def __init__(self, content_encoding: str | None) -> None:
        names = [name.strip().lower() for name in (content_encoding or "").split(",")]
        codings = [name for name in names if name not in ("", "identity")]
        self.known = len(codings) <= _MOST_LAYERS and all(name in _LAYERS for name in codings)
        self.broken = False
        self._layers = [_LAYERS[name]() for name in reversed(codings)] if self.known else []

    @property
    def coded(self) -> bool:
        """Whether there is a coding whose end can be seen."""
        return bool(self._layers)

    @property
    def whole(self) -> bool:
        """Whether every coding has come to its end."""
        return all(layer.whole for layer in self._layers)

    def feed(self, data: bytes) -> bytes:
        """Decode a piece; nothing comes any more once it is broken."""
        return self._through(data, self._layers)

    def flush(self) -> bytes:
        """Return what the decoders still hold: a byte or more at the end of a cut body."""
        rest = b""
        for layer in self._layers:
            rest = self._through(rest, [layer]) + (b"" if self.broken else layer.flush())
        return rest

    def _through(self, data: bytes, layers: list[Layer]) -> bytes:
        if self.broken or not self.known:
            return b""
        try:
            for layer in layers:
                data = layer.feed(data)
        except zlib.error:
            self.broken = True
            return b""
        return data


def narrowed(accept_encoding: str | None) -> str:
    """Take out of an `Accept-Encoding` what cannot be followed; what is left at the least is `identity`."""
    offered = [offer.strip() for offer in (accept_encoding or "").split(",")]
    kept = [offer for offer in offered if offer.split(";")[0].strip().lower() in {*_LAYERS, "identity"}]
    return ", ".join(kept) or "identity"
