import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.crawl.fetch.charset import decode

WORD = "Größe"
META = '<meta charset="iso-8859-15">'
XML = b"<?xml version='1.0' encoding='latin2'?>"


@pytest.mark.parametrize(
    ("body", "header", "charset", "source"),
    [
        (codecs.BOM_UTF8 + WORD.encode(), "iso-8859-1", "utf-8", "bom"),
        (codecs.BOM_UTF16_LE + WORD.encode("utf-16-le"), None, "utf-16-le", "bom"),
        (codecs.BOM_UTF16_BE + WORD.encode("utf-16-be"), None, "utf-16-be", "bom"),
        (WORD.encode("latin-1"), "ISO-8859-1", "cp1252", "header"),
        ((META + WORD).encode("utf-8"), "utf-8", "utf-8", "header"),
        ((META + WORD).encode("iso-8859-15"), None, "iso8859-15", "meta"),
        ((META + WORD).encode("iso-8859-15"), "nonsense", "iso8859-15", "meta"),
        (XML + WORD.encode("latin2"), None, "iso8859-2", "xml"),
        (WORD.encode(), None, "utf-8", "utf8"),
        (WORD.encode("cp1252"), None, "cp1252", "fallback"),
        (WORD.encode(), "no-such-charset", "utf-8", "utf8"),
        (WORD.encode(), "base64", "utf-8", "utf8"),
        (WORD.encode(), "utf-7", "utf-8", "utf8"),
        (WORD.encode(), "unicode_escape", "utf-8", "utf8"),
        ("日本".encode("shift_jis") + b"<p>" + b"", "shift_jis", "shift_jis", "header"),
    ],
)
def test_the_most_trusted_source_names_the_encoding(
    body: bytes, header: str | None, charset: str, source: str
) -> None:
    decoded = decode(body, header)
    assert (decoded.charset, decoded.source) == (charset, source)
    assert WORD in decoded.text or "日本" in decoded.text


@pytest.mark.parametrize("lead", ["", "\n ", "\ufeff"])
def test_the_xml_declaration_is_taken_off(lead: str) -> None:
    body = (lead + '<?xml version="1.0" encoding="UTF-8"?>\n<html>').encode()
    assert decode(body, None).text == "<html>"


@pytest.mark.parametrize("quoted", [META, '<?xml version="1.0" encoding="latin2"?>'])
def test_plain_text_may_quote_declarations_of_encodings(quoted: str) -> None:
    text, charset, source = decode((quoted + WORD).encode(), None, is_markup=False)
    assert (text, charset, source) == (quoted + WORD, "utf-8", "utf8")


LABELS = [None, "utf-8", "idna", "utf-16", "x\0y", "", "utf-7", "raw_unicode_escape", "punycode"]


@given(st.binary(max_size=200), st.sampled_from(LABELS))
def test_any_bytes_become_text_that_can_be_stored(body: bytes, header: str | None) -> None:
    decode(body, header).text.encode()


@given(st.text(alphabet="+/-\\uDd8cC0123456789", max_size=60), st.sampled_from(LABELS))
def test_no_label_makes_lone_surrogates(text: str, header: str | None) -> None:
    decode(text.encode(), header).text.encode()
