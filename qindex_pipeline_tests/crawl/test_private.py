import asyncio
import socket
from collections.abc import Mapping

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from qindex_pipeline.crawl.fetch.private import (
    GuardedResolver,
    PrivateAddressError,
    is_loopback,
    is_private,
)

START = "https://docs.example.test/start"


class Names(AbstractResolver):
    """Resolves the names it was given; counts the look-ups."""

    def __init__(self, names: Mapping[str, tuple[str, ...]]) -> None:
        self.names = dict(names)
        self.lookups: list[str] = []
        self.is_closed = False

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002  the base's parameter
    ) -> list[ResolveResult]:
        self.lookups.append(host)
        if host not in self.names:
            raise OSError(f"{host} does not resolve")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self.names[host]
        ]

    async def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize(
    "address",
    """127.0.0.1 127.255.255.254 0.0.0.0 10.1.2.3 172.16.0.1 172.31.255.255 192.168.0.1 169.254.1.1
    169.254.169.254 100.64.0.1 192.0.2.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 ::1 ::
    fe80::1 fe80::1%eth0 fc00::1 fd12::1 fec0::1 ff02::1 2001:db8::1 ::ffff:127.0.0.1
    ::ffff:10.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b::10.0.0.1 2002:7f00:1::""".split(),
)
def test_addresses_that_the_internet_does_not_route_are_private(address: str) -> None:
    assert is_private(address)


@pytest.mark.parametrize(
    "address",
    """1.1.1.1 8.8.8.8 172.32.0.1 100.128.0.1 2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::8.8.8.8
    2002:808:808:: docs.example.test localhost 127.1""".split(),
)
def test_public_addresses_and_names_are_not_private(address: str) -> None:
    assert not is_private(address)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("docs.localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("10.0.0.1", False),
        ("notlocalhost", False),
        ("", False),
    ],
)
def test_loopback_hosts_are_known_by_name_and_by_address(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


PUBLIC, PRIVATE = ("1.1.1.1",), ("10.0.0.7",)


@pytest.mark.parametrize(
    ("names", "start", "host", "expected"),
    [
        ({"docs.example.test": PUBLIC, "in.test": PRIVATE}, START, "in.test", None),
        ({"docs.example.test": PUBLIC, "x.test": ("8.8.8.8",)}, START, "x.test", ["8.8.8.8"]),
        ({"docs.example.test": PUBLIC, "x.test": PRIVATE + PUBLIC}, START, "x.test", ["1.1.1.1"]),
        ({"docs.example.test": PRIVATE, "in.test": PRIVATE}, START, "in.test", ["10.0.0.7"]),
        ({"docs.example.test": PUBLIC + PRIVATE, "in.test": PRIVATE}, START, "in.test", [*PRIVATE]),
        ({"in.test": PRIVATE}, START, "in.test", None),
        ({"in.test": PRIVATE}, "http://192.168.1.1/", "in.test", ["10.0.0.7"]),
        ({"in.test": PRIVATE}, "http://[::1]:80/", "in.test", ["10.0.0.7"]),
        ({"in.test": PRIVATE}, "http://1.1.1.1/", "in.test", None),
        ({"proxy.test": PRIVATE}, START, "proxy.test", ["10.0.0.7"]),
    ],
)
def test_private_addresses_are_for_sites_that_have_one(
    names: Mapping[str, tuple[str, ...]], start: str, host: str, expected: list[str] | None
) -> None:
    async def main() -> list[str]:
        guard = GuardedResolver(Names(names), start, frozenset({"proxy.test"}))
        await guard.decide()
        return [found["host"] for found in await guard.resolve(host)]

    if expected is None:
        with pytest.raises(PrivateAddressError, match=host):
            asyncio.run(main())
    else:
        assert asyncio.run(main()) == expected


def test_a_site_whose_name_turns_private_later_is_refused() -> None:
    async def main() -> None:
        names = Names({"docs.example.test": PUBLIC})
        guard = GuardedResolver(names, START)
        await guard.decide()
        await guard.resolve("docs.example.test")
        names.names["docs.example.test"] = ("127.0.0.1",)
        await guard.resolve("docs.example.test")

    with pytest.raises(PrivateAddressError):
        asyncio.run(main())


def test_a_private_site_whose_name_fails_to_resolve_at_first_is_asked_later() -> None:
    async def main() -> list[ResolveResult]:
        names = Names({})
        guard = GuardedResolver(names, START)
        await guard.decide()
        names.names["docs.example.test"] = PRIVATE
        return await guard.resolve("docs.example.test")

    assert asyncio.run(main())[0]["host"] == "10.0.0.7"


@pytest.mark.parametrize(
    ("start", "url", "expected"),
    [
        ("http://1.1.1.1/", "http://10.0.0.1/x", False),
        ("http://1.1.1.1/", "http://[::ffff:10.0.0.1]:8080/x", False),
        ("http://1.1.1.1/", "http://8.8.8.8/", True),
        ("http://1.1.1.1/", "http://in.test/", True),
        ("http://10.0.0.1/", "http://127.0.0.1/", True),
    ],
)
def test_ip_addresses_are_judged_without_a_look_up(start: str, url: str, expected: bool) -> None:
    async def main() -> bool:
        names = Names({})
        guard = GuardedResolver(names, start)
        await guard.decide()
        allowed = guard.allows(url)
        await guard.close()
        assert names.is_closed
        assert names.lookups == []
        return allowed

    assert asyncio.run(main()) is expected
