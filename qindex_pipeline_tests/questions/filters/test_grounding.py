"""Filter `grounding`: the seed's rule, and the one that is used."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qindex_pipeline.questions.filters.grounding import (
    MIN_SHARED_WORDS,
    shared_terms,
    shared_words,
)
from qindex_pipeline.questions.filters.judging import GROUNDING, judge_questions
from qindex_pipeline.questions.filters.terms import Text, terms
from qindex_pipeline_tests.conftest import candidate_row, chunk_row

SEED_PAIRS: list[tuple[str, str, list[str]]] = [
    # question, the chunk's own text, words of more than 4 characters that they share
    ("How do I install the package?", "Install the package with pip.", ["install", "package"]),
    ("How do I install it?", "Install the package with pip.", ["install"]),
    ("What is the default port?", "The default is 8080.", ["default"]),
    ("What is the default port number?", "The default number is 8080.", ["default", "number"]),
    ("Can I run it as root?", "You can run it as root.", []),
    ("INSTALL the PACKAGE?", "install the package.", ["install", "package"]),
    ("Which packages are installed?", "Install the package with pip.", []),
    ("Which theme has a style?", "A theme sets a style.", ["style", "theme"]),
    ("Theme, theme and theme?", "A theme is a theme.", ["theme"]),
    ("What does --verbose print?", "`--verbose`: print more.", ["print", "verbose"]),
    ("What does max_pages limit?", "max_pages: the limit", ["limit", "max_pages"]),
    ("Wie ändert man die Größe?", "Die Größe ändert sich.", ["ändert", "größe"]),
]
"""Twelve pairs that pin the seed's rule; words are compared casefolded."""

PAIRS: list[tuple[str, str, str, bool]] = [
    # question, the chunk's own text, its language, whether it is grounded (place: Guide > Setup)
    ("What is npm?", "`npm` installs packages.", "en", True),
    ("What is npm?", "`pip` installs packages.", "en", False),
    ("Is C# supported?", "C# works since version 2.", "en", False),
    ("Is C# supported?", "C# and F# are supported.", "en", True),
    ("Is C# supported?", "C and C++ are supported.", "en", False),
    ("Why use .NET or Go?", "A service in .NET or in Go.", "en", True),
    ("What does --force do?", "`-f`, `--force`: overwrite.", "en", True),
    ("What does --force do?", "`--force-with-lease`: overwrite.", "en", False),
    ("What does --no-verify skip?", "**--[no-]verify**: skip the hook.", "en", True),
    ("How do I call the API?", "Call the API with a token.", "en", True),
    ("Which packages are installed?", "Install the package with pip.", "en", True),
    ("How do I set core.editor?", "Set `core.editor` to vim.", "en", True),
    ("How do I set core.pager?", "Set `color.ui` to false.", "en", False),
    ("How do I set up the guide?", "Set the guide up with pip.", "en", True),
    ("How do I configure the guide's setup?", "Use pip for it.", "en", False),
    ("How do I configure the guide?", "Configure it with pip.", "en", True),
    ("How do I configure the server?", "Configure it with pip.", "en", False),
    ("How do I configure the fonts and colours?", "Configure it with pip.", "en", False),
    ("How do I configure the fonts?", "Configure the margins and fonts.", "en", True),
    ("How do I configure margins, fonts and inks?", "Configure fonts.", "en", True),
    ("How do I configure margins, fonts, inks, rules?", "Use fonts.", "en", False),
    ("How does the guide's setup work?", "The setup of fonts.", "en", True),
    ("How does the setup of inks work?", "The setup of fonts.", "en", False),
    ("Where is /etc/hosts?", "Edit /etc/hosts as root.", "en", True),
    ("What is it used for?", "It is used for what you use.", "en", False),
    ("Wie ändere ich die Größen?", "Die Größe ändert sich mit.", "de", True),
    ("Comment installer les paquets ?", "Installation du paquet : pip.", "fr", True),
    ("Как установить пакеты?", "Установка пакета с pip.", "ru", True),
    ("如何安装软件包？", "用 pip 安装软件包。", "zh", True),
    ("如何删除用户？", "用 pip 安装软件包。", "zh", False),
    ("パッケージをインストールするには？", "pip でパッケージをインストールします。", "ja", True),
    ("ユーザーを削除するには？", "pip で環境を作ります。", "ja", False),
    ("패키지를 어떻게 설치하나요?", "pip으로 패키지가 설치됩니다.", "ko", True),
    ("ติดตั้งแพ็กเกจอย่างไร?", "ติดตั้งแพ็กเกจด้วย pip", "th", True),
    ("ลบผู้ใช้อย่างไร?", "ติดตั้งแพ็กเกจด้วย pip", "th", False),
]
"""Pairs that pin the rule that is used."""


