"""The environment, read once into a typed object."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from qindex_pipeline.cron import cron_expression
from qindex_pipeline.errors import UsageError

NOT_SETTINGS = frozenset({"QINDEX_SHARED", "QINDEX_SCREENSHOTS", "QINDEX_WEBHOOK_URL_FILE"})
"""Variables of our prefix that tests, benchmarks and the containers' entry point read."""


class Settings(BaseSettings):
    """Every setting, its default and its meaning. Variables are `QINDEX_` + the upper-case name.

    Keys and addresses that other tools name too keep their usual variable: OPENAI_API_KEY,
    ANTHROPIC_API_KEY, QDRANT_URL, QDRANT_API_KEY.
    """

    model_config = SettingsConfigDict(
        env_prefix="QINDEX_", frozen=True, env_ignore_empty=True, extra="ignore"
    )

    profile: Literal["auto", "api", "local", "offline", "embedded"] = "auto"
    generator: str | None = Field(default=None, description="provider:model of the generator")
    embedder: str | None = Field(default=None, description="provider:model of the embedder")
    answerer: str | None = Field(default=None, description="provider:model of the answerer")
    normalize: Literal["rules", "model", "off"] = Field(
        default="rules", description="how a keyword query is brought to a question"
    )

    data: str = Field(default="data", description="folder or fsspec URL of the Parquet tables")
    state: Path | None = Field(default=None, description="local folder; default <data>/state")
    sites: Path = Field(default=Path("sites.yaml"), description="the sites file")
    chromium: str | None = Field(default=None, description="a Chromium instead of Playwright's")
    suspect_share: float = Field(
        default=0.5, ge=0, le=1, description="of the last pages; a crawl below deletes nothing"
    )
    eval_margin: float = Field(
        default=0.05, ge=0, le=1, description="fall of MRR@10 that is published; 1 accepts any"
    )
    schedule: Annotated[str, AfterValidator(cron_expression)] = Field(
        default="0 2 * * *", description="cron of the nightly run, UTC"
    )
    stagger_minutes: int = Field(
        default=60, ge=0, le=1440, description="over which the sites of that cron are spread"
    )
    webhook_url: SecretStr | None = Field(
        default=None, description="told of failed runs, checks and changes"
    )
    webserver_url: str | None = Field(default=None, description="of Dagster's UI, for links to it")
    query_log: str | None = Field(
        default=None, description="folder or fsspec URL where what is asked is written down"
    )
    query_log_mb: int = Field(default=64, ge=1, description="of that log; the oldest goes first")

    collection_name: str | None = Field(default=None, description="alias of the collection")
    embed_dim: int | None = Field(default=None, ge=1, description="checked against the model")
    chunk_size: int = Field(default=500, ge=4, description="max words of a chunk = this // 4")
    chunk_overlap: int = Field(default=100, ge=0, description="characters, at most")
    top_k: int = Field(default=3, ge=1, le=50, description="results of an answer")
    confidence_threshold: float | None = Field(default=None, ge=-1, le=1)
    max_questions: int = Field(default=8, ge=1, le=50, description="questions a chunk, at most")

    questions: Path = Field(default=Path("questions"), description="folder of people's questions")
    round_trip_k: int | None = Field(
        default=None, ge=1, description="a question must find its chunk among so many"
    )
    max_failed_share: float = Field(
        default=0.10, ge=0, le=1, description="of chunks without a valid answer; above, a run fails"
    )

    llm_concurrency: int = Field(default=4, ge=1, description="calls in flight")
    llm_requests_per_minute: int | None = Field(default=None, ge=1, description="at most")
    llm_tokens_per_minute: int | None = Field(default=None, ge=1, description="at most")
    llm_batch: bool = Field(default=False, description="through the batch interface")
    llm_batch_poll: float = Field(default=30.0, gt=0, description="seconds between two looks")
    prices: str | None = Field(
        default=None, description="model=in/out in dollars a million tokens, by comma"
    )
    max_cost_usd: float | None = Field(default=None, gt=0, description="of a run's calls")
    llm_retries: int = Field(default=4, ge=0, description="retries of a call, by the SDK")
    llm_timeout: float = Field(default=120.0, gt=0, description="seconds a call may take")
    openai_base_url: str | None = Field(default=None, description="any OpenAI-compatible server")
    anthropic_base_url: str | None = Field(default=None, description="another Anthropic endpoint")
    ollama_url: str = "http://127.0.0.1:11434"

    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    anthropic_api_key: SecretStr | None = Field(default=None, validation_alias="ANTHROPIC_API_KEY")
    qdrant_url: str | None = Field(default=None, validation_alias="QDRANT_URL")
    qdrant_api_key: SecretStr | None = Field(default=None, validation_alias="QDRANT_API_KEY")
    qdrant_transport: Literal["http", "grpc"] = "http"
    qdrant_grpc_port: int = Field(default=6334, ge=1, le=65535, description="with grpc")
    qdrant_timeout: int = Field(default=60, ge=1, description="seconds a call may take")
    qdrant_retries: int = Field(default=3, ge=0, description="retries of calls that are safe")
    qdrant_strict_mode: bool = Field(default=False, description="of a new collection")
    qdrant_quantization: Literal["none", "int8"] = "none"
    qdrant_replication_factor: int | None = Field(default=None, ge=1, description="in a cluster")
    qdrant_shard_number: int | None = Field(default=None, ge=1, description="in a cluster")

    @classmethod
    def from_env(cls) -> Self:
        """Read the environment. Raises UsageError naming the variable that is wrong."""
        try:
            settings = cls()
        except ValidationError as error:
            detail = error.errors()[0]
            name = str(detail["loc"][0])
            variable = name if name.isupper() else f"QINDEX_{name.upper()}"
            raise UsageError(f"{variable}={detail['input']!r}: {detail['msg']}") from None
        if settings.is_on_object_store and not settings.qdrant_url:
            raise UsageError(
                f"QINDEX_DATA={settings.data} is an object store: set QDRANT_URL too, the embedded "
                "engine needs a local folder"
            )
        webhook = settings.webhook_url  # never shown: whoever has the address may post
        if webhook and not webhook.get_secret_value().startswith(("http://", "https://")):
            raise UsageError("QINDEX_WEBHOOK_URL is not an http(s) address")
        return settings

    @property
    def is_on_object_store(self) -> bool:
        """Whether the data root is an object store, which outlives the disks of the machines."""
        return "://" in self.data

    @property
    def state_dir(self) -> Path:
        """Local folder for what needs rename, append and locks."""
        if self.state is not None:
            return self.state
        if self.is_on_object_store:
            return Path("data/state")
        return Path(self.data) / "state"


def unknown_variables(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Lines about `QINDEX_` variables that are no settings, with the nearest that is one."""
    known = {
        f"QINDEX_{name.upper()}"
        for name, field in Settings.model_fields.items()
        if field.validation_alias is None
    } | NOT_SETTINGS
    lines: list[str] = []
    for name in sorted(environment):
        if name.startswith("QINDEX_") and name not in known:
            # Compared without the prefix, which would make everything look alike.
            bare = {setting.removeprefix("QINDEX_") for setting in known}
            close = difflib.get_close_matches(name.removeprefix("QINDEX_"), bare, n=1)
            lines.append(f"{name} is not a setting" + (f"; QINDEX_{close[0]}?" if close else ""))
    return lines
