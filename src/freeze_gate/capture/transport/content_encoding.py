"""The content coding of a body, decoded up to its end: only a decoder knows whether a compressed body is complete.

HTTP clients return a gzip body without its end as if it were complete, so the recorder decodes for itself. It knows
gzip; a request is made to accept nothing else, and a body in any other coding is passed over.
"""

import zlib
from typing import Final

_GZIP_FORMAT: Final = 16 + zlib.MAX_WBITS
_GZIP_MAGIC: Final = b"\x1f"
_GZIP: Final = frozenset({"gzip", "x-gzip"})
_IDENTITY: Final = frozenset({"", "identity"})


class ContentDecoder:
    """Decodes one body, in the coding that its `Content-Encoding` names.

    `is_known` is False for any coding but gzip and identity; nothing is decoded then. `is_broken` turns True where the
    bytes are not what the header says. Gzip is that of RFC 1952: members one after the other. What follows the last
    one and is no member is ignored, as clients do.
    """

    def __init__(self, content_encoding: str | None) -> None:
        names = [name.strip().lower() for name in (content_encoding or "").split(",")]
        codings = [name for name in names if name not in _IDENTITY]
        self.is_coded = len(codings) == 1 and codings[0] in _GZIP
        self.is_known = self.is_coded or not codings
        self.is_broken = False
        self._member = zlib.decompressobj(_GZIP_FORMAT)
        self._is_member_open = False
        self._has_member_ended = False
        self._is_padding = False

    @property
    def is_complete(self) -> bool:
        """Whether no gzip member is left open; also true before the first byte: an empty body is a complete one."""
        return not self._is_member_open

    def feed(self, data: bytes) -> bytes:
        """Decode a piece; nothing comes any more once it is broken."""
        if not self.is_known or self.is_broken:
            return b""
        if not self.is_coded:
            return data
        try:
            return self._decompress(data)
        except zlib.error:
            self.is_broken = True
            return b""

    def flush(self) -> bytes:
        """Return what the decoder still holds: a byte or more at the end of a truncated body."""
        return self._member.flush() if self.is_coded and not self.is_broken else b""

    def _decompress(self, data: bytes) -> bytes:
        pieces = []
        while data and not self._is_padding:
            if self._has_member_ended and not self._is_member_open and not data.startswith(_GZIP_MAGIC):
                self._is_padding = True
                break
            pieces.append(self._member.decompress(data))
            self._is_member_open = not self._member.eof
            data = self._member.unused_data
            if not self._is_member_open:
                self._has_member_ended = True
                self._member = zlib.decompressobj(_GZIP_FORMAT)
        return b"".join(pieces)


def restrict_accept_encoding(accept_encoding: str | None) -> str:
    """Leave out of an `Accept-Encoding` what cannot be decoded here; at the least, `identity` is left."""
    offers = [offer.strip() for offer in (accept_encoding or "").split(",")]
    accepted = [offer for offer in offers if offer.split(";")[0].strip().lower() in {*_GZIP, "identity"}]
    return ", ".join(accepted) or "identity"
