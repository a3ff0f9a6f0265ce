"""The documentation site holds together, and it names the settings that exist.

`make demo` crawls, indexes and asks these pages, so a dead link or a lost anchor here is a
broken demo.
"""

import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from typer.main import get_command

from qindex_pipeline.cli import app
from qindex_pipeline.crawl.outcomes import Outcome, state_of
from qindex_pipeline.settings import NOT_SETTINGS, Settings
from qindex_pipeline.site_options import DEFAULT_EXCLUDE, CrawlOptions
from qindex_pipeline.sites import Site

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.html"))
WITHOUT_END_TAG = frozenset({"br", "hr", "img", "input", "link", "meta"})
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
SVG_SHAPES = frozenset({"rect", "path"})

FULL_PAGE_WORDS = 500
"""A page below this is one chunk, and its citation carries no anchor."""
MARGIN_WORDS = 50
"""Words that a converter may add (table bars) or drop before a demo expectation turns wrong."""


@dataclass(frozen=True)
class Heading:
    """A heading inside main, with its level and id."""

    level: int
    id: str | None


class Page(HTMLParser):
    """What the tests need to know of one page; `faults` says where tags do not nest."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[Heading] = []
        self.nav: list[str] = []
        self.rows: list[list[str]] = []
        self.faults: list[str] = []
        self.unlabelled_code = 0
        self.main_text = ""
        self.code = ""
        self._open: list[str] = []
        self.feed((DOCS / name).read_text(encoding="utf-8"))
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if "id" in values:
            self.ids.append(values["id"] or "")
        self._note_link(tag, values)
        if "main" in self._open:
            self._note_content(tag, values)
        if tag not in WITHOUT_END_TAG:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in SVG_SHAPES:
            self.faults.append(f"<{tag}/> with {attrs} is not HTML")

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()} closes nothing")

    def handle_data(self, data: str) -> None:
        if "main" in self._open and "svg" not in self._open:
            self.main_text += data
        if "code" in self._open:
            self.code += data
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data

    def _note_link(self, tag: str, values: dict[str, str | None]) -> None:
        target = values.get("href")
        if target is None:
            return
        self.links.append(target)
        if tag == "a" and "nav" in self._open:
            self.nav.append(target)

    def _note_content(self, tag: str, values: dict[str, str | None]) -> None:
        if tag in HEADINGS:
            self.headings.append(Heading(int(tag[1]), values.get("id")))
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")
        if tag == "code":
            self.code += "\n"
        if tag == "code" and self._open[-1] == "pre" and "class" not in values:
            self.unlabelled_code += 1


SITE = {name: Page(name) for name in PAGES}
DEMO: list[dict[str, Any]] = [
    json.loads(line)
    for line in (DOCS / "demo_questions.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_the_site_leads_to_a_file_and_an_anchor_that_exist(name: str) -> None:
    for link in SITE[name].links:
        parts = urlsplit(link)
        assert not parts.scheme and not parts.netloc, f"{link} leaves the site"
        target = parts.path or name
        assert (DOCS / target).is_file(), link
        assert not parts.fragment or parts.fragment in SITE[target].ids, link


@pytest.mark.parametrize("name", PAGES)
def test_every_heading_has_an_id_and_no_id_stands_twice(name: str) -> None:
    page = SITE[name]
    assert all(heading.id for heading in page.headings)
    assert len(page.ids) == len(set(page.ids))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_one_h1_first_and_skips_no_heading_level(name: str) -> None:
    levels = [heading.level for heading in SITE[name].headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


@pytest.mark.parametrize("name", PAGES)
def test_the_tags_of_a_page_nest_and_its_code_blocks_name_their_language(name: str) -> None:
    assert SITE[name].faults == []
    assert SITE[name].unlabelled_code == 0


@pytest.mark.parametrize("name", PAGES)
def test_the_navigation_of_every_page_lists_every_page(name: str) -> None:
    assert sorted(SITE[name].nav) == PAGES
    assert SITE[name].nav == SITE[PAGES[0]].nav


def names_of(field: str, info: FieldInfo) -> list[str]:
    """The environment variables that set a field, the usual one first."""
    match info.validation_alias:
        case None:
            return [f"QINDEX_{field.upper()}"]
        case AliasChoices(choices=choices):
            return [str(choice) for choice in choices]
        case alias:
            return [str(alias)]


FIELDS = {names_of(field, info)[0]: info for field, info in Settings.model_fields.items()}
VARIABLES = {
    name for field, info in Settings.model_fields.items() for name in names_of(field, info)
}
SETTING_ROWS = {
    row[0]: row[1] for row in SITE["settings.html"].rows if re.fullmatch(r"[A-Z_]+", row[0])
}


def test_the_settings_page_names_every_variable_and_no_other() -> None:
    named = re.findall(
        r"\b(?:QINDEX|QDRANT|OPENAI|ANTHROPIC)_[A-Z_]*[A-Z]", SITE["settings.html"].main_text
    )
    assert set(named) == VARIABLES
    assert set(SETTING_ROWS) == set(FIELDS)


@pytest.mark.parametrize("variable", sorted(FIELDS))
def test_the_settings_page_shows_the_default_that_the_settings_have(variable: str) -> None:
    default, shown = FIELDS[variable].default, SETTING_ROWS[variable]
    if default is None:
        assert shown == "not set" or shown.startswith("by ")
    elif isinstance(default, bool):
        assert shown == str(default).lower()
    elif isinstance(default, float):
        assert float(shown) == default
    else:
        assert shown == str(default)


@pytest.mark.parametrize("name", PAGES)
def test_no_page_names_a_setting_that_does_not_exist(name: str) -> None:
    named = set(re.findall(r"\bQINDEX_[A-Z_]*[A-Z]", SITE[name].main_text))
    assert named <= VARIABLES
    assert not named & NOT_SETTINGS


OPTION_ROWS = {
    row[0]: row[1] for row in SITE["crawling.html"].rows if row[0] in CrawlOptions.model_fields
}
OUTCOME_ROWS = [
    row for row in SITE["crawling.html"].rows if row[1] in {"present", "gone", "unknown"}
]


@pytest.mark.parametrize("option", CrawlOptions.model_fields)
def test_the_crawling_page_shows_every_option_with_its_default(option: str) -> None:
    default = CrawlOptions.model_fields[option].get_default(call_default_factory=True)
    shown = OPTION_ROWS[option]
    if default is None:
        assert shown == "not set"
    elif isinstance(default, bool):
        assert shown == str(default).lower()
    elif isinstance(default, int | float):
        assert float(shown) == default
    elif isinstance(default, str):
        assert shown == default
    else:
        assert shown == ("see below" if default else "none")


def test_the_crawling_page_shows_no_option_that_does_not_exist() -> None:
    tables = [row for row in SITE["crawling.html"].rows if row not in OUTCOME_ROWS]
    assert {row[0] for row in tables} - {"Option", "Outcome"} == set(CrawlOptions.model_fields)


def test_the_crawling_page_shows_the_patterns_that_are_left_out_by_default() -> None:
    shown = re.findall(r"^  - '(.+)'$", SITE["crawling.html"].code, flags=re.MULTILINE)
    assert tuple(shown) == DEFAULT_EXCLUDE


def test_the_crawling_page_explains_every_outcome_and_its_state() -> None:
    shown = {row[0]: row[1] for row in OUTCOME_ROWS}
    assert len(shown) == len(OUTCOME_ROWS)
    assert shown == {str(outcome): str(state_of(outcome)) for outcome in Outcome}


def test_the_sites_page_shows_where_pages_come_from_and_no_option_that_does_not_exist() -> None:
    shown = {row[0] for row in SITE["sites.html"].rows} - {"Option"}
    assert Site.model_fields.keys() - CrawlOptions.model_fields.keys() - {"key"} <= shown
    assert shown <= Site.model_fields.keys()


def words_of_the_command_line(command: Any) -> tuple[set[str], set[str]]:
    """The (sub)commands and the options of the command line."""
    commands: set[str] = set()
    options = {option for param in command.params for option in param.opts if option[:2] == "--"}
    for name, inner in getattr(command, "commands", {}).items():
        below, inner_options = words_of_the_command_line(inner)
        commands |= {name} | {f"{name} {word}" for word in below}
        options |= inner_options
    return commands, options


COMMANDS, OPTIONS = words_of_the_command_line(get_command(app))


def test_the_commands_page_names_every_command_and_every_option_and_no_other() -> None:
    text = SITE["commands.html"].main_text
    assert [name for name in COMMANDS if f"qindex {name}" not in text] == []
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) == OPTIONS | {"--help"}


@pytest.mark.parametrize("name", PAGES)
def test_no_page_names_a_command_that_does_not_exist(name: str) -> None:
    named = re.findall(r"\bqindex (?:--[a-z]+ )*([a-z]+)", SITE[name].code)
    assert set(named) <= COMMANDS


def test_the_demo_asks_answerable_questions_and_last_one_that_is_not() -> None:
    assert len(DEMO) == 8
    assert all(set(row) == {"question", "expect"} and row["question"] for row in DEMO)
    assert [row["expect"] is None for row in DEMO] == [False] * 7 + [True]


@pytest.mark.parametrize("row", DEMO[:-1], ids=lambda row: row["expect"])
def test_a_demo_question_expects_a_citation_that_the_pipeline_can_give(
    row: dict[str, Any],
) -> None:
    name, _, anchor = row["expect"].partition("#")
    page = SITE[name]
    n_words = len(page.main_text.split())
    if anchor:
        assert anchor in {heading.id for heading in page.headings}
        assert n_words > FULL_PAGE_WORDS + MARGIN_WORDS
    else:
        assert n_words < FULL_PAGE_WORDS - MARGIN_WORDS
