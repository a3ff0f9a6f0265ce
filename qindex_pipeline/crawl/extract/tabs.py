"""Tabs, which markdown does not have: each panel below its label in bold."""

from selectolax.lexbor import LexborNode

from qindex_pipeline.crawl.extract import dom

# ARIA (Docusaurus, Sphinx), MkDocs Material, VitePress.
TAB_LISTS = "[role=tablist], .tabbed-labels, .vp-code-group > .tabs"
_LABELS = "[role=tab], label"
_PANELS = "[role=tabpanel], .tabbed-block, .blocks > div"


def unfold_tabs(tabs: LexborNode) -> None:
    """Move the labels of a tab list to their panels; where those are not found, set them apart."""
    if tabs.css_first(_PANELS) is not None:
        return  # each panel stands by its label already
    labels = [(label, dom.flat_text(label)) for label in dom.outermost(tabs.css(_LABELS))]
    panels = dom.outermost(tabs.parent.css(_PANELS)) if tabs.parent is not None else []
    if len(labels) != len(panels):
        for label, text in labels:
            label.replace_with(dom.bold(text))
        return
    for (_, text), panel in zip(labels, panels, strict=True):
        panel.insert_before(dom.bold(text))
    tabs.decompose()
