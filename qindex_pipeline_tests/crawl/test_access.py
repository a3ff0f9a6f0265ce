import asyncio
import base64
import ssl
from pathlib import Path

import pytest

from qindex_pipeline.crawl.address import Addresses
from qindex_pipeline.crawl.agent import USER_AGENT
from qindex_pipeline.crawl.fetch.access import Access
from qindex_pipeline.crawl.fetch.http import HttpFetcher, Response
from qindex_pipeline.crawl.outcomes import Outcome
from qindex_pipeline.errors import UsageError
from qindex_pipeline.sites import Site
from qindex_pipeline_tests.crawl.certificates import Authority, make_authority
from qindex_pipeline_tests.crawl.sockets import Asked, forget_proxies, moved, reply, talking

START = "https://docs.example.com/start"
ENVIRON = {"TOKEN": "s3cret", "LOGIN": "ann:pass:wörd", "COOKIES": "a=1; b=2"}
BASIC = "Basic " + base64.b64encode("ann:pass:wörd".encode()).decode()


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_proxies(monkeypatch)


def private_site(start: str = START, **options: object) -> Site:
    given = {
        "headers_from_env": {"X-Token": "TOKEN"},
        "basic_auth_from_env": "LOGIN",
        "cookies_from_env": "COOKIES",
    }
    return Site.model_validate({"key": "s", "start_url": start} | given | options)


async def fetched(site: Site, url: str) -> Response:
    async with HttpFetcher(site, Addresses()) as fetcher:
        return await fetcher.page(url, lambda _: None)


def test_credentials_become_headers_of_the_site() -> None:
    access = Access.of(private_site(), ENVIRON)
    assert access.headers_for("https://docs.example.com/any") == {
        "X-Token": "s3cret",
        "Cookie": "a=1; b=2",
        "Authorization": BASIC,
    }


@pytest.mark.parametrize(
    ("url", "gets"),
    [
        ("https://docs.example.com/", True),
        ("https://api.example.com:8443/x", True),
        ("https://www.example.com/", True),
        ("http://docs.example.com/", False),
        ("https://docs.example.com:8443/", False),
        ("https://api.example.com/", False),
        ("https://docs.example.com.evil.test/", False),
        ("https://evil.test/docs.example.com/", False),
    ],
)
def test_only_the_hosts_of_the_site_get_credentials(url: str, gets: bool) -> None:
    site = private_site(allowed_hosts=("api.example.com:8443", "WWW.example.com:443"))
    assert bool(Access.of(site, ENVIRON).headers_for(url)) is gets


def test_a_site_without_options_has_no_credentials() -> None:
    assert Access.of(Site(key="s", start_url=START), {}).headers_for(START) == {}


@pytest.mark.parametrize(
    ("options", "environ", "named"),
    [
        ({}, {"TOKEN": None}, "headers_from_env: variable TOKEN is not set"),
        ({}, {"TOKEN": " "}, "headers_from_env: variable TOKEN is not set"),
        ({}, {"LOGIN": None}, "basic_auth_from_env: variable LOGIN is not set"),
        ({}, {"COOKIES": ""}, "cookies_from_env: variable COOKIES is not set"),
        ({}, {"LOGIN": "no colon"}, "basic_auth_from_env: LOGIN must be user:password"),
        ({}, {"TOKEN": "a\r\nX-Evil: b"}, "headers_from_env: variable TOKEN holds a line break"),
        ({}, {"COOKIES": "a=1\n"}, "cookies_from_env: variable COOKIES holds a line break"),
        ({"headers_from_env": {"X Y": "TOKEN"}}, {}, "'X Y' is no header that can be set"),
        ({"headers_from_env": {"user-agent": "TOKEN"}}, {}, "'user-agent' is no header that can"),
        ({"headers_from_env": {"authorization": "TOKEN"}}, {}, "Authorization is set twice"),
        ({"ca_file": Path("/no/such.pem")}, {}, "ca_file /no/such.pem: No such file"),
    ],
)
def test_what_is_wrong_is_said_without_the_secret(
    options: dict[str, object], environ: dict[str, str | None], named: str
) -> None:
    variables = {name: value for name, value in (ENVIRON | environ).items() if value is not None}
    with pytest.raises(UsageError) as caught:
        Access.of(private_site(**options), variables)
    assert str(caught.value).startswith("site 's': ")
    assert named in str(caught.value)
    assert not any(secret in str(caught.value) for secret in ("s3cret", "no colon", "Evil"))


def test_a_ca_file_that_is_no_pem_is_named(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    for content in ("hello", ""):
        file.write_text(content)
        with pytest.raises(UsageError, match=f"ca_file {file}: no PEM certificate"):
            Access.of(Site(key="s", start_url=START, ca_file=file), {})


def test_no_secret_shows_in_a_repr() -> None:
    shown = repr(Access.of(private_site(), ENVIRON))
    assert "docs.example.com" in shown
    assert not any(secret in shown for secret in (*ENVIRON.values(), BASIC, "s3cret"))


def test_credentials_do_not_follow_a_redirect_to_another_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)

    async def main() -> tuple[list[Asked], list[Asked]]:
        async with talking({"/b": reply(b"b"), "/robots.txt": reply(b"")}, "127.0.0.2") as other:
            away = {
                "/a": moved(f"{other.base}/b"),
                "/robots.txt": moved(f"{other.base}/robots.txt"),
            }
            async with talking(away) as server:
                site = private_site(f"{server.base}/a")
                async with HttpFetcher(site, Addresses()) as fetcher:
                    await fetcher.page(f"{server.base}/a", lambda _: None)
                    await fetcher.robots(f"{server.base}/robots.txt")
            return server.asked, other.asked

    ours, others = asyncio.run(main())
    names = ("x-token", "cookie", "authorization")
    assert [[name in asked.headers for name in names] for asked in ours] == [[True] * 3] * 2
    assert [[name in asked.headers for name in names] for asked in others] == [[False] * 3] * 2
    assert ours[0].headers["authorization"] == BASIC


