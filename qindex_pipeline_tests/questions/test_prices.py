"""What tokens cost, and how the settings name a price."""

import re

import pytest

from qindex_pipeline.errors import UsageError
from qindex_pipeline.questions.asking.prices import LISTED, PRICES_OF, Prices
from qindex_pipeline.questions.generators.generator import Usage
from qindex_pipeline_tests.conftest import MakeSettings

HAIKU = "anthropic:claude-haiku-4-5-20251001"
MILLION = 1_000_000


@pytest.mark.parametrize(
    ("spec", "usage", "dollars"),
    [
        (HAIKU, Usage(MILLION), 1.0),
        (HAIKU, Usage(0, MILLION), 5.0),
        (HAIKU, Usage(MILLION, MILLION), 6.0),
        (HAIKU, Usage(MILLION, 0, MILLION), 0.1),
        (HAIKU, Usage(2 * MILLION, 0, MILLION), 1.1),
        ("openai:gpt-4o-mini", Usage(MILLION, 0, MILLION), 0.075),
        ("openai:gpt-4.1", Usage(MILLION, 0, MILLION), 0.5),
        ("openai:text-embedding-3-small", Usage(MILLION), 0.02),
        ("openai:text-embedding-3-large", Usage(MILLION), 0.13),
        ("rules", Usage(MILLION, MILLION), 0.0),
        ("human", Usage(MILLION, MILLION), 0.0),
        ("minilm", Usage(MILLION), 0.0),
        ("ollama:qwen2.5:14b", Usage(MILLION, MILLION), 0.0),
        ("fastembed:BAAI/bge-small-en", Usage(MILLION), 0.0),
        ("openai:my-model", Usage(MILLION), None),
        ("anthropic:claude-haiku-9", Usage(1), None),
        ("openai:my-model", Usage(), 0.0),
    ],
)
@pytest.mark.parametrize("batch", [False, True])
def test_tokens_cost_the_list_price_and_half_of_it_in_a_batch(
    spec: str, usage: Usage, dollars: float | None, batch: bool
):
    expected = None if dollars is None else pytest.approx(dollars / 2 if batch else dollars)
    assert Prices({}).cost(spec, usage, batch=batch) == expected


@pytest.mark.parametrize(
    ("variable", "spec", "dollars"),
    [
        ("openai:my-model=2/8", "openai:my-model", 10.0),
        (f"{HAIKU}=0.5/2", HAIKU, 2.5),
        ("openai:a=1/1, openai:b=3/0 ,", "openai:b", 3.0),
        ("ollama:qwen2.5:14b=0.1/0.1", "ollama:qwen2.5:14b", 0.2),
        ("openai:org/model=v2=1e0/0", "openai:org/model=v2", 1.0),
        ("openai:a=1/1", HAIKU, 6.0),
        ("", HAIKU, 6.0),
    ],
)
def test_a_price_of_the_settings_comes_before_the_listed_one(
    settings: MakeSettings, variable: str, spec: str, dollars: float
):
    prices = Prices.from_settings(settings(QINDEX_PRICES=variable))
    assert prices.cost(spec, Usage(MILLION, MILLION)) == pytest.approx(dollars)


def test_cached_tokens_of_a_named_price_cost_what_its_provider_asks(settings: MakeSettings):
    variable = "anthropic:a=1/5,openai:b=1/5,vllm:c=1/5"
    prices = Prices.from_settings(settings(QINDEX_PRICES=variable))
    cached = Usage(MILLION, 0, MILLION)
    found = [prices.cost(spec, cached) for spec in ("anthropic:a", "openai:b", "vllm:c")]
    assert found == pytest.approx([0.1, 0.5, 1.0])


@pytest.mark.parametrize(
    "part",
    ["openai:a", "openai:a=1", "a=1/2", "openai:=1/2", ":a=1/2", "openai:a=x/2", "openai:a=1/",
     "openai:a=-1/2", "openai:a=nan/2", "openai:a=1/inf", "=1/2", "openai:a=1/2/3"],
)  # fmt: skip
def test_a_part_that_is_no_price_is_named(settings: MakeSettings, part: str):
    given = settings(QINDEX_PRICES=f"openai:good=1/2,{part}")
    with pytest.raises(UsageError, match=re.escape(f"QINDEX_PRICES: {part!r} is no price")):
        Prices.from_settings(given)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (HAIKU, f"list price of {PRICES_OF}"),
        ("openai:named", "QINDEX_PRICES"),
        ("ollama:x", "runs on your own machine"),
        ("openai:x", "price unknown: add openai:x=in/out to QINDEX_PRICES"),
    ],
)
def test_where_a_price_comes_from_is_said(settings: MakeSettings, spec: str, expected: str):
    assert Prices.from_settings(settings(QINDEX_PRICES="openai:named=1/2")).source(spec) == expected


def test_no_listed_price_is_free_and_no_cached_token_dearer_than_a_fresh_one():
    assert all(0 < price.cached <= price.prompt for price in LISTED.values())
