"""What `qindex plan` says of calls, tokens and money, held against what a run then does."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.embedding.stage import embed_site
from qindex_pipeline.errors import UsageError
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.planning.embeddings import plan_embeddings
from qindex_pipeline.planning.plan import SitePlan
from qindex_pipeline.planning.questions import CHUNKS_A_PAGE, QuestionPlan, plan_questions
from qindex_pipeline.planning.report import plan_rows
from qindex_pipeline.questions.proposing import Proposed, propose_questions
from qindex_pipeline.tables import CANDIDATE_QUESTIONS, CHUNKS, GROUNDED_QUESTIONS
from qindex_pipeline_tests.conftest import MakeSettings, candidate_row, chunk_row, question_row
from qindex_pipeline_tests.fakes.anthropic_server import AnthropicServer

HAIKU = "anthropic:claude-haiku-4-5-20251001"
TEXTS = [
    "The lantern burns paraffin oil, which the keeper refills every morning before sunrise.",
    "Rotate the mirror assembly monthly, because bearings wear unevenly under constant load.",
    "Emergency batteries supply the beacon during outages for eleven hours at least.",
]


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    with AnthropicServer(models=("claude-haiku-4-5-20251001", "claude-other")) as running:
        yield running


@pytest.fixture
def pipeline(settings: MakeSettings, server: AnthropicServer, monkeypatch: pytest.MonkeyPatch):
    def make(**variables: object) -> Pipeline:
        given = {
            "QINDEX_PROFILE": "offline",
            "QINDEX_GENERATOR": HAIKU,
            "QINDEX_ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "sk-test",
        }
        return Pipeline(settings(**(given | variables)), {})

    return make


def chunks_of(*texts: str) -> list[dict[str, Any]]:
    return [chunk_row(text, heading_path=[str(n)]) for n, text in enumerate(texts)]


def planned(tools: Pipeline, chunks: list[dict[str, Any]], further=(0, 0)) -> QuestionPlan:
    return plan_questions(tools, "docs", chunks, further)


def run(tools: Pipeline, chunks: list[dict[str, Any]]) -> Proposed:
    done = propose_questions(chunks, tools.generator, tools.ledger, now=lambda: datetime.now(UTC))
    tools.ledger.compact()
    tools.store.write(CHUNKS, "docs", chunks)
    tools.store.write(CANDIDATE_QUESTIONS, "docs", done.rows)
    return done


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_run_makes_the_calls_that_the_plan_says_and_the_plan_makes_none(
    pipeline, server: AnthropicServer, tmp_path: Path
):
    chunks = chunks_of(*TEXTS)
    chunks.append(chunk_row(TEXTS[0], heading_path=["0"], chunk_id="c" * 32))  # like the first
    chunks.append(chunk_row(TEXTS[1], chunk_id="d" * 32, duplicate_of=chunks[1]["chunk_id"]))
    links = "\n".join(f"- [Page {n}](/{n}.html)" for n in range(9))
    chunks.append(chunk_row(links, heading_path=["links"]))
    plan = planned(pipeline(), chunks)
    assert server.requests == [] and files(tmp_path) == {}
    assert (plan.chunks, plan.inputs, plan.answered, plan.anew) == (4, 3, 0, None)
    assert plan.stored == plan.least == plan.most
    assert plan.stored.calls == 3
    done = run(pipeline(), [chunk for chunk in chunks if chunk["duplicate_of"] is None])
    assert done.calls == 3 == len(server.requests)
    before = files(tmp_path)
    again = planned(pipeline(), chunks)
    assert (again.answered, again.stored.calls, again.stored.cost_usd) == (3, 0, 0.0)
    assert files(tmp_path) == before


def test_an_edited_chunk_is_planned_as_the_run_asks_it(pipeline, server: AnthropicServer):
    text = "\n".join(TEXTS)
    run(pipeline(), chunks_of(text))
    added = chunks_of(f"{text}\nNever polish the prism lens with abrasive powder or vinegar.")
    plan = planned(pipeline(), added)
    assert (plan.answered, plan.kept, plan.revised, plan.stored.calls) == (0, 0, 1, 1)
    server.requests.clear()
    assert run(pipeline(), added).calls == 1 == len(server.requests)
    shortened = chunks_of("\n".join(TEXTS[:2]))
    plan = planned(pipeline(), shortened)
    assert (plan.kept, plan.revised, plan.stored.calls) == (1, 0, 0)
    assert run(pipeline(), shortened).calls == 0


@pytest.mark.parametrize(
    ("variables", "what", "anew"),
    [
        ({"QINDEX_GENERATOR": "anthropic:claude-other"}, "generator", "everything is asked anew"),
        ({"QINDEX_MAX_QUESTIONS": 3}, "prompt", "everything is asked anew"),
        ({"QINDEX_GENERATOR": "rules"}, "generator", "everything is written anew"),
    ],
)
def test_a_change_of_model_or_prompt_is_said_first(
    pipeline, variables: dict[str, object], what: str, anew: str
):
    chunks, before = chunks_of(*TEXTS), pipeline()
    run(before, chunks)
    after = pipeline(**variables)
    plan = planned(after, chunks)
    identity = {
        "generator": [tools.generator.spec for tools in (before, after)],
        "prompt": [tools.generator.prompt_version for tools in (before, after)],
    }
    old, new = identity[what]
    assert plan.anew == f"the {what} changed from {old} to {new}: {anew}: 3 chunks"
    assert plan.stored.calls == (3 if after.generator.is_paid else 0)
    site = SitePlan("docs", "http://docs.dev/", "http", 30, 240, questions=plan)
    assert next(plan_rows(site)) == ("ANEW", plan.anew)
    assert planned(before, chunks).anew is None


def test_what_another_run_with_the_model_answered_is_not_said_to_be_asked_anew(pipeline):
    chunks, before = chunks_of(*TEXTS), pipeline()
    run(before, chunks[:1])
    tools = pipeline(QINDEX_GENERATOR="anthropic:claude-other")
    run(tools, chunks)
    said = planned(before, chunks).anew or ""
    assert said.endswith(": 2 of 3 chunks are asked anew, the ledger has the others")


def test_pinned_questions_do_not_hide_what_wrote_the_others(pipeline):
    chunks = chunks_of(*TEXTS)
    tools = pipeline()
    rows = [
        candidate_row(chunks[0], "Why?", generator="human", origin="human"),
        candidate_row(chunks[0], "How?", generator="ollama:small"),
    ]
    tools.store.write(CANDIDATE_QUESTIONS, "docs", rows)
    assert "changed from ollama:small to" in (planned(tools, chunks).anew or "")


@pytest.mark.parametrize(
    ("variables", "price", "share"),
    [
        ({}, "list price of", 1.0),
        ({"QINDEX_LLM_BATCH": "true"}, "list price of", 0.5),
        ({"QINDEX_PRICES": f"{HAIKU}=10/50"}, "QINDEX_PRICES", 10.0),
        ({"QINDEX_GENERATOR": "anthropic:claude-other"}, "price unknown", None),
    ],
)
def test_the_money_is_that_of_the_tokens(
    pipeline, variables: dict[str, object], price: str, share: float | None
):
    plan = planned(pipeline(**variables), chunks_of(*TEXTS))
    assert plan.price.startswith(price)
    tokens = plan.stored.tokens_in + 5 * plan.stored.tokens_out
    assert plan.stored.tokens_in > 3 * 100 and plan.stored.tokens_out >= 3 * 20
    dollars = None if share is None else pytest.approx(share * tokens / 1_000_000)
    assert plan.stored.cost_usd == plan.most.cost_usd == dollars
    shown = dict(plan_rows(SitePlan("docs", "http://d.dev/", "http", 9, 9, questions=plan)))
    assert price in shown["cost"]
    assert ("half price" in shown["cost"]) == (share == 0.5)


@pytest.mark.parametrize(
    ("cap", "fits", "said"), [(1, True, "stays below"), (0.001, False, "would stop there")]
)
def test_the_plan_says_whether_it_stays_below_the_cap(pipeline, cap: float, fits: bool, said: str):
    plan = planned(pipeline(QINDEX_MAX_COST_USD=cap), chunks_of(*TEXTS))
    assert plan.fits_cap is fits
    shown = dict(plan_rows(SitePlan("docs", "http://d.dev/", "http", 9, 9, questions=plan)))
    assert said in shown["cap"]


def test_a_cap_without_a_price_would_stop_a_run(pipeline):
    tools = pipeline(QINDEX_MAX_COST_USD=1, QINDEX_GENERATOR="anthropic:claude-other")
    with pytest.raises(UsageError, match="price of anthropic:claude-other is not known"):
        planned(tools, [])


def test_pages_that_nobody_read_give_a_range_and_its_assumption(pipeline):
    plan = planned(pipeline(), [], (4, 20))
    low, high = CHUNKS_A_PAGE
    assert (plan.stored.calls, plan.least.calls, plan.most.calls) == (0, 4 * low, 20 * high)
    assert (plan.least.cost_usd or 0) * 20 * high == pytest.approx((plan.most.cost_usd or 0) * 4)
    site = SitePlan("d", "http://d.dev/", "http", 20, 9, further_pages=(4, 20), questions=plan)
    shown = dict(plan_rows(site))
    assert shown["unread pages"].startswith(f"4 to 20, of {low} to {high} chunks each (measured")
    assert shown["LLM calls"] == f"{4 * low} to {20 * high}"


def test_rules_and_people_cost_nothing(pipeline, tmp_path: Path):
    (tmp_path / "docs.yaml").write_text("pages: {/guide: {pin: [How?, Why?]}}")
    tools = pipeline(QINDEX_GENERATOR="rules", QINDEX_QUESTIONS=tmp_path)
    plan = planned(tools, chunks_of(*TEXTS), (1, 9))
    assert (plan.human, plan.most.calls, plan.most.cost_usd) == (2, 0, 0.0)


def test_a_run_embeds_the_texts_that_the_plan_says_and_the_plan_none(pipeline, tmp_path: Path):
    tools, chunks = pipeline(QINDEX_GENERATOR="rules"), chunks_of(*TEXTS)
    questions = [question_row(chunks[0], "What does it burn?")]
    questions.append(question_row(chunks[1], "Rejected?", accepted=False))
    tools.store.write(GROUNDED_QUESTIONS, "docs", questions)
    asked = planned(tools, chunks)
    before = files(tmp_path)
    plan = plan_embeddings(tools, "docs", chunks, asked, (0, 0))
    assert plan is not None and files(tmp_path) == before
    assert (plan.texts, plan.cached, plan.least.texts, plan.most.texts) == (4, 0, 4, 4)
    done = embed_site(chunks, questions, tools.embedder, tools.fingerprint, tools.vector_cache)
    assert done.texts_embedded == 4
    before = files(tmp_path)
    again = plan_embeddings(tools, "docs", chunks, asked, (0, 0))
    assert again is not None and files(tmp_path) == before
    assert (again.cached, asdict(again.most)) == (4, {"texts": 0, "tokens": 0, "cost_usd": 0.0})


def test_a_served_embedder_that_is_not_known_is_planned_without_asking_it(pipeline):
    tools = pipeline(
        QINDEX_EMBEDDER="openai:mine", OPENAI_API_KEY="sk-1",
        QINDEX_OPENAI_BASE_URL="http://127.0.0.1:9/v1",
    )  # fmt: skip
    chunks = chunks_of(*TEXTS)
    plan = plan_embeddings(tools, "docs", chunks, planned(tools, chunks), (0, 0))
    assert plan is not None
    assert (plan.texts, plan.cached, plan.least.cost_usd) == (3, 0, None)
    assert plan.most.texts == 3 + 3 * tools.settings.max_questions
