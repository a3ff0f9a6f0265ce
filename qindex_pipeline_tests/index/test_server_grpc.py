"""The server engine over gRPC: where it connects, what it tries again, what people read."""

import grpc
import pytest

from qindex_pipeline.errors import WorkError
from qindex_pipeline.index import server_calls
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.settings import Settings
from qindex_pipeline_tests.conftest import MakeSettings
from qindex_pipeline_tests.fakes.qdrant_grpc import QdrantGrpcServer

pytestmark = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
LIST, ALIASES = "/qdrant.Collections/List", "/qdrant.Collections/ListAliases"


def over_grpc(server: QdrantGrpcServer, settings: MakeSettings) -> Settings:
    # The REST port of this address is closed: whatever is answered came over gRPC.
    return settings(
        QDRANT_URL="http://127.0.0.1:9",
        QDRANT_API_KEY="secret",
        QINDEX_QDRANT_TRANSPORT="grpc",
        QINDEX_QDRANT_GRPC_PORT=server.port,
    )


def test_the_port_and_the_key_of_the_settings_are_used(settings: MakeSettings) -> None:
    with QdrantGrpcServer() as server:
        assert open_engine(over_grpc(server, settings)).open("docs") is None
    assert server.calls == [(LIST, "secret"), (ALIASES, "secret")]


def test_a_read_that_the_server_could_not_answer_is_tried_again(
    settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_calls.time, "sleep", lambda _: None)
    with QdrantGrpcServer() as server:
        engine = open_engine(over_grpc(server, settings))
        server.failures = [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED]
        assert engine.open("docs") is None
    assert [method for method, _ in server.calls] == [LIST, ALIASES, ALIASES, ALIASES]


@pytest.mark.parametrize("status", ["UNAUTHENTICATED", "PERMISSION_DENIED"])
def test_a_refused_key_names_its_variable(status: str, settings: MakeSettings) -> None:
    with QdrantGrpcServer() as server:
        server.failures = [grpc.StatusCode[status]]
        with pytest.raises(WorkError, match=r"refused the key .*check QDRANT_API_KEY"):
            open_engine(over_grpc(server, settings))


def test_a_call_that_is_wrong_is_told_in_one_line(settings: MakeSettings) -> None:
    with QdrantGrpcServer() as server:
        engine = open_engine(over_grpc(server, settings))
        server.failures = [grpc.StatusCode.INVALID_ARGUMENT]
        with pytest.raises(WorkError, match=r"^Qdrant \(aliases\): queued failure; is QDRANT_URL"):
            engine.open("docs")
    assert len(server.calls) == 2
