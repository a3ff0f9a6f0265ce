"""From the bytes of a response to text: which encoding a page is in.

Order of trust: byte order mark, HTTP header, meta element, XML declaration, UTF-8 when the
bytes are valid, else Windows-1252.
"""

import codecs
import re
from typing import Literal, NamedTuple

Source = Literal["bom", "header", "meta", "xml", "utf8", "fallback"]

# The standard's prescan of the first bytes: a parser can only run on text, and the text
# needs this answer first.
_PRESCAN_BYTES = 4096
_META = re.compile(rb"<meta[^>]{0,500}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>\s*")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_FALLBACK = "cp1252"
# Browsers read these labels as Windows-1252, and pages are written for browsers.
_READ_AS = {"iso8859-1": _FALLBACK, "ascii": _FALLBACK}
# Python calls these text encodings; on the web they are none, and some of them decode to
# lone surrogates, which no table can store.
_NO_CHARSETS = frozenset({"utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape"})


class Decoded(NamedTuple):
    """A text, the name of the encoding it was in, and what named that encoding."""

    text: str
    charset: str
    source: Source


def decode(body: bytes, header_charset: str | None, *, is_markup: bool = True) -> Decoded:
    """Decode a page and drop its XML declaration.

    The declaration goes because lxml, and with it crawl4ai, refuses text that announces an
    encoding. Undecodable bytes become U+FFFD.

    Args:
        body: The whole body.
        header_charset: `charset` of the Content-Type header, if it names one.
        is_markup: False for plain text, in which a meta element is a quotation: only mark,
            header and the bytes themselves count there, and nothing is dropped.
    """
    decoded = _decode(body, header_charset, is_markup)
    if not is_markup:
        return decoded
    return decoded._replace(text=_XML_DECLARATION.sub("", decoded.text, count=1))


def _decode(body: bytes, header_charset: str | None, is_markup: bool) -> Decoded:
    for mark, charset in _MARKS:
        if body.startswith(mark):
            return Decoded(body[len(mark) :].decode(charset, "replace"), charset, "bom")
    head = body[:_PRESCAN_BYTES] if is_markup else b""
    labels: tuple[tuple[Source, str | None], ...] = (
        ("header", header_charset),
        ("meta", _found(_META, head)),
        ("xml", _found(_XML, head)),
    )
    for source, label in labels:
        decoded = _try(body, label, source)
        if decoded is not None:
            return decoded
    try:
        return Decoded(body.decode("utf-8"), "utf-8", "utf8")
    except UnicodeDecodeError:
        return Decoded(body.decode(_FALLBACK, "replace"), _FALLBACK, "fallback")


def _found(pattern: re.Pattern[bytes], head: bytes) -> str | None:
    match = pattern.search(head)
    return match[1].decode("ascii", "replace") if match else None


def _try(body: bytes, label: str | None, source: Source) -> Decoded | None:
    if not label:
        return None
    try:
        name = codecs.lookup(label).name
        if name in _NO_CHARSETS:
            return None
        charset = _READ_AS.get(name, name)
        return Decoded(body.decode(charset, "replace"), charset, source)
    except (LookupError, UnicodeError, ValueError):  # unknown, or a codec that is no encoding
        return None
