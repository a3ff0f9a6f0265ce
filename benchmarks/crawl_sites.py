"""The sites of the crawl benchmark, and for each what a reader would call a page's content.

The selectors are written by hand against each site's HTML and share nothing with the
product's own rules. Debian packages keep their documentation in the folders named here; the
sites of generators come from `crawl_build`.
"""

from dataclasses import dataclass
from pathlib import Path

DOC = Path("/usr/share/doc")
_SPHINX_NOISE = ".headerlink, .viewcode-link, .viewcode-back"
_SPHINX_LISTS = ".contents.local, nav.contents, div.topic.contents"


@dataclass(frozen=True)
class DocsSite:
    """A site and the truth about its pages.

    Attributes:
        key: Its name here and its site key.
        source: The Debian package or the generator that it comes from.
        folder: The folder that is served as the root of a host.
        containers: Selectors of the content; of the first that matches, all matches count.
        noise: What in the containers is navigation or a control, no content.
        optional: Lists of links to a page's own sections and chapters. A crawler may store
            them or not: they enter neither recall nor, where stored, the errors of precision.
        start: Path of the first page.
        prefix: Path below which the site lies; empty for the whole host.
    """

    key: str
    source: str
    folder: Path
    containers: tuple[str, ...]
    noise: str
    optional: str = ""
    start: str = ""
    prefix: str = ""


DEBIAN = (
    DocsSite(
        "postgresql",
        "postgresql-doc-15",
        DOC / "postgresql-doc-15/html",
        ("body",),
        ".navheader, .navfooter",
        ".toc",
    ),
    DocsSite(
        "python",
        "python3-doc",
        DOC / "python3.11/html",
        ("div.body[role=main]",),
        _SPHINX_NOISE,
        _SPHINX_LISTS,
    ),
    DocsSite(
        "sqlite",
        "sqlite3-doc",
        DOC / "sqlite3",
        ("body",),
        "body > .nosearch:first-child",
        ".fancy_toc",
    ),
    DocsSite(
        "git",
        "git-doc",
        DOC / "git-doc",
        ("#header, #content, #footnotes", "body"),  # the user manual is DocBook
        ".navheader, .navfooter",
        "#toc, .toc",
    ),
    DocsSite(
        "apache",
        "apache2-doc",
        DOC / "apache2-doc/manual",
        ("#page-content", "body"),
        ".toplang, .top, .permalink, form, #page-header, .up, #path, .bottomlang, #footer",
        "#quickview",
        start="en/index.html",
        prefix="/en",
    ),
    DocsSite(
        "django",
        "python-django-doc",
        DOC / "python-django-doc/html",
        ("#yui-main .yui-b",),
        _SPHINX_NOISE,
        _SPHINX_LISTS,
    ),
    DocsSite(
        "flask",
        "python-flask-doc",
        DOC / "python-flask-doc/html",
        ("div.body[role=main]",),
        _SPHINX_NOISE,
        _SPHINX_LISTS,
    ),
    DocsSite(
        "cmake",
        "cmake-doc",
        DOC / "cmake-data/html",
        ("div.body[role=main]",),
        _SPHINX_NOISE,
        _SPHINX_LISTS,
    ),
)

GENERATED = (
    DocsSite(
        "mkdocs",
        "mkdocs-material",
        Path(),
        ("article.md-content__inner",),
        ".headerlink, .md-content__button, .md-source-file, .md-tags, .md-clipboard, .md-feedback, "
        ".footnote-backref",
    ),
    DocsSite(
        "docusaurus",
        "@docusaurus/core",
        Path(),
        (".theme-doc-markdown", "article, header.hero, main"),
        ".hash-link, .theme-edit-this-page, .pagination-nav, .breadcrumbs, .theme-doc-breadcrumbs",
    ),
    DocsSite(
        "vitepress",
        "vitepress",
        Path(),
        (".VPHome", "main .vp-doc"),
        ".header-anchor, .VPDocFooter",
    ),
)
