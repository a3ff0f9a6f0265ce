"""Filter `stand_alone`."""

import pytest

from qindex_pipeline.questions.filters.stand_alone import points_elsewhere

POINTS_ELSEWHERE = [
    "What is this page about?",
    "What does the example above show?",
    "What does the following command do?",
    "What is described in this section?",
    "According to the text, what is npm?",
    "Which options are listed below?",
    "How do I install it?",
    "How does it work?",
    "Why is this needed?",
    "What does this do?",
    "How do I use this command?",
    "What are they used for?",
    "Where are these options set?",
    "Worum geht es auf dieser Seite?",
    "Was zeigt das obige Beispiel?",
    "De quoi parle cette page ?",
    "Que fait l'exemple ci-dessus ?",
    "¿De qué trata esta página?",
    "Di cosa parla questa pagina?",
    "Waar gaat deze pagina over?",
    "О чём эта страница?",
    "本页介绍什么？",
    "上述命令有什么作用？",
    "このページは何についてですか？",
    "이 페이지는 무엇에 관한 것인가요?",
]
STANDS_ALONE = [
    "Is it possible to undo a commit?",
    "What does it mean to rebase?",
    "How long does it take to clone a repository?",
    "Does it matter whether the server is running?",
    "What happens if a file exists and it is locked?",
    "How do I install Lantern and configure it?",
    "What happens if a branch exists and this branch is checked out?",
    "What does the commit message contain when it is empty?",
    "How do I always output the long format even when it matches a tag?",
    "How do I undo the previous commit?",
    "How do I set the page size?",
    "How do I add a table of contents?",
    "What does the `this` keyword refer to?",
    "How do I use the this keyword?",
    "How can I tell that a file changed?",
    "How do I get npm and its dependencies?",
    "Why is --force dangerous and when should I use it?",
    "What happens if Git decides that the content is text?",
    "How do I show the author email instead of the author name?",
    "Wie ändere ich die Seitengröße?",
    "如何设置页面大小？",
]


@pytest.mark.parametrize("question", POINTS_ELSEWHERE)
def test_a_question_that_points_at_its_page_is_not_understood_alone(question: str) -> None:
    assert points_elsewhere(question)


@pytest.mark.parametrize("question", STANDS_ALONE)
def test_a_pronoun_with_something_before_it_is_understood(question: str) -> None:
    assert not points_elsewhere(question)
