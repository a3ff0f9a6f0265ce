"""What opens a private site: credentials from named environment variables, and whom TLS trusts.

Secrets stay here: they reach the site's own hosts as headers, and no message, row or `repr`.
"""

import base64
import re
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlsplit

from pydantic import SecretStr

from qindex_pipeline.crawl.urls import normalise
from qindex_pipeline.errors import UsageError
from qindex_pipeline.sites import Site

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 9110, 5.6.2
_NOT_IN_A_VALUE = re.compile(r"[\r\n\0]")
_OURS = frozenset({"host", "user-agent"})


@dataclass(frozen=True)
class Access:
    """The credentials of one site, and whom its session trusts.

    `hosts` are the netlocs that get the credentials; `needs_tls` says that the site is asked over
    https, so that they never travel in the clear. `tls` is what aiohttp calls `ssl`: True for
    the system's authorities, False for anyone, a context for the site's own authority too.
    """

    hosts: frozenset[str]
    needs_tls: bool
    tls: ssl.SSLContext | bool
    secrets: Mapping[str, SecretStr] = field(repr=False)

    @classmethod
    def of(cls, site: Site, environ: Mapping[str, str]) -> Self:
        """Read what the options of `site` name.

        Raises:
            UsageError: A variable is unset, empty or no header value; the CA file cannot be read.
        """
        start = normalise(site.public_url) or site.public_url
        scheme = urlsplit(start).scheme
        allowed = (normalise(f"{scheme}://{host}") for host in site.allowed_hosts)
        hosts = frozenset(urlsplit(url).netloc for url in (start, *allowed) if url)
        return cls(hosts, scheme == "https", _tls(site), _secrets(site, environ))

    def headers_for(self, url: str) -> dict[str, str]:
        """The headers that a request for `url` carries: none unless it goes to the site."""
        parts = urlsplit(url)
        if parts.netloc not in self.hosts or (self.needs_tls and parts.scheme != "https"):
            return {}
        return {name: value.get_secret_value() for name, value in self.secrets.items()}


def _secrets(site: Site, environ: Mapping[str, str]) -> dict[str, SecretStr]:
    found: dict[str, SecretStr] = {}
    for option, name, value in _named(site, environ):
        header = name.title()
        if not _TOKEN.fullmatch(name) or name.lower() in _OURS:
            raise UsageError(f"site {site.key!r}: {option}: {name!r} is no header that can be set")
        if header in found:
            raise UsageError(f"site {site.key!r}: {option}: header {header} is set twice")
        found[header] = SecretStr(value)
    return found


def _named(site: Site, environ: Mapping[str, str]) -> Iterable[tuple[str, str, str]]:
    """Option, header and value of everything that the site's options name."""
    for name, variable in site.headers_from_env.items():
        yield "headers_from_env", name, _value(site, "headers_from_env", variable, environ)
    if site.cookies_from_env is not None:
        option = "cookies_from_env"
        yield option, "Cookie", _value(site, option, site.cookies_from_env, environ)
    if site.basic_auth_from_env is not None:
        option = "basic_auth_from_env"
        value = _value(site, option, site.basic_auth_from_env, environ)
        if ":" not in value:
            raise UsageError(
                f"site {site.key!r}: {option}: {site.basic_auth_from_env} must be user:password"
            )
        yield option, "Authorization", f"Basic {base64.b64encode(value.encode()).decode()}"


def _value(site: Site, option: str, variable: str, environ: Mapping[str, str]) -> str:
    value = environ.get(variable, "")
    where = f"site {site.key!r}: {option}: variable {variable}"
    if not value.strip():
        raise UsageError(f"{where} is not set; export it, or take the option out")
    if _NOT_IN_A_VALUE.search(value):
        raise UsageError(f"{where} holds a line break, which no header may; take it out")
    return value


def _tls(site: Site) -> ssl.SSLContext | bool:
    """The system's authorities and the site's own beside them, in what aiohttp takes for it."""
    if site.ca_file is None:
        return site.verify_tls
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(cafile=site.ca_file)
    except OSError as error:  # an unreadable file, or (ssl.SSLError) one that is no PEM
        reason = "no PEM certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise UsageError(
            f"site {site.key!r}: ca_file {site.ca_file}: {reason}; name a PEM file that exists"
        ) from None
    return context if site.verify_tls else False
