"""Filter `language`."""

import pytest

from qindex_pipeline.questions.filters.language import is_other_language, language_of

PAGES = {
    "en": "Install the package with npm. You can run it with --force if the server is down.",
    "de": "Installieren Sie das Paket mit npm. Sie können es mit --force starten, wenn es nicht"
    " läuft.",
    "fr": "Installez le paquet avec npm. Vous pouvez le lancer avec --force si le serveur ne"
    " répond pas.",
    "es": "Instale el paquete con npm. Puede ejecutarlo con --force si el servidor no responde a"
    " la solicitud.",
    "ru": "Установите пакет с помощью npm. Вы можете запустить его с --force, если он не отвечает.",
    "ja": "npm でパッケージをインストールします。応答しない場合は --force を使ってください。",
    "zh": "使用 npm 安装软件包。如果服务器没有响应，可以使用 --force 选项运行它。",
}
QUESTIONS = {
    "en": ["How do I install the package?", "What does --force do?", "What is npm?", "Is it up?"],
    "de": ["Wie installiere ich das Paket?", "Was ist ein Paket?", "Wozu dient --force?"],
    "fr": ["Comment installer le paquet avec npm ?", "À quoi sert --force pour un serveur ?"],
    "es": ["¿Cómo instalo el paquete?", "¿Qué hace la opción --force?"],
    "ru": ["Как установить пакет?", "Что делает --force?"],
    "ja": ["パッケージをインストールするには？", "--force は何をしますか？"],
    "zh": ["怎么安装软件包？", "--force 是做什么的呢？"],
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("asked", QUESTIONS)
def test_a_question_is_in_the_language_of_its_page(page: str, asked: str) -> None:
    text = PAGES[page]
    verdicts = {q: is_other_language(q, language_of(page, text), text) for q in QUESTIONS[asked]}
    # One function word that both have ("was", "a") leaves it open, and nothing open is rejected.
    is_open = asked == "de" and page == "en" and verdicts.pop("Wozu dient --force?") is False
    is_open |= asked == "de" and page in ("fr", "es") and not verdicts.pop("Wozu dient --force?")
    assert set(verdicts.values()) == {page != asked}, (verdicts, is_open)


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("en", PAGES["de"], "de"),
        ("en-GB", "npm install --force", "en"),
        ("pt_BR", "npm install --force", "pt"),
        (None, "npm install --force", None),
        ("ja", PAGES["en"], "en"),
        ("ja", PAGES["ja"], "ja"),
    ],
)
def test_a_text_tells_its_language_before_the_page_declares_it(
    declared: str | None, text: str, expected: str | None
) -> None:
    assert language_of(declared, text) == expected


def test_a_symbol_of_another_script_makes_no_other_language() -> None:
    text = PAGES["en"]
    assert not is_other_language("What is the α of the package?", "en", text)
    assert is_other_language("What is the пакет?", "en", text)


def test_a_page_in_english_about_another_script_is_asked_about_in_english() -> None:
    text = PAGES["en"] + " For example: " + PAGES["zh"]
    assert not is_other_language("How do I install the package?", language_of("en", text), text)
