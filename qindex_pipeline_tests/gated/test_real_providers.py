"""The promises of the generators, kept by the providers themselves; costs about a cent.

Each provider is asked where its own variable is set: ANTHROPIC_API_KEY, OPENAI_API_KEY (also
with QINDEX_OPENAI_BASE_URL), QINDEX_OLLAMA_URL. QINDEX_GENERATOR names another model.
"""

import os
from collections.abc import Callable

import pytest

from qindex_pipeline.questions.generators.generator import Generator
from qindex_pipeline.questions.generators.opening import open_generator
from qindex_pipeline.settings import Settings
from qindex_pipeline_tests.questions.asked import HAIKU, MINI, QWEN
from qindex_pipeline_tests.questions.promises import CHECKS

VARIABLES = {HAIKU: "ANTHROPIC_API_KEY", MINI: "OPENAI_API_KEY", QWEN: "QINDEX_OLLAMA_URL"}

pytestmark = pytest.mark.gated


@pytest.fixture(scope="module", params=VARIABLES)
def generator(request: pytest.FixtureRequest) -> Generator:
    variable = VARIABLES[request.param]
    if not os.environ.get(variable):
        pytest.skip(f"{variable} is not set: {request.param} is not asked")
    settings = Settings.from_env()
    named = settings.generator or ""
    own = named.partition(":")[0] == request.param.partition(":")[0]
    return open_generator(named if own else request.param, settings)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_provider_keeps_the_promises_of_its_generator(
    check: Callable[[Generator], None], generator: Generator
) -> None:
    check(generator)
