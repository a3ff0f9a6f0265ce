import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.crawl.charset import decode

WORD = "Größe"
META = '<meta charset="iso-8859-15">'


@pytest.mark.parametrize(
    ("body", "header", "charset"),
    [
        (codecs.BOM_UTF8 + WORD.encode(), "iso-8859-1", "utf-8"),
        (codecs.BOM_UTF16_LE + WORD.encode("utf-16-le"), None, "utf-16-le"),
        (codecs.BOM_UTF16_BE + WORD.encode("utf-16-be"), None, "utf-16-be"),
        (WORD.encode("latin-1"), "ISO-8859-1", "cp1252"),
        ((META + WORD).encode("utf-8"), "utf-8", "utf-8"),
        ((META + WORD).encode("iso-8859-15"), None, "iso8859-15"),
        (b"<?xml version='1.0' encoding='latin2'?>" + WORD.encode("latin2"), None, "iso8859-2"),
        (WORD.encode(), None, "utf-8"),
        (WORD.encode("cp1252"), None, "cp1252"),
        (WORD.encode(), "no-such-charset", "utf-8"),
        (WORD.encode(), "base64", "utf-8"),
        ("日本".encode("shift_jis") + b"<p>" + b"", "shift_jis", "shift_jis"),
    ],
)
def test_the_most_trusted_source_names_the_encoding(
    body: bytes, header: str | None, charset: str
) -> None:
    text, found = decode(body, header)
    assert found == charset
    assert WORD in text or "日本" in text


@pytest.mark.parametrize("lead", ["", "\n ", "\ufeff"])
def test_the_xml_declaration_is_taken_off(lead: str) -> None:
    text, _ = decode((lead + '<?xml version="1.0" encoding="UTF-8"?>\n<html>').encode(), None)
    assert text == "<html>"


@given(st.binary(max_size=200), st.sampled_from([None, "utf-8", "idna", "utf-16", "x\0y", ""]))
def test_any_bytes_become_text(body: bytes, header: str | None) -> None:
    assert isinstance(decode(body, header)[0], str)
