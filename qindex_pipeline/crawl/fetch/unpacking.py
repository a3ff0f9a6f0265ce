"""Content encodings: gzip and deflate, taken off a body as it streams in.

Done here rather than by aiohttp, which takes a gzip stream that ends too early for a whole page.
"""

import zlib

ACCEPTED = "gzip, deflate"
_OURS = frozenset({"gzip", "x-gzip", "deflate"})
_OTHERS = frozenset({"br", "zstd", "compress", "x-compress", "dcb", "dcz"})
_EITHER = zlib.MAX_WBITS | 32  # zlib or gzip, whichever header the stream begins with
_BARE = -zlib.MAX_WBITS
_GZIP_MAGIC = b"\x1f\x8b"


class UnpackingError(ValueError):
    """A body is not in the encoding that its header names, or in one nobody asked for."""


class Unpacker:
    """Takes one content encoding off; labels that name no encoding are ignored."""

    def __init__(self, encoding: str) -> None:
        """Begin a body with this Content-Encoding. Raises UnpackingError when it is not ours."""
        self._encoding = encoding.strip().lower()
        if self._encoding in _OTHERS or "," in self._encoding:
            raise UnpackingError(f"content encoding {self._encoding}, which was not asked for")
        self._is_packed = self._encoding in _OURS
        self._stream = zlib.decompressobj(_EITHER)
        self._is_empty = True

    def feed(self, part: bytes, most: int) -> bytes:
        """The next bytes of the body, at most `most` of them, which must be positive.

        Raises UnpackingError when they are garbage.
        """
        if not self._is_packed:
            return part[:most]
        if self._is_empty and part and self._encoding == "deflate" and part[0] & 0x0F != 8:
            # Some servers send deflate without the zlib wrapper that the standard asks for.
            self._stream = zlib.decompressobj(_BARE)
        self._is_empty = self._is_empty and not part
        out = bytearray()
        while part and len(out) < most:
            out += self._inflated(part, most - len(out))
            part = self._rest()
        return bytes(out)

    def finish(self) -> None:
        """Raise UnpackingError when the stream has not come to its end."""
        if self._is_packed and not self._is_empty and not self._stream.eof:
            raise UnpackingError(f"the {self._encoding} stream ends too early")

    def _inflated(self, part: bytes, most: int) -> bytes:
        try:
            return self._stream.decompress(part, most)
        except zlib.error as error:
            raise UnpackingError(f"not {self._encoding}: {error}") from None

    def _rest(self) -> bytes:
        """What is left to inflate: gzip streams may follow each other, padding is dropped."""
        if not self._stream.eof:
            return self._stream.unconsumed_tail
        rest = self._stream.unused_data
        if not rest.startswith(_GZIP_MAGIC):
            return b""
        self._stream = zlib.decompressobj(_EITHER)
        return rest