def test_passwords_of_a_netrc_file_are_not_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login ann password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))

    async def main() -> Asked:
        async with talking({"/": reply(b"x")}) as server:
            await fetched(Site(key="s", start_url=server.base), f"{server.base}/")
            return server.asked[0]

    assert "authorization" not in asyncio.run(main()).headers


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return make_authority(tmp_path_factory.mktemp("tls"))


@pytest.mark.parametrize(
    ("trusts", "verifies", "outcome"),
    [
        (False, True, Outcome.TLS_ERROR),
        (True, True, Outcome.OK),
        (False, False, Outcome.OK),
    ],
)
def test_a_certificate_needs_someone_who_vouches_for_it(
    authority: Authority, trusts: bool, verifies: bool, outcome: Outcome
) -> None:
    async def main() -> Response:
        async with talking({"/": reply(b"<p>inside")}, tls=authority.server) as server:
            site = Site(
                key="s",
                start_url=server.base,
                ca_file=authority.ca_file if trusts else None,
                verify_tls=verifies,
            )
            return await fetched(site, f"{server.base}/")

    response = asyncio.run(main())
    assert response.fetch.outcome is outcome
    assert response.fetch.requests == 1
    assert ("inside" in response.text) is (outcome is Outcome.OK)


def test_a_ca_file_does_not_replace_the_authorities_of_the_system(authority: Authority) -> None:
    access = Access.of(Site(key="s", start_url=START, ca_file=authority.ca_file), {})
    assert isinstance(access.tls, ssl.SSLContext)
    system = ssl.create_default_context().cert_store_stats()["x509_ca"]
    assert access.tls.cert_store_stats()["x509_ca"] == system + 1


@pytest.mark.parametrize("credentials", ["", "joe:hush@"])
def test_a_proxy_of_the_environment_is_asked_for_public_hosts(
    monkeypatch: pytest.MonkeyPatch, credentials: str
) -> None:
    async def main() -> tuple[Response, Asked]:
        target = "http://docs.example.test/page"
        async with talking({target: reply(b"<p>through")}) as proxy:
            monkeypatch.setenv("HTTP_PROXY", proxy.base.replace("//", f"//{credentials}"))
            response = await fetched(Site(key="s", start_url=target, min_interval=0), target)
            return response, proxy.asked[0]

    response, asked = asyncio.run(main())
    assert (response.fetch.outcome, response.text) == (Outcome.OK, "<p>through")
    expected = "Basic " + base64.b64encode(b"joe:hush").decode() if credentials else None
    assert asked.headers.get("proxy-authorization") == expected


def test_a_proxy_that_is_down_is_reported_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://joe:hush@127.0.0.1:9")
    target = "http://docs.example.test/"
    site = Site(key="s", start_url=target, min_interval=0, retries=0)
    response = asyncio.run(fetched(site, target))
    assert response.fetch.outcome is Outcome.CONNECT_ERROR
    assert "hush" not in (response.fetch.error or "hush")


@pytest.mark.parametrize("exception", ["127.0.0.1 is loopback", "NO_PROXY"])
def test_a_proxy_is_not_asked_for_hosts_that_need_none(
    monkeypatch: pytest.MonkeyPatch, exception: str
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    host = "127.0.0.1"
    if exception == "NO_PROXY":
        monkeypatch.setenv("NO_PROXY", "0.0.0.0")
        host = "0.0.0.0"  # an address of this machine that is not loopback

    async def main() -> Response:
        async with talking({"/": reply(b"<p>direct")}, host) as server:
            return await fetched(Site(key="s", start_url=server.base), f"{server.base}/")

    assert asyncio.run(main()).fetch.outcome is Outcome.OK


@pytest.mark.parametrize("proxy", ["socks5://joe:hush@127.0.0.1:9", "http://"])
def test_a_proxy_of_another_kind_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(UsageError, match="HTTPS_PROXY names no HTTP proxy") as caught:
        asyncio.run(fetched(Site(key="s", start_url=START), START))
    assert "hush" not in str(caught.value)


def test_a_proxy_of_an_https_site_sees_no_credentials(
    monkeypatch: pytest.MonkeyPatch, authority: Authority
) -> None:
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    heads: list[str] = []

    async def main() -> tuple[Response, Asked]:
        async with talking({"/start": reply(b"<p>inside")}, tls=authority.server) as server:

            async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                port = int(server.base.rpartition(":")[2])
                inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.gather(_piped(reader, inner_writer), _piped(inner_reader, writer))

            async with await asyncio.start_server(tunnel, "127.0.0.1", 0) as proxy:
                port = proxy.sockets[0].getsockname()[1]
                monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
                return await fetched(private_site(verify_tls=False), START), server.asked[0]

    response, asked = asyncio.run(main())
    assert response.text == "<p>inside"
    assert asked.headers["authorization"] == BASIC
    assert len(heads) == 1
    assert heads[0].startswith("CONNECT docs.example.com:443 ")
    names = {line.partition(":")[0].lower() for line in heads[0].split("\r\n")[1:] if line}
    assert names <= {"host", "user-agent", "accept", "accept-encoding"}
    assert USER_AGENT in heads[0]


async def _piped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while part := await reader.read(65_536):
        writer.write(part)
    writer.close()
