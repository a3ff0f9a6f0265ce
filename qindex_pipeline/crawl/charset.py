"""From the bytes of a response to text: which encoding a page is in.

Order of trust: byte order mark, HTTP header, meta element, XML declaration, UTF-8 when the
bytes are valid, else Windows-1252.
"""

import codecs
import re

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


def decode(body: bytes, header_charset: str | None) -> tuple[str, str]:
    """Decode a page and drop its XML declaration.

    The declaration goes because lxml, and with it crawl4ai, refuses text that announces an
    encoding. Undecodable bytes become U+FFFD.

    Args:
        body: The whole body.
        header_charset: `charset` of the Content-Type header, if it names one.

    Returns:
        The text and the name of the encoding.
    """
    text, charset = _decode(body, header_charset)
    return _XML_DECLARATION.sub("", text, count=1), charset


def _decode(body: bytes, header_charset: str | None) -> tuple[str, str]:
    for mark, charset in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(charset, "replace"), charset
    head = body[:_PRESCAN_BYTES]
    for label in (header_charset, _found(_META, head), _found(_XML, head)):
        text = _try(body, label)
        if text is not None:
            return text
    try:
        return body.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return body.decode(_FALLBACK, "replace"), _FALLBACK


def _found(pattern: re.Pattern[bytes], head: bytes) -> str | None:
    match = pattern.search(head)
    return match[1].decode("ascii", "replace") if match else None


def _try(body: bytes, label: str | None) -> tuple[str, str] | None:
    if not label:
        return None
    try:
        name = codecs.lookup(label).name
        charset = _READ_AS.get(name, name)
        return body.decode(charset, "replace"), charset
    except (LookupError, UnicodeError, ValueError):  # unknown, or a codec that is no encoding
        return None
