"""Addresses that only a private network has, and the resolver that keeps a crawl away from them.

A docs site on the internet must not lead the crawler to services behind the firewall that it
runs behind: not by a redirect, and not by a name that resolves to one (DNS rebinding).
"""

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

_RESOLVE_SECONDS = 10.0
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an IPv4 address


class PrivateAddressError(aiohttp.ClientError):
    """A name resolves to private addresses only, and the crawl may not go there."""


def is_private(address: str) -> bool:
    """Whether an IP address is one that the internet does not route.

    IPv4 addresses inside IPv6 ones (mapped, NAT64, 6to4) are judged themselves. Text that is no
    IP address is not private.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        if found.is_site_local:  # deprecated, and not counted as private by ipaddress
            return True
        found = _embedded(found) or found
    return not found.is_global or found.is_multicast or found.is_reserved


def is_loopback(host: str) -> bool:
    """Whether a host name or IP address means this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _embedded(address: IPv6Address) -> IPv4Address | None:
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


class GuardedResolver(AbstractResolver):
    """Resolves names, and refuses private addresses unless the site itself has one.

    The site's own host is looked up once by `decide`; when that fails, its first answer later
    decides. aiohttp does not ask a resolver for IP addresses: `allows` judges those.
    """

    def __init__(
        self, inner: AbstractResolver, start_url: str, proxies: frozenset[str] = frozenset()
    ) -> None:
        """Guard the names that `inner` resolves; hosts of `proxies` may have any address."""
        self._inner = inner
        self._proxies = proxies
        self._start = urlsplit(start_url).hostname or ""
        self._may_be_private: bool | None = None
        if self._is_address(self._start):
            self._may_be_private = is_private(self._start)

    async def decide(self) -> None:
        """Find out whether the site's own host has a private address."""
        if self._may_be_private is not None:
            return
        try:
            looked_up = self._inner.resolve(self._start, 0, socket.AF_UNSPEC)
            self._learn(self._start, await asyncio.wait_for(looked_up, _RESOLVE_SECONDS))
        except (OSError, TimeoutError, ValueError):  # the request to it will say so
            return

    def allows(self, url: str) -> bool:
        """Whether the host of `url` is no private IP address, or one that may be asked."""
        return bool(self._may_be_private) or not is_private(urlsplit(url).hostname or "")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of `host` that may be asked. Raises PrivateAddressError when none may."""
        found = await self._inner.resolve(host, port, family)
        self._learn(host, found)
        if self._may_be_private or host in self._proxies:
            return found
        public = [address for address in found if not is_private(address["host"])]
        if found and not public:
            raise PrivateAddressError(f"{host} has the private address {found[0]['host']}")
        return public

    async def close(self) -> None:
        """Close the inner resolver."""
        await self._inner.close()

    def _learn(self, host: str, found: list[ResolveResult]) -> None:
        if self._may_be_private is None and host == self._start:
            self._may_be_private = any(is_private(address["host"]) for address in found)

    @staticmethod
    def _is_address(host: str) -> bool:
        try:
            ip_address(host)
        except ValueError:
            return False
        return True
