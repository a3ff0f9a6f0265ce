"""The first real paragraph of a page: what the page is about, in its own words."""

from selectolax.lexbor import LexborNode

from qindex_pipeline.crawl.extract import dom

_MAX_LENGTH = 300
_MIN_WORDS = 6
_MAX_LINK_DENSITY = 0.5
_NOT_RUNNING_TEXT = frozenset({"li", "table", "blockquote", "dd", "aside", "figure", "details"})
_NOTE_CLASSES = ("admonition", "custom-block", "alert", "callout", "note", "warning", "tip")


def summarise(content: LexborNode) -> str | None:
    """The first paragraph outside lists, tables and notes, at most 300 characters."""
    for paragraph in content.css("p"):
        text = dom.flat_text(paragraph)
        if len(text.split()) >= _MIN_WORDS and _is_running_text(paragraph, text):
            return _shortened(text)
    return None


def _is_running_text(paragraph: LexborNode, text: str) -> bool:
    linked = sum(len(dom.flat_text(link)) for link in paragraph.css("a"))
    return linked < _MAX_LINK_DENSITY * len(text) and not any(
        above.tag in _NOT_RUNNING_TEXT or _is_note(above) for above in dom.ancestors(paragraph)
    )


def _is_note(node: LexborNode) -> bool:
    return node.tag == "div" and any(name.startswith(_NOTE_CLASSES) for name in dom.classes(node))


def _shortened(text: str) -> str:
    if len(text) <= _MAX_LENGTH:
        return text
    return text[: _MAX_LENGTH - 1].rsplit(" ", 1)[0].rstrip() + "…"
