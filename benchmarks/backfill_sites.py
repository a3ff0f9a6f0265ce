"""Generated documentation sites: as many as a benchmark wants, each about a tool of its own.

The same numbers give the same pages. A page has a few sections of plain instructions with a
command each, so that rules find questions in it, and links to its neighbours.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

VERBS = (
    "trim", "light", "mount", "rotate", "export", "align", "charge", "rename", "merge", "inspect",
    "archive", "calibrate", "restart", "measure", "label", "resize",
)  # fmt: skip
NOUNS = (
    "wick", "burner", "shutter", "handle", "reservoir", "mirror", "bracket", "filter", "gauge",
    "valve", "ledger", "profile", "beacon", "socket", "channel", "antenna", "cover", "spindle",
)  # fmt: skip
REASONS = (
    "before the first start of a new season", "when the report shows a yellow line",
    "after every change of the power supply", "as soon as two devices share one cable",
    "while nobody else works on the same rack", "if the last backup is older than a week",
)  # fmt: skip
SECTIONS, SENTENCES = 4, 7


@dataclass(frozen=True)
class Generated:
    """A site that was written: its key, its pages below the root, and a question for each."""

    key: str
    pages: int
    questions: tuple[str, ...]


def write_sites(root: Path, sites: int, pages: int) -> list[Generated]:
    """Write `sites` folders of `pages` HTML files each below `root`."""
    return [_write_site(root, f"site-{number:02}", pages) for number in range(1, sites + 1)]


def sites_file(base_url: str, sites: list[Generated]) -> str:
    """The sites file for sites that are served below `base_url`."""
    lines = ["sites:"]
    for site in sites:
        lines += [
            f"  {site.key}:",
            f"    start_url: {base_url}{site.key}/index.html",
            f"    path_prefixes: [/{site.key}/]",
            f"    max_pages: {site.pages}",
        ]
    return "\n".join(lines) + "\n"


def _write_site(root: Path, key: str, pages: int) -> Generated:
    chance = random.Random(key)
    tool = f"lantern{key.removeprefix('site-')}"
    subjects = [(verb, noun) for verb in VERBS for noun in NOUNS]
    chance.shuffle(subjects)
    folder = root / key
    folder.mkdir(parents=True)
    names = ["index", *(f"page-{number:02}" for number in range(2, pages + 1))]
    questions: list[str] = []
    for number, name in enumerate(names):
        own = [subjects[(number * SECTIONS + n) % len(subjects)] for n in range(SECTIONS)]
        near = [names[n] for n in (*range(1, pages),)] if number == 0 else [names[number - 1]]
        (folder / f"{name}.html").write_text(_page(chance, tool, own, near), encoding="utf-8")
        verb, noun = own[0]
        questions.append(f"How do I {verb} the {noun} of {tool}?")
    return Generated(key, pages, tuple(questions))


def _page(
    chance: random.Random, tool: str, subjects: list[tuple[str, str]], links: list[str]
) -> str:
    verb, noun = subjects[0]
    title = f"{verb.capitalize()} the {noun} with {tool}"
    sections = "".join(_section(chance, tool, *subject) for subject in subjects)
    anchors = " ".join(f'<a href="{name}.html">{name}</a>' for name in links)
    return (
        f'<!doctype html><html lang="en"><head><title>{title}</title></head><body>'
        f"<nav>{anchors}</nav><main><h1>{title}</h1>{sections}</main></body></html>"
    )


def _section(chance: random.Random, tool: str, verb: str, noun: str) -> str:
    text = " ".join(_sentences(chance, tool, verb, noun))
    return f'<h2 id="{verb}-{noun}">{verb.capitalize()} the {noun}</h2><p>{text}</p>'


def _sentences(chance: random.Random, tool: str, verb: str, noun: str) -> Iterator[str]:
    yield f"To {verb} the {noun} of {tool}, run <code>{tool} {verb} --{noun}</code> in a terminal."
    for _ in range(SENTENCES):
        other, reason = chance.choice(NOUNS), chance.choice(REASONS)
        limit = chance.randrange(2, 900)
        yield (
            f"The {noun} takes up to {limit} steps of the {other}, so {verb} it {reason} and "
            f"write the number {limit} into the {other} of {tool}."
        )