@pytest.mark.parametrize(("question", "text", "shared"), SEED_PAIRS)
def test_the_seed_counts_two_long_words_of_the_chunk(
    question: str, text: str, shared: list[str]
) -> None:
    chunk = chunk_row(text)
    (row,) = judge_questions([candidate_row(chunk, question)], [chunk])
    assert row["shared_words"] == sorted(word.casefold() for word in shared)
    assert row["seed_grounded"] is (len(shared) >= 2)


def test_the_seeds_table_has_twelve_pairs_on_both_sides_of_the_rule() -> None:
    counts = [len(shared) for _, _, shared in SEED_PAIRS]
    assert len(counts) == 12
    assert MIN_SHARED_WORDS == 2
    assert {1, 2} <= set(counts)


@pytest.mark.parametrize(("word", "counts"), [("four", False), ("fives", True)])
def test_a_word_counts_for_the_seed_from_five_characters(word: str, counts: bool) -> None:
    assert (shared_words(f"Is it {word}?", f"It is {word}.") == [word]) is counts


@pytest.mark.parametrize(("question", "text", "lang", "is_grounded"), PAIRS)
def test_a_question_is_grounded_in_what_its_chunk_says(
    question: str, text: str, lang: str, is_grounded: bool
) -> None:
    chunk = chunk_row(text, lang=lang)
    (row,) = judge_questions([candidate_row(chunk, question)], [chunk])
    assert (GROUNDING not in row["objections"]) is is_grounded, row["shared_terms"]


def test_the_place_alone_grounds_nothing() -> None:
    place = "Install the package"
    chunk = chunk_row("Use pip for it.", title=place, heading_path=[place])
    (row,) = judge_questions([candidate_row(chunk, "How do I install the package?")], [chunk])
    assert row["objections"] == [GROUNDING]
    assert row["shared_terms"] == ["install", "package"]


def test_the_address_behind_a_link_says_nothing() -> None:
    chunk = chunk_row("See [there](https://example.com/install/package.html).")
    (row,) = judge_questions([candidate_row(chunk, "How do I install the package?")], [chunk])
    assert row["shared_terms"] == []


def test_an_invented_option_is_never_grounded() -> None:
    text = Text("Install the package with --user.", "en")
    asked = terms("How do I install the package with --system?", "en")
    found = shared_terms(asked, text, Text("", "en"))
    assert (found.own, found.invented) == (("install", "package"), ("--system",))
    assert not found.is_grounded


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["en", "de", "zh", "th", None]))
def test_what_a_text_says_itself_is_shared_whatever_stands_around(
    said: str, other: str, language: str | None
) -> None:
    asked = terms(said, language)
    own = Text(f"{said} {other}" if said.split() else said, language)
    nothing = Text("", language)
    assert not shared_terms(asked, nothing, own).is_grounded
    alone = shared_terms(asked, Text(said, language), nothing)
    assert len(alone.own) == len(asked)
    assert not alone.invented
    assert alone.is_grounded is bool(asked)
