"""The made-up documentation in the syntax of MkDocs Material, Docusaurus and VitePress."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from textwrap import indent

from crawl_text import SAMPLES, Author, Sample

SECTIONS, PAGES_A_SECTION = 10, 11
KINDS = ("note", "tip", "warning", "danger")


@dataclass(frozen=True)
class Dialect:
    """How one generator writes what plain markdown lacks.

    Attributes:
        callout: From kind, title and text to a callout.
        tabs: From (label, sample) pairs to a group of tabs.
        code: From a sample and the number of its variant to a fenced block.
        folded: From a title and text to a part that a reader unfolds.
        extra: From an author to a construct of this generator alone.
        front: What stands at the top of a page's file.
    """

    callout: Callable[[str, str, str], str]
    tabs: Callable[[Sequence[tuple[str, Sample]]], str]
    code: Callable[[Sample, int], str]
    folded: Callable[[str, str], str]
    extra: Callable[[Author], str]
    front: str = ""


def pages(dialect: Dialect, image_root: str) -> Mapping[str, str]:
    """From a page's path, without suffix, to its source; each section has an `index`."""
    found: dict[str, str] = {}
    for section in range(SECTIONS):
        for number in range(PAGES_A_SECTION):
            name = "index" if number == 0 else f"page-{number}"
            author = Author(f"{section}/{number}")
            found[f"part-{section}/{name}"] = page(dialect, author, number, image_root)
    return found


def page(dialect: Dialect, author: Author, number: int, image_root: str) -> str:
    """One page: every construct in an order of its own; index pages link to the others."""
    title = author.title()
    parts = [f"{dialect.front}# {title} {author.random.randint(2, 999)}", author.paragraph()]
    if number == 0:
        links = (f"- [{author.title()}](./page-{n}.md)" for n in range(1, PAGES_A_SECTION))
        parts.append("\n".join(links))
    blocks = [*_plain_blocks(author, image_root), *_own_blocks(dialect, author)]
    author.random.shuffle(blocks)
    for position, block in enumerate(blocks):
        if position % 3 == 0:
            level = "##" if position % 2 == 0 else "###"
            parts.append(f"{level} {author.title()} with `{author.name()}`")
        parts += [author.paragraph(), block]
    return "\n\n".join(parts) + "\n"


def _plain_blocks(author: Author, image_root: str) -> list[str]:
    """What all of them write alike."""
    item = author.sample("bash")
    in_list = indent(fence(item, item.language), "    ")
    image = f"![A diagram of a {author.noun()}]({image_root}diagram.svg)"
    return [
        f"- {author.sentence()}\n- {author.sentence()}\n    - {author.sentence()}\n- Last.",
        f"1. {author.sentence()}\n\n{in_list}\n\n2. {author.sentence()}\n3. {author.sentence()}",
        _table(author),
        f"{image}\n\nSee [the {author.noun()}](./page-{author.random.randint(1, 10)}.md).",
        f"> {author.sentence()}\n>\n> {author.sentence()}",
    ]


def _own_blocks(dialect: Dialect, author: Author) -> list[str]:
    """What each writes in its own way: one block of it, or several for code."""
    random = author.random
    chosen = islice(cycle(random.sample(list(SAMPLES), len(SAMPLES))), 4)
    samples = [author.sample(language) for language in chosen]
    labelled = [("Python", author.sample("python")), ("Shell", author.sample("bash"))]
    inside = f"{author.sentence()}\n\n{dialect.code(author.sample('yaml'), 0)}"
    return [
        *(dialect.code(sample, random.randrange(4)) for sample in samples),
        dialect.callout(random.choice(KINDS), f"About the {author.noun()}", author.paragraph()),
        dialect.callout(random.choice(KINDS), "", inside),
        dialect.folded(f"Why the {author.noun()}?", author.paragraph()),
        dialect.tabs(labelled),
        dialect.extra(author),
    ]


