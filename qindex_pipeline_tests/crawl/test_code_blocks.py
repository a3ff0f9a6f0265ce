import pytest

from qindex_pipeline.crawl.extract.extraction import extract

CODE = "def f(x):\n    # half\n    return x / 2\n\nprint(f(1))"

DOCUSAURUS = (
    '<div class="language-python codeBlockContainer"><div class="codeBlockContent">'
    '<pre class="prism-code language-python"><code class="codeBlockLines">'
    + "".join(
        f'<span class="token-line" style="color:#000"><span class="token plain">{line}</span><br>'
        "</span>"
        for line in CODE.split("\n")
    )
    + '</code></pre><div class="buttonGroup"><button>Copy</button></div></div></div>'
)
MKDOCS = (
    '<div class="language-python highlight"><pre><span></span><code>'
    + "\n".join(
        f'<span id="__span-0-{n}"><a id="__codelineno-0-{n}" name="__codelineno-0-{n}" '
        f'href="#__codelineno-0-{n}"></a>{line}</span>'
        for n, line in enumerate(CODE.split("\n"))
    )
    + '</code></pre><button class="md-clipboard">Copy</button></div>'
)
SPHINX = (
    '<div class="highlight-python3 notranslate"><div class="highlight"><pre><span></span>'
    + CODE.replace("def", '<span class="k">def</span>')
    + "\n</pre></div></div>"
)
SPHINX_NUMBERED = (
    '<div class="highlight-python notranslate"><table class="highlighttable"><tr>'
    '<td class="linenos"><div class="linenodiv"><pre>1\n2\n3\n4\n5</pre></div></td>'
    f'<td class="code"><div class="highlight"><pre>{CODE}\n</pre></div></td></tr></table></div>'
)
ROUGE = (
    '<div class="language-python highlighter-rouge"><div class="highlight"><pre><code>'
    '<table class="rouge-table"><tbody><tr><td class="rouge-gutter gl"><pre class="lineno">1\n2\n'
    f'</pre></td><td class="rouge-code"><pre>{CODE}\n</pre></td></tr></tbody></table>'
    "</code></pre></div></div>"
)
VITEPRESS = (
    '<div class="language-python"><button title="Copy Code" class="copy"></button>'
    '<span class="lang">python</span><pre class="shiki"><code>'
    + "\n".join(f'<span class="line">{line}</span>' for line in CODE.split("\n"))
    + '</code></pre><div class="line-numbers-wrapper">1<br>2<br></div></div>'
)
LINES_WITHOUT_BREAKS = (
    '<pre data-language="python"><code>'
    + "".join(f"<span data-line>{line}</span>" for line in CODE.split("\n"))
    + "</code></pre>"
)
DIFF = (
    '<div class="language-diff codeBlockContainer"><pre class="prism-code language-diff"><code>'
    + "".join(
        '<div class="token-line"><span class="token deleted-sign deleted prefix deleted">-</span>'
        f'<span class="token deleted-sign deleted line">{line}</span><br></div>'
        for line in ("one", "two")
    )
    + "</code></pre></div>"
)
CODE_WITHOUT_PRE = (
    '<code class="block whitespace-pre"><div>Python</div><div><button>Copy</button></div>'
    f"<div>{CODE}</div></code>"
)
PLAIN = f'<pre><code class="language-python">{CODE}</code></pre>'


def markdown(html: str) -> str:
    body = f"<main><h1>Title of it</h1><p>Some words before the code.</p>{html}<p>After.</p></main>"
    return extract(f"<html><body>{body}</body></html>", "https://x.org/a").markdown


@pytest.mark.parametrize(
    "html",
    [
        pytest.param(html, id=name)
        for name, html in {
            "docusaurus": DOCUSAURUS,
            "mkdocs": MKDOCS,
            "sphinx": SPHINX,
            "sphinx-linenos": SPHINX_NUMBERED,
            "rouge": ROUGE,
            "vitepress": VITEPRESS,
            "shiki-lines": LINES_WITHOUT_BREAKS,
            "code-without-pre": CODE_WITHOUT_PRE,
            "plain": PLAIN,
        }.items()
    ],
)
def test_code_is_kept_to_the_character_with_its_language(html: str) -> None:
    expected = f"Some words before the code.\n\n```python\n{CODE}\n```\n\nAfter."
    assert expected in markdown(html)


def test_a_fence_in_a_code_block_gets_a_longer_fence() -> None:
    assert "````\n```\nx\n```\n````" in markdown("<pre>```\nx\n```</pre>")


def test_leading_spaces_of_the_first_line_survive() -> None:
    assert "```\n    indented\nnot\n```" in markdown("<pre>\n    indented\nnot\n</pre>")


def test_a_language_that_says_nothing_is_left_out() -> None:
    assert "```\nx\n```" in markdown('<div class="highlight-default"><pre>x</pre></div>')


def test_inline_code_stays_inline() -> None:
    text = markdown("<p>Run <code>make\nall</code> now.</p>")
    assert "```" not in text
    assert "Run `make all` now." in " ".join(text.split())


def test_a_title_bar_that_names_no_language_stands_before_the_block() -> None:
    html = "<code><div>first command</div><button>Copy</button><div>make</div></code>"
    assert "first command\n\n```\nmake\n```" in markdown(html)


def test_a_rendered_table_in_a_code_element_is_a_table() -> None:
    html = "<code><div>Out</div><table><tr><th>a</th></tr><tr><td>b</td></tr></table></code>"
    assert "| a |\n| --- |\n| b |" in markdown(html)


def test_an_empty_block_leaves_no_fence() -> None:
    assert "```" not in markdown("<pre>  \n </pre>")


def test_a_token_that_is_called_a_line_is_none() -> None:
    assert "```diff\n-one\n-two\n```" in markdown(DIFF)


def test_a_block_of_deeply_nested_tokens_is_read() -> None:
    nested = "<span>" * 400 + "x = 1<br>y = 2" + "</span>" * 400
    assert "```\nx = 1\ny = 2\n```" in markdown(f"<pre>{nested}</pre>")
