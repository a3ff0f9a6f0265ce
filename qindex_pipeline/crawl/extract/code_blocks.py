"""Code blocks in one shape: `<pre><code class="language-x">the code</code></pre>`.

Documentation generators wrap every line, token and line number of a code block in elements of
their own. Here each block becomes its bare text, with its language, so that the converter
cannot lose or invent a character of it.
"""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qindex_pipeline.crawl.extract import dom

# Line numbers (Pygments, Rouge, Hexo, highlight.js, Prism) and the buttons beside a block.
_NOT_CODE = (
    ".linenos, .lineno, .linenodiv, .line-numbers-rows, .gutter, "
    ".rouge-gutter, .hljs-ln-numbers, .linenumber, .line-number, .codelineno, "
    "button, [role=button], .copy, .copybtn, .copy-button, .clipboard-copy, clipboard-copy, "
    ".clippy, .btn-clipboard, svg"
)
# Line numbers that stand beside the block, not in it (VitePress).
_NUMBERS_BESIDE = ".line-numbers-wrapper"
_LINE_CLASSES = frozenset({"line", "token-line", "code-line", "view-line", "cl"})
_ONE_LINE_TAGS = frozenset({"div", "p", "li", "tr"})
_BREAKS = ", ".join(
    ["br", "[data-line]", *sorted(_ONE_LINE_TAGS), *sorted(f".{name}" for name in _LINE_CLASSES)]
)
_BLOCK_CODE_CLASSES = frozenset({"block", "codeblock", "code-block", "whitespace-pre"})
_WRAPPERS_TO_ASK = 3
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source)-([\w+#.-]+)|highlight-([\w+#.-]+)")
_NO_LANGUAGE = frozenset(
    "default none text txt plain plaintext notranslate raw output source linenos wrapper".split()
)
_RENAMED = {"python3": "python", "ipython3": "python", "shell-session": "console"}
_LABEL = re.compile(r"[A-Za-z][\w+#-]{0,15}")


def normalise_code(tree: LexborHTMLParser) -> None:
    """Rewrite every code block of the document into its bare text with its language."""
    dom.drop(tree.css(_NUMBERS_BESIDE))
    for table in dom.outermost(tree.css("table.highlighttable, table.rouge-table, table.lntable")):
        _unwrap_table(table)
    for pre in dom.outermost(tree.css("pre")):
        _rewrite_pre(pre)
    for code in dom.outermost(filter(_is_block, tree.css("code"))):
        if not dom.is_inside(code, ("pre", "code")):
            _rewrite_block_code(code)


def code_texts(node: LexborNode) -> list[str]:
    """The text of each code block below a node (which may be one itself)."""
    return [pre.text() for pre in node.css("pre")]


def code_lines(code: str) -> list[str]:
    """The non-blank lines of code, without what no reader sees at their ends."""
    return [line.rstrip() for line in code.splitlines() if line.strip()]


def _unwrap_table(table: LexborNode) -> None:
    """A table with line numbers in its first column becomes the `<pre>` of its last one."""
    if dom.is_inside(table, ("pre",)):
        return
    blocks = table.css("pre")
    if blocks:
        table.replace_with(dom.fragment(blocks[-1].html or "<pre></pre>"))


def _rewrite_pre(pre: LexborNode) -> None:
    language = _language(pre)
    dom.drop(pre.css(_NOT_CODE))
    code = _code_text(pre)
    _drop_label(pre, language)
    if code.strip():
        pre.replace_with(_block(code, language))
    else:
        pre.decompose()


def _rewrite_block_code(code: LexborNode) -> None:
    """A `<code>` laid out as a block, without its title bar; a rendered example is no code."""
    if code.css_first("table, ul, ol, h1, h2, h3, h4, h5, h6") is not None:
        code.unwrap()
        return
    has_controls = code.css_first("button, [role=button]") is not None
    dom.drop(code.css(_NOT_CODE))
    language = _language(code)
    if has_controls:
        language = _take_title(code) or language
    text = _code_text(code)
    if text.strip():
        code.replace_with(_block(text, language))


def _take_title(code: LexborNode) -> str:
    """Take the title bar out of a block; its text when that is the name of a language.

    Any other title is put before the block, where it is the text that it looks like.
    """
    parts = [child for child in code.iter() if dom.words(child)]
    if len(parts) != 2 or parts[0].tag not in {"div", "span"}:
        return ""
    title = dom.flat_text(parts[0])
    parts[0].decompose()
    if _LABEL.fullmatch(title):
        return title.lower()
    code.insert_before(dom.element("p", title))
    return ""


def _is_block(code: LexborNode) -> bool:
    if any(child.tag in dom.BLOCKS for child in code.iter()):
        return True
    return "\n" in code.text().strip() and not _BLOCK_CODE_CLASSES.isdisjoint(dom.classes(code))


def _block(code: str, language: str) -> LexborNode:
    block = dom.fragment("<pre><code></code></pre>")
    inner = block.css_first("code")
    assert inner is not None, "the fragment holds it"
    if language:
        inner.attrs["class"] = f"language-{language}"
    inner.insert_child(code)
    return block


def _code_text(block: LexborNode) -> str:
    """The characters of a block, one line per line element or `<br>`."""
    if block.css_first(_BREAKS) is None:
        code = block.text()
    else:
        parts: list[str] = []
        _collect(block, parts)
        code = "".join(parts)
    lines = code.replace("\r\n", "\n").replace("\xa0", " ").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _collect(block: LexborNode, parts: list[str]) -> None:
    """Append the pieces of a block; a stack of its own, because tokens nest without limit."""
    stack: list[tuple[LexborNode, int | None]] = [(block, None)]
    while stack:
        node, before = stack.pop()
        if before is not None:
            _end_line(node, parts, is_empty=len(parts) == before)
        elif node.is_text_node:
            parts.append(node.text())
        elif node.tag == "br":
            parts.append("\n")
        elif node.is_element_node:
            if node.mem_id != block.mem_id:
                stack.append((node, len(parts)))
            stack.extend((child, None) for child in reversed(list(node.iter(include_text=True))))


def _end_line(node: LexborNode, parts: list[str], *, is_empty: bool) -> None:
    """Add the line break that an element stands for, unless its text brought it along.

    A line element without text is a blank line; any other block without text is nothing.
    """
    names = dom.classes(node)
    # Prism calls the text of a line in a diff a token, too.
    is_line = "token" not in names and not _LINE_CLASSES.isdisjoint(names)
    is_line = is_line or "data-line" in node.attributes
    following = node.next
    breaks = node.tag in _ONE_LINE_TAGS or (
        # Where a character follows the line, it is the line break itself.
        is_line and following is not None and following.is_element_node
    )
    needs_break = is_line if is_empty else not parts[-1].endswith("\n")
    if breaks and needs_break:
        parts.append("\n")


def _language(node: LexborNode) -> str:
    """The language of a block, as its own, its code's or a wrapper's class tells; else empty."""
    inner = node.css_first("code")
    chain = [node] if inner is None else [inner, node]
    for depth, above in enumerate(dom.ancestors(node)):
        if depth == _WRAPPERS_TO_ASK or above.tag in {"body", "main", "article"}:
            break
        chain.append(above)
    return next((found for found in map(_named_language, chain) if found), "")


def _named_language(node: LexborNode) -> str:
    named = dom.attribute(node, "data-lang") or dom.attribute(node, "data-language")
    matches = (_LANGUAGE.fullmatch(name) for name in dom.classes(node))
    found = [named, *(match[1] or match[2] for match in matches if match)]
    known = (name.lower() for name in found if name and name.lower() not in _NO_LANGUAGE)
    language = next(known, "")
    return _RENAMED.get(language, language)


def _drop_label(pre: LexborNode, language: str) -> None:
    """Remove the language's name where it stands as text of its own before the block."""
    before = dom.previous_element(pre)
    if before is None or before.tag in {"p", "h1", "h2", "h3", "h4", "h5", "h6"}:
        return
    text = dom.flat_text(before).lower()
    if (language and text == language) or (before.tag == "span" and "lang" in dom.classes(before)):
        before.decompose()
