import pytest

from qindex_pipeline.crawl.extract.extraction import extract
from qindex_pipeline.crawl.extract.rendering import needs_javascript

PROSE = " ".join(f"word{n}" for n in range(40))
BUNDLE = '<script src="/static/app.js"></script>'
ANALYTICS = "<script>window.dataLayer = []; track('page');</script>"
STATE = '<script type="application/json" id="state">{"a": "b c d e f g h i j k l m n o p"}</script>'


def page(body: str, head: str = "") -> str:
    return f"<!doctype html><html><head><title>T</title>{head}</head><body>{body}</body></html>"


@pytest.mark.parametrize(
    "html",
    [
        pytest.param(page(f'<div id="root"></div>{BUNDLE}'), id="react"),
        pytest.param(page(f"<div id=app>Loading…</div>{BUNDLE}"), id="vue with a loading text"),
        pytest.param(page(f'<div id="__next"></div>{STATE}{BUNDLE}'), id="next with its state"),
        pytest.param(page(f"<div id=__nuxt></div>{BUNDLE}"), id="nuxt"),
        pytest.param(page(f"<app-root></app-root>{BUNDLE}"), id="angular"),
        pytest.param(page('<div id="app"></div><script>boot()</script>'), id="inline script"),
        pytest.param(
            page(f'<div id="app"></div><footer>{PROSE[:60]} a b c</footer>{BUNDLE}'),
            id="empty root beside a footer",
        ),
        pytest.param(page(f"<div class=x></div>{BUNDLE}"), id="docsify: an empty body"),
        pytest.param(page("<p>Please wait</p>", head=BUNDLE), id="bundle in the head"),
        pytest.param(
            page(
                "<noscript>You need to enable JavaScript to run this app.</noscript>"
                f"<div class=shell>Docs Guide API Blog About Search</div>{BUNDLE}"
            ),
            id="noscript asks to enable",
        ),
        pytest.param(
            page(f"<noscript>This site requires JavaScript.</noscript><p>a b c d e f</p>{BUNDLE}"),
            id="noscript requires",
        ),
        pytest.param(
            page(f"<noscript>JavaScript is disabled.</noscript><p>a b c d e f</p>{BUNDLE}"),
            id="noscript says disabled",
        ),
    ],
)
def test_a_shell_needs_javascript(html: str) -> None:
    assert needs_javascript(html, extract(html, "http://docs.test/"))


@pytest.mark.parametrize(
    "html",
    [
        pytest.param(page("<h1>Ports</h1><p>It listens on 80.</p>"), id="short page"),
        pytest.param(page(""), id="empty page without scripts"),
        pytest.param(
            page(f"<h1>Ports</h1><p>It listens on 80.</p>{BUNDLE}{ANALYTICS}"),
            id="short page with scripts",
        ),
        pytest.param(page(f"<main><h1>Ports</h1></main>{STATE}"), id="data is no program"),
        pytest.param(page(f"<p>One</p>{ANALYTICS}"), id="only an inline script"),
        pytest.param(
            page(f'<div id="root"><main><h1>T</h1><p>{PROSE}</p></main></div>{BUNDLE}'),
            id="rendered react",
        ),
        pytest.param(
            page(
                f'<div id="__docusaurus"><nav>a b</nav><main><article><h1>T</h1><p>{PROSE}</p>'
                f"</article></main></div>{BUNDLE}"
            ),
            id="docusaurus",
        ),
        pytest.param(
            page(f'<div id="app"><div class=VPContent><main><h1>T</h1>{PROSE}</main></div></div>')
            + BUNDLE,
            id="vitepress",
        ),
        pytest.param(
            page(f"<main><article class=md-content><h1>T</h1><p>{PROSE}</p></article></main>")
            + BUNDLE,
            id="mkdocs",
        ),
        pytest.param(
            page(f"<noscript>Enable JavaScript to search.</noscript><main>{PROSE}</main>{BUNDLE}"),
            id="noscript beside a full page",
        ),
        pytest.param(
            page(
                '<noscript><iframe src="https://tags.test/ns.html"></iframe></noscript>'
                f"<h1>Ports</h1><p>It listens on 80.</p>{BUNDLE}"
            ),
            id="noscript of a tag manager",
        ),
        pytest.param(
            page(f'<div id="app"><h1>Ports</h1><p>It listens on 80.</p></div>{BUNDLE}'),
            id="short rendered app",
        ),
    ],
)
def test_a_page_with_its_text_does_not(html: str) -> None:
    assert not needs_javascript(html, extract(html, "http://docs.test/"))
