"""A warning, once, when an English-only embedder is given other languages."""

from typing import Any

import pytest

from qindex_pipeline.embedding.language import warn_about_language
from qindex_pipeline_tests.conftest import chunk_row

ENGLISH = (
    "To install the program, download the archive from the release page, unpack it into a folder "
    "of your choice and run the setup script. It asks for the target directory."
)
GERMAN = (
    "Um das Programm zu installieren, laden Sie das Archiv von der Seite der Veröffentlichungen "
    "herunter, entpacken es in einen Ordner Ihrer Wahl und starten das Skript zur Einrichtung."
)


def warnings_of(*chunks: dict[str, Any], embedder: str = "minilm") -> list[str]:
    lines: list[str] = []
    warn_about_language(chunks, embedder, lines.append)
    return lines


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (ENGLISH, {"lang": "en"}),
        (ENGLISH, {"lang": "en-GB"}),
        (ENGLISH, {"lang": "EN_us"}),
        (ENGLISH, {"lang": None}),
        (GERMAN, {"lang": "en"}),
        ("Guten Tag", {"lang": None}),
        (GERMAN, {"lang": None, "has_code": True}),
    ],
    ids=["en", "en-GB", "EN_us", "judged", "declared en", "too short to judge", "code"],
)
def test_english_and_what_cannot_be_judged_is_no_news(text: str, values: dict[str, Any]) -> None:
    assert warnings_of(chunk_row(text, **values)) == []


@pytest.mark.parametrize("language", ["de", "de-AT", None])
def test_another_language_is_told_with_the_page(language: str | None) -> None:
    (line,) = warnings_of(
        chunk_row(ENGLISH), chunk_row(GERMAN, lang=language, url="http://docs/de/start")
    )
    assert "http://docs/de/start (de)" in line
    assert "minilm knows English only" in line
    assert "QINDEX_EMBEDDER" in line


def test_many_pages_give_one_line_that_counts_pages_not_chunks() -> None:
    urls = ["http://docs/fr/a", "http://docs/fr/a", "http://docs/fr/b"]
    lines = warnings_of(*(chunk_row(f"texte {url}", url=url, lang="fr") for url in urls))
    assert len(lines) == 1
    assert lines[0].startswith("2 pages are not in English, the first is http://docs/fr/a (fr)")


def test_an_embedder_of_many_languages_warns_nobody() -> None:
    foreign = chunk_row(GERMAN, lang="de")
    assert warnings_of(foreign, embedder="openai:text-embedding-3-small") == []
