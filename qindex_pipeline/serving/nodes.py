"""Elements of the page as plain data: written as HTML by the server, built as DOM by its script.

One description serves both ways to see an answer, with and without JavaScript. Text is always
text: the server escapes it, the script sets it as a text node, so that nothing that a page or a
model says can become markup.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Any, Union

Node = Union[str, "Element"]

_VOID = frozenset({"br", "hr", "input"})
"""Elements of HTML that have no end tag."""


@dataclass(frozen=True)
class Element:
    """An element with its attributes and children; one without a value has an empty one."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    children: tuple[Node, ...] = ()


def element(tag: str, *children: Node, **attributes: str) -> Element:
    """An element; `class_` is the attribute class, and `_` in a name stands for a hyphen."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    return Element(tag, named, children)


def to_html(nodes: Iterable[Node]) -> str:
    """The nodes as HTML; every text and every value is escaped."""
    return "".join(map(_html, nodes))


def to_json(nodes: Iterable[Node]) -> list[Any]:
    """The nodes as JSON: a text is a string, an element is [tag, attributes, children]."""
    return [
        node if isinstance(node, str) else [node.tag, node.attributes, to_json(node.children)]
        for node in nodes
    ]


def text_of(nodes: Iterable[Node]) -> str:
    """The text of the nodes, without markup."""
    return "".join(node if isinstance(node, str) else text_of(node.children) for node in nodes)


def is_web_address(url: str) -> bool:
    """Whether a link may lead there: a page's own links can hold `javascript:` and more."""
    return url.lower().startswith(("http://", "https://"))


def _html(node: Node) -> str:
    if isinstance(node, str):
        return escape(node)
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in node.attributes.items())
    opening = f"<{node.tag}{attributes}>"
    if node.tag in _VOID:
        return opening
    return f"{opening}{to_html(node.children)}</{node.tag}>"
