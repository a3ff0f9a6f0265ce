"""Which failed steps are tried again, and which are not."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import grpc
import httpx
import openai
import pytest
from qdrant_client.http.exceptions import UnexpectedResponse

from qindex_pipeline import retries
from qindex_pipeline.build import build_definitions
from qindex_pipeline.errors import TransientError, UsageError, WorkError
from qindex_pipeline.index.server_calls import server_errors
from qindex_pipeline.pools import LIMITS, set_limits
from qindex_pipeline.providers import provider_errors
from qindex_pipeline.retries import is_unattended, retried
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "PAUSES", (0, 0))


def attempts(error: Exception, monkeypatch: pytest.MonkeyPatch, *, unattended: bool) -> int:
    """How often the step of an asset that raises `error` is tried."""
    monkeypatch.setattr(retries, "is_unattended", lambda _: unattended)
    tried: list[int] = []

    @dg.asset
    @retried
    def pages(context: dg.AssetExecutionContext) -> None:
        tried.append(context.retry_number)
        raise error

    assert not dg.materialize([pages], raise_on_error=False).success
    return len(tried)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (TransientError("nobody answers"), 3),
        (WorkError("the key is refused"), 1),
        (UsageError("no such model"), 1),
        (dg.Failure("the gate", allow_retries=False), 1),
    ],
)
def test_a_run_of_the_daemon_tries_again_what_may_heal(
    error: Exception, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert attempts(error, monkeypatch, unattended=True) == expected


def test_a_person_at_a_terminal_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert attempts(TransientError("nobody answers"), monkeypatch, unattended=False) == 1


def test_a_step_that_healed_goes_on_and_keeps_what_it_yields(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retries, "is_unattended", lambda _: True)

    @dg.asset
    @retried
    def pages(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult]:
        if context.retry_number == 0:
            raise TransientError("nobody answers")
        yield dg.MaterializeResult(metadata={"attempt": context.retry_number})

    result = dg.materialize([pages])
    (event,) = result.get_asset_materialization_events()
    assert event.step_materialization_data.materialization.metadata["attempt"].value == 1


def test_a_run_in_this_process_is_attended() -> None:
    assert not is_unattended(dg.DagsterRun(job_name="any", run_id=str(uuid.uuid4())))


# --- what may heal --------------------------------------------------------------------------


def status_error(status: int, code: str | None = None) -> openai.APIStatusError:
    response = httpx.Response(status, request=httpx.Request("POST", "http://provider/"))
    return openai.APIStatusError("no", response=response, body={"code": code})


class Refused(grpc.RpcError):
    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.UNAVAILABLE


PROVIDER: list[tuple[Exception, bool]] = [
    (openai.APIConnectionError(request=httpx.Request("POST", "http://provider/")), True),
    (status_error(429), True),
    (status_error(429, "insufficient_quota"), False),
    (status_error(503), True),
    (status_error(401), False),
    (status_error(404), False),
    (status_error(400), False),
]


@pytest.mark.parametrize(("error", "heals"), PROVIDER)
def test_a_provider_that_is_busy_or_away_may_heal(error: Exception, heals: bool) -> None:
    with pytest.raises(WorkError) as raised, provider_errors("openai", "model"):
        raise error
    assert isinstance(raised.value, TransientError) is heals


def refusal(status: int) -> UnexpectedResponse:
    return UnexpectedResponse(status, "no", b"", httpx.Headers())


@pytest.mark.parametrize(
    ("error", "heals"),
    [(refusal(503), True), (Refused(), True), (refusal(403), False), (refusal(400), False)],
)
def test_a_qdrant_that_is_busy_or_away_may_heal(error: Exception, heals: bool) -> None:
    with pytest.raises(WorkError) as raised, server_errors("docs"):
        raise error
    assert isinstance(raised.value, TransientError) is heals


# --- pools ----------------------------------------------------------------------------------


def test_every_pool_of_the_definitions_has_a_limit() -> None:
    definitions = build_definitions(
        Settings(), sites={"docs": Site(key="docs", start_url="http://docs/")}
    )
    jobs = [definitions.resolve_job_def(name) for name in ("site_refresh", "index_audit")]
    pools = {node.definition.pool for job in jobs for node in job.nodes}
    assert pools - {None} == set(LIMITS)


def test_limits_are_set_where_there_are_none_and_stand_where_there_are(tmp_path: Path) -> None:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        instance.event_log_storage.set_concurrency_slots("llm", 7)
        lines = set_limits(instance)
        assert set_limits(instance) == lines
        found = {pool.name: pool.limit for pool in instance.event_log_storage.get_pool_limits()}
    assert found == {**LIMITS, "llm": 7}
    assert "pool llm: 7 at once" in lines
