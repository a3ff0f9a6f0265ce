"""The made-up documentation as projects on disk that the generators can build.

Settings are what their users have: line numbers, copy buttons, permalinks, edit links, footers.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from crawl_dialects import DOCUSAURUS, MKDOCS, PAGES_A_SECTION, SECTIONS, VITEPRESS, pages

_DIAGRAM = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40">'
    '<rect width="80" height="40" fill="teal"/></svg>'
)
_MKDOCS = """\
site_name: Made Up
site_url: http://docs.example.com/
repo_url: https://git.example.com/made/up
edit_uri: edit/main/docs/
theme:
  name: material
  font: false
  features: [navigation.tabs, navigation.sections, navigation.indexes, navigation.footer,
             content.code.copy, content.code.annotate, content.tabs.link, content.action.edit]
markdown_extensions:
  - admonition
  - attr_list
  - def_list
  - footnotes
  - md_in_html
  - tables
  - pymdownx.details
  - pymdownx.inlinehilite
  - pymdownx.superfences
  - pymdownx.highlight: {anchor_linenums: true, line_spans: __span, pygments_lang_class: true}
  - pymdownx.tabbed: {alternate_style: true}
  - pymdownx.tasklist: {custom_checkbox: true}
  - toc: {permalink: true}
"""
_MKDOCS_HOME = """\
# Made Up

Everything about the made-up product, in ten parts.[^1]

<div class="grid cards" markdown>

- __Start here__

    ---

    Install it and open a first [session](part-0/index.md).

- __Go on__

    ---

    Read about [limits](part-1/index.md) and other things.

</div>

[^1]: None of it exists.
"""
_DOCUSAURUS = """\
module.exports = {
  title: 'Made Up',
  tagline: 'Everything about the made-up product',
  url: 'http://docs.example.com',
  baseUrl: '/',
  onBrokenLinks: 'warn',
  presets: [['classic', {
    docs: {sidebarPath: require.resolve('./sidebars.js'),
           editUrl: 'https://git.example.com/made/up/'},
    blog: false,
  }]],
  themeConfig: {
    navbar: {title: 'Made Up', items: [
      {type: 'docSidebar', sidebarId: 'docs', label: 'Docs', position: 'left'}]},
    footer: {style: 'dark', copyright: 'Nobody'},
    prism: {additionalLanguages: ['bash', 'diff', 'json']},
  },
};
"""
_DOCUSAURUS_HOME = """\
import Link from '@docusaurus/Link';
import Layout from '@theme/Layout';

export default function Home() {
  return (
    <Layout title="Home" description="A made-up product">
      <header className="hero hero--primary">
        <div className="container">
          <h1 className="hero__title">Made Up</h1>
          <p className="hero__subtitle">Everything about the made-up product, in ten parts.</p>
          <Link className="button button--secondary" to="/docs/part-0/">Start here</Link>
        </div>
      </header>
      <main>
        <section className="container row">
          <div className="col"><h3>Easy to install</h3><p>One command opens a session.</p></div>
          <div className="col"><h3>Limits where you want them</h3><p>Set each of them.</p></div>
          <div className="col"><h3>No surprises</h3><p>What is written is what happens.</p></div>
        </section>
      </main>
    </Layout>
  );
}
"""
_VITEPRESS = """\
export default {
  title: 'Made Up',
  cleanUrls: true,
  ignoreDeadLinks: true,
  markdown: {lineNumbers: true},
  themeConfig: {
    nav: [{text: 'Guide', link: '/part-0/'}],
    outline: [2, 3],
    editLink: {pattern: 'https://git.example.com/made/up/:path'},
    footer: {message: 'Nobody', copyright: 'No rights'},
    sidebar: %s,
  },
}
"""
_VITEPRESS_HOME = """\
---
layout: home
hero:
  name: Made Up
  text: Everything about the made-up product
  tagline: In ten parts
  actions:
    - {theme: brand, text: Start here, link: /part-0/}
features:
  - {title: Easy to install, details: One command opens a session.}
  - {title: Limits where you want them, details: Set each of them.}
  - {title: No surprises, details: What is written is what happens.}
---

## What it is

A product that nobody sells, described at length so that something can be read.
"""


def write_mkdocs(project: Path) -> None:
    """A project of MkDocs Material; its pages lie in `docs`."""
    _write(project / "docs", pages(MKDOCS, "../img/"), ".md")
    _write(project, {"mkdocs.yml": _MKDOCS, "docs/index.md": _MKDOCS_HOME})
    _write(project, {"docs/img/diagram.svg": _DIAGRAM})


def write_docusaurus(project: Path) -> None:
    """A project of Docusaurus: docs, a generated index a section, a landing page."""
    _write(project / "docs", pages(DOCUSAURUS, "/img/"), ".md")
    # Half of the sections have the index that Docusaurus generates, half one of their own.
    links = [
        {"type": "doc", "id": f"part-{part}/index"} if part % 2 else {"type": "generated-index"}
        for part in range(SECTIONS)
    ]
    sidebar = [
        {
            "type": "category",
            "label": f"Part {part}",
            "link": link,
            "items": [f"part-{part}/page-{n}" for n in range(1, PAGES_A_SECTION)],
        }
        for part, link in enumerate(links)
    ]
    sidebars = {"docs": sidebar}
    _write(
        project,
        {
            "docusaurus.config.js": _DOCUSAURUS,
            "sidebars.js": f"module.exports = {json.dumps(sidebars)};",
            "src/pages/index.js": _DOCUSAURUS_HOME,
            "static/img/diagram.svg": _DIAGRAM,
        },
    )


def write_vitepress(project: Path) -> None:
    """A project of VitePress; its settings lie in `.vitepress`."""
    _write(project, pages(VITEPRESS, "/"), ".md")
    sidebar = [
        {
            "text": f"Part {part}",
            "link": f"/part-{part}/",
            "items": [
                {"text": f"Page {n}", "link": f"/part-{part}/page-{n}"}
                for n in range(1, PAGES_A_SECTION)
            ],
        }
        for part in range(SECTIONS)
    ]
    _write(
        project,
        {
            "index.md": _VITEPRESS_HOME,
            "public/diagram.svg": _DIAGRAM,
            ".vitepress/config.mjs": _VITEPRESS % json.dumps(sidebar),
        },
    )


def _write(folder: Path, files: Mapping[str, str], suffix: str = "") -> None:
    for name, text in files.items():
        file = folder / (name + suffix)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