def _table(author: Author) -> str:
    rows = [
        f"| `{author.name()}` | {author.sentence()} | `a \\| b` | {author.random.randint(1, 99)} |"
        for _ in range(4)
    ]
    return "\n".join(["| Option | Meaning | Form | Default |", "|---|---|:--|--:|", *rows])


def fence(sample: Sample, info: str) -> str:
    """A fenced block whose fence is longer than any in the code."""
    ticks = "````" if "```" in sample.code else "```"
    return f"{ticks}{info}\n{sample.code}\n{ticks}"


def _mkdocs_code(sample: Sample, variant: int) -> str:
    options = ("", f' title="{sample.file}"', ' linenums="1"', ' linenums="4" hl_lines="2 3"')
    return fence(sample, f" {sample.language}{options[variant]}")


def _mkdocs_tabs(samples: Sequence[tuple[str, Sample]]) -> str:
    return "\n\n".join(
        f'=== "{label}"\n\n{indent(_mkdocs_code(sample, 0), "    ")}' for label, sample in samples
    )


def _mkdocs_callout(kind: str, title: str, text: str) -> str:
    name = f' "{title}"' if title else ""
    return f"!!! {kind}{name}\n\n{indent(text, '    ')}"


def _mkdocs_extra(author: Author) -> str:
    terms = (f"`{author.name()}`\n:   {author.sentence()}" for _ in range(3))
    return "\n\n".join([*terms, f"- [x] {author.sentence()}\n- [ ] {author.sentence()}"])


def _docusaurus_code(sample: Sample, variant: int) -> str:
    options = ("", f' title="{sample.file}"', " showLineNumbers", " showLineNumbers {2-3}")
    return fence(sample, f"{sample.language}{options[variant]}")


def _docusaurus_tabs(samples: Sequence[tuple[str, Sample]]) -> str:
    items = (
        f'<TabItem value="{label}" label="{label}">\n\n{_docusaurus_code(sample, 0)}\n\n</TabItem>'
        for label, sample in samples
    )
    return "<Tabs>\n" + "\n".join(items) + "\n</Tabs>"


def _docusaurus_callout(kind: str, title: str, text: str) -> str:
    name = f"[{title}]" if title else ""
    return f":::{kind}{name}\n\n{text}\n\n:::"


def _vitepress_code(sample: Sample, variant: int) -> str:
    options = ("", ":line-numbers", " {2-3}", ":line-numbers=4 {1}")
    return fence(sample, f"{sample.language}{options[variant]}")


def _vitepress_tabs(samples: Sequence[tuple[str, Sample]]) -> str:
    blocks = (fence(sample, f"{sample.language} [{label}]") for label, sample in samples)
    return "::: code-group\n\n" + "\n\n".join(blocks) + "\n\n:::"


def _vitepress_callout(kind: str, title: str, text: str) -> str:
    own = "info" if kind == "note" else kind
    return f"::: {own} {title}".rstrip() + f"\n\n{text}\n\n:::"


MKDOCS = Dialect(
    callout=_mkdocs_callout,
    tabs=_mkdocs_tabs,
    code=_mkdocs_code,
    folded=lambda title, text: f'??? question "{title}"\n\n{indent(text, "    ")}',
    extra=_mkdocs_extra,
)
DOCUSAURUS = Dialect(
    callout=_docusaurus_callout,
    tabs=_docusaurus_tabs,
    code=_docusaurus_code,
    folded=lambda title, text: f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>",
    extra=lambda author: f"Press <kbd>Ctrl</kbd>+<kbd>C</kbd>: {author.sentence()}",
    front="import Tabs from '@theme/Tabs';\nimport TabItem from '@theme/TabItem';\n\n",
)
VITEPRESS = Dialect(
    callout=_vitepress_callout,
    tabs=_vitepress_tabs,
    code=_vitepress_code,
    folded=lambda title, text: f"::: details {title}\n\n{text}\n\n:::",
    extra=lambda author: f"> [!IMPORTANT]\n> {author.sentence()}",
)
