"""URL identity and scope: which spelling a URL has here, and whether it belongs to a site.

Pure functions on strings. Two URLs are the same page for the frontier exactly when
`normalise` gives the same text; a trailing slash or an `index.html` is not merged by rule,
because only the server knows (its redirects, canonical links and equal content tell).
"""

import re
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit, urlunsplit

_MAX_LENGTH = 2000
_MAX_SEGMENT_REPEATS = 3
_DEFAULT_PORTS = {"http": 80, "https": 443}
_TEMPLATE_MARKS = ("{{", "}}", "${", "<%")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
# An escape, or a character that has to become one (RFC 3986, pchar and query).
_IN_HOST = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~-]")
_IN_PATH = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~/:@!$&'()*+,;=-]")
_IN_QUERY = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~/?:@!$&'()*+,;=-]")
_TRACKING = re.compile(r"(utm_.*|gclid|fbclid|ref|ref_src)(=|$)")

# Generated indexes, search pages, source listings and variants of a page, as the common
# documentation generators name them.
_EXCLUDED = re.compile(
    r"/(genindex(-\w+)?|py-modindex|search|404)(\.html?)?/?([?]|$)"
    r"|/(_modules|_sources|blog/tags)(/|$)"
    r"|[?&](print|lang|theme)="
)
_NOT_A_PAGE = re.compile(
    r"\.(png|jpe?g|gif|svg|webp|avif|ico|bmp|tiff?|pdf|epub|docx?|xlsx?|pptx?|zip|gz|tgz|bz2|xz|zst"
    r"|tar|7z|rar|jar|whl|exe|msi|dmg|pkg|deb|rpm|apk|iso|bin|mp[34]|webm|og[gv]|wav|flac|avi|mov"
    r"|woff2?|ttf|otf|eot|css|m?js|map|json|xml|rss|atom|wasm)$",
    re.IGNORECASE,
)


def normalise(url: str) -> str | None:
    """The one spelling of an absolute http(s) URL, or None when it is not one.

    Scheme and host in lower case, default port, credentials, fragment and tracking parameters
    dropped, dot segments resolved, percent-encoding unified, query sorted.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        return None
    netloc = _host(parts.hostname)
    if port is not None and port != _DEFAULT_PORTS[parts.scheme]:
        netloc = f"{netloc}:{port}"
    path = _without_dots(_requote(parts.path, _IN_PATH))
    return urlunsplit((parts.scheme, netloc, path, _query(parts.query), ""))


def resolve(base: str, href: str) -> str | None:
    """The normalised target of a link on `base`, or None when it leads to no web page.

    Hrefs that a template engine forgot to fill in (`{{ url }}`) and monsters are not links.
    """
    href = href.strip()
    if len(href) > _MAX_LENGTH or any(mark in href for mark in _TEMPLATE_MARKS):
        return None
    try:
        absolute = urljoin(base, href)
    except ValueError:
        return None
    url = normalise(absolute)
    return url if url is not None and len(url) <= _MAX_LENGTH else None


def looks_like_page(url: str) -> bool:
    """Whether a link is worth a request: no file download, no generated index, no trap."""
    path = urlsplit(url).path
    segments = [segment for segment in path.split("/") if segment]
    if any(segments.count(segment) > _MAX_SEGMENT_REPEATS for segment in set(segments)):
        return False
    return not _NOT_A_PAGE.search(path) and not _EXCLUDED.search(url)


@dataclass(frozen=True)
class Scope:
    """The part of the web that is one site: one host and port, below some paths.

    `netloc` is compared as a whole: neither another port nor a subdomain belongs to the site.
    No `prefixes` means the whole host; `/docs` holds `/docs/a` but not `/docs-old`.
    """

    netloc: str
    prefixes: tuple[str, ...] = ()

    @classmethod
    def of(cls, start: str, prefixes: tuple[str, ...] = ()) -> "Scope":
        """The scope of a site with this (normalised) start URL."""
        return cls(urlsplit(start).netloc, prefixes)

    def contains(self, url: str) -> bool:
        """Whether a normalised URL belongs to the site."""
        parts = urlsplit(url)
        return parts.netloc == self.netloc and (
            not self.prefixes or any(_is_below(parts.path, prefix) for prefix in self.prefixes)
        )


def _is_below(path: str, prefix: str) -> bool:
    root = "/" + prefix.strip("/")
    return root in {"/", path} or path.startswith(root + "/")


def _host(host: str) -> str:
    try:
        host = host.encode("ascii").decode() if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        host = _requote(host, _IN_HOST)
    return f"[{host}]" if ":" in host else host.lower()


def _query(query: str) -> str:
    pairs = [_requote(pair, _IN_QUERY) for pair in query.split("&") if pair]
    kept = [pair.partition("=") for pair in pairs if not _TRACKING.match(pair)]
    return "&".join("".join(pair) for pair in sorted(kept, key=lambda pair: (pair[0], pair[2])))


def _requote(text: str, token: re.Pattern[str]) -> str:
    return token.sub(_requoted, text)


def _requoted(match: re.Match[str]) -> str:
    token = match[0]
    if len(token) == 3:
        character = chr(int(token[1:], 16))
        return character if _UNRESERVED.fullmatch(character) else token.upper()
    return "".join(f"%{byte:02X}" for byte in token.encode("utf-8", "surrogatepass"))


def _without_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    joined = "/".join(kept)
    return joined if joined.startswith("/") else "/" + joined
