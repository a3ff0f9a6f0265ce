"""The page to ask on, as the server writes it: complete also without JavaScript."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template

from qindex_pipeline.serving.asker import MAX_CHARACTERS
from qindex_pipeline.serving.nodes import Element, Node, element, to_html

TITLE = "Ask the documentation"


def page_html(
    sites: Sequence[str],
    question: str = "",
    site: str | None = None,
    status: str = "",
    shown: Sequence[Node] = (),
) -> str:
    """The whole page.

    Args:
        sites: What can be asked; empty where there is no index yet.
        question: What stands in the field.
        site: The site that is chosen.
        status: The line that says how it went.
        shown: The answer, or why there is none.
    """
    asked = " ".join(question.split())
    return _template().substitute(
        title=to_html([f"{asked} · {TITLE}" if asked else TITLE]),
        heading=TITLE,
        about=to_html(_about(sites)),
        question=to_html([_field(question)]),
        sites=to_html([_choice(sites, site)] if len(sites) > 1 else []),
        status=to_html([status]),
        answer=to_html(shown),
    )


@cache
def asset(name: str) -> str:
    """A file of the page."""
    return (files("qindex_pipeline.serving") / "static" / name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    return Template(asset("ask.html"))


def _about(sites: Sequence[str]) -> list[Node]:
    if not sites:
        return ["There is no index to ask yet."]
    named = sites[0] if len(sites) == 1 else f"{len(sites)} sites"
    closing = ", with their sources. What the documentation doesn't cover stays unanswered."
    return ["Answers from ", element("strong", named), closing]


def _field(question: str) -> Element:
    return element(
        "input",
        id="question",
        name="q",
        type="text",
        value=question,
        required="",
        maxlength=str(MAX_CHARACTERS),
        autocomplete="off",
        enterkeyhint="search",
        placeholder="How do I …?",
    )


def _choice(sites: Sequence[str], chosen: str | None) -> Element:
    options = [_option("", "All sites", chosen=not chosen)]
    options += [_option(site, site, chosen=site == chosen) for site in sites]
    return element(
        "div",
        element("label", "Site", for_="site"),
        element("select", *options, id="site", name="site"),
        class_="field",
    )


def _option(value: str, text: str, *, chosen: bool) -> Element:
    # An empty value must be written out: without one, an option's value is its text.
    attributes = {"value": value} | ({"selected": ""} if chosen else {})
    return Element("option", attributes, (text,))
