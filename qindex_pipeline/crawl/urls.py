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
    """Whether a link is worth a request: no file download, no trap."""
    path = urlsplit(url).path
    segments = [segment for segment in path.split("/") if segment]
    if any(segments.count(segment) > _MAX_SEGMENT_REPEATS for segment in set(segments)):
        return False
    return not _NOT_A_PAGE.search(path)


@dataclass(frozen=True)
class Scope:
    """The part of the web that is one site: some hosts, below some paths.

    A host with its port is compared as a whole: neither another port nor a subdomain belongs to
    the site. No `prefixes` means every path; `/docs` holds `/docs/a` but not `/docs-old`.
    `include` and `exclude` are regular expressions that narrow what is asked, not what belongs.
    """

    hosts: frozenset[str]
    prefixes: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def has_host(self, url: str) -> bool:
        """Whether a normalised URL is on one of the site's hosts."""
        return urlsplit(url).netloc in self.hosts

    def contains(self, url: str) -> bool:
        """Whether a normalised URL belongs to the site."""
        path = urlsplit(url).path
        return self.has_host(url) and (
            not self.prefixes or any(_is_below(path, prefix) for prefix in self.prefixes)
        )

    def wants(self, url: str) -> bool:
        """Whether a normalised URL of the site is to be asked when a link leads to it."""
        return (
            self.contains(url)
            and looks_like_page(url)
            and (not self.include or any(re.search(regex, url) for regex in self.include))
            and not any(re.search(regex, url) for regex in self.exclude)
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
