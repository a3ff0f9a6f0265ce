"""Filter `form`."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qindex_pipeline.questions.filters.form import MAX_CHARACTERS, is_malformed

GOOD = [
    "What is npm?",
    "What's C#?",
    "How do I use --force with git push",
    "Restart the service?",
    'What does "git gc" do?',
    "What does `**/*.py` match?",
    "What happens if <branch> doesn't exist?",
    "What does the ? wildcard match",
    "In which file is the port set?",
    "Wie installiere ich npm",
    "À quoi sert --force ?",
    "¿Cómo instalo el paquete?",
    "Как установить пакет",
    "如何安装软件包",
    "パッケージをインストールするには？",
    "どのように設定しますか。",
    "패키지를 어떻게 설치하나요",
    "ติดตั้งอย่างไร",
    "كيف أثبت الحزمة؟",
    "What is " + "x" * (MAX_CHARACTERS - 9) + "?",
]
BAD = [
    "",
    "?",
    "Why?",
    "怎么？",
    "npm install",
    "Install the package.",
    "Explain how to install the package.",
    "Here are the questions:",
    "# What is npm?",
    "- What is npm?",
    "1. What is npm?",
    "**What is npm?**",
    "Q: What is npm?",
    "Question 2: What is npm?",
    '{"question": "What is npm?"}',
    '"question": "What is npm?"',
    "```\nWhat is npm?\n```",
    "What is [npm](https://npmjs.com)?",
    "What is <b>npm</b>?",
    "What is npm &amp; npx?",
    "What is npm?\nWhat is npx?",
    "What is npm? It installs packages.",
    "What is npm? What is npx?",
    "What is " + "x" * (MAX_CHARACTERS - 8) + "?",
]


@pytest.mark.parametrize("question", GOOD)
def test_a_question_in_plain_words_is_well_formed(question: str) -> None:
    assert not is_malformed(question)


@pytest.mark.parametrize("question", BAD)
def test_what_is_no_single_question_is_malformed(question: str) -> None:
    assert is_malformed(question)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=400))
def test_any_text_is_judged_and_spaces_around_it_do_not_matter(text: str) -> None:
    assert is_malformed(text) == is_malformed(f"  {text.strip()}\t")
