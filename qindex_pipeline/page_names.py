"""When a page's address and what a person wrote for it are the same page.

A label is written by a person, as a path below the host's root or as a full URL; a page's URL
comes from the crawl. Both are brought to one spelling before they are compared.
"""

from urllib.parse import unquote, urlsplit

_INDEX_PAGES = ("index.html", "index.htm")


def page_name(page: str) -> str:
    """One spelling of a page: `host/path` of a full URL, `/path` of a path.

    The scheme, the fragment, percent-encoding, a slash at the end and `index.html` make no
    other page; a query does.
    """
    is_url = page.casefold().startswith(("http://", "https://"))
    parts = urlsplit(page if is_url else f"//host/{page.lstrip('/')}")
    path = unquote(parts.path).strip("/")
    folder, _, last = path.rpartition("/")
    if last in _INDEX_PAGES:
        path = folder
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.netloc.casefold() if is_url else ''}/{path}{query}"


def names_of(url: str) -> tuple[str, str]:
    """Both names by which a label can mean the page at `url`: with its host, and without."""
    name = page_name(url)
    return name, name[name.index("/") :]
