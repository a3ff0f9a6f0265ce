"""The endpoints that the documentation shows do what it says of them."""

import html
import importlib.util
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from qindex_pipeline_tests.test_query import HOW_WICK, WICK, Site, site

__all__ = ["site"]

PAGE = (Path(__file__).parent.parent / "docs" / "answering.html").read_text(encoding="utf-8")
FRAMEWORKS = ("starlette", "fastapi")


def example(name: str) -> str:
    found = re.search(rf'<pre id="{name}"><code[^>]*>(.*?)</code>', PAGE, re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


@pytest.fixture(params=FRAMEWORKS)
def client(request: pytest.FixtureRequest, site: Site) -> Iterator[TestClient]:
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    names: dict[str, Any] = {}
    exec(compile(example(request.param), request.param, "exec"), names)
    with closing(names["index"]), TestClient(names["app"]) as client:
        yield client


def test_the_endpoint_gives_the_fields_of_the_json_output(client: TestClient) -> None:
    reply = client.get("/ask", params={"question": HOW_WICK, "site": "docs"})
    assert reply.status_code == 200
    assert reply.json()["answer"] == f"{WICK} [1]"
    assert reply.json()["citations"][0]["url"].startswith("http://docs.example.com/guide#")
    assert "lang" not in reply.json()["results"][0]


@pytest.mark.parametrize("params", [{"question": " "}, {"question": HOW_WICK, "site": "other"}])
def test_a_wrong_call_is_status_400(client: TestClient, params: dict[str, str]) -> None:
    assert client.get("/ask", params=params).status_code == 400


def test_the_streaming_endpoint_gives_the_text(client: TestClient) -> None:
    with client.stream("GET", "/stream", params={"question": HOW_WICK}) as reply:
        assert "".join(reply.iter_text()) == f"{WICK} [1]"
