"""HTTP proxies as the environment names them: HTTP_PROXY, HTTPS_PROXY and NO_PROXY.

Read here rather than by aiohttp, whose `trust_env` also sends passwords from ~/.netrc and
asks proxies for loopback hosts, the server of a folder among them.
"""

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from qindex_pipeline.crawl.fetch.private import is_loopback
from qindex_pipeline.errors import UsageError


def proxy_for(url: str) -> str | None:
    """The URL of the proxy, credentials included, through which to ask for `url`."""
    parts = urlsplit(url)
    if is_loopback(parts.hostname or "") or proxy_bypass(parts.netloc):
        return None
    proxy = getproxies().get(parts.scheme)
    return _with_scheme(proxy) if proxy else None


def proxy_hosts() -> frozenset[str]:
    """The host names of the proxies that the environment names.

    Raises UsageError when one of them is no HTTP proxy.
    """
    proxies, hosts = getproxies(), set[str]()
    for scheme in ("http", "https"):
        if proxies.get(scheme):
            parts = urlsplit(_with_scheme(proxies[scheme]))
            if parts.scheme not in {"http", "https"} or not parts.hostname:
                name = f"{scheme.upper()}_PROXY"
                raise UsageError(f"{name} names no HTTP proxy: give http://host:port, or unset it")
            hosts.add(parts.hostname)
    return frozenset(hosts)


def _with_scheme(proxy: str) -> str:
    return proxy if "://" in proxy else f"http://{proxy}"
