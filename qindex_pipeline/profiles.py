"""Which models a run uses: the profile, what overrides it, and why it was picked."""

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from qindex_pipeline.errors import UsageError

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings

ProfileName = Literal["api", "local", "offline"]


@dataclass(frozen=True)
class Profile:
    """One column of the profile table: the models, and the seed's constants that go with them."""

    name: ProfileName
    generator: str
    embedder: str
    answerer: str
    collection_name: str
    embed_dim: int
    confidence_threshold: float


PROFILES: Mapping[ProfileName, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            name="api",
            generator="anthropic:claude-haiku-4-5-20251001",
            embedder="openai:text-embedding-3-small",
            answerer="anthropic:claude-haiku-4-5-20251001",
            collection_name="qindex_docs_v1",
            embed_dim=1536,
            confidence_threshold=0.60,
        ),
        Profile(
            name="local",
            generator="ollama:qwen2.5:14b",
            embedder="ollama:nomic-embed-text",
            answerer="ollama:qwen2.5:14b",
            collection_name="qindex_local_v1",
            embed_dim=768,
            confidence_threshold=0.60,
        ),
        Profile(
            name="offline",
            generator="rules",
            embedder="minilm",
            answerer="extract",
            collection_name="qindex_offline_v1",
            embed_dim=384,
            # The seed's 0.60 would refuse most right answers with MiniLM: on the STL site they
            # score .26-.70, on git >= .59. Used until a site is calibrated.
            confidence_threshold=0.40,
        ),
    )
}

OLLAMA_TIMEOUT = 0.5
"""Seconds that `auto` waits for Ollama; on the same machine it answers in milliseconds."""


@dataclass(frozen=True)
class Models:
    """The models and constants of a run, and the reason for them.

    `named` tells that the person chose (a profile or a model by name), rather than `auto`.
    """

    profile: ProfileName
    reason: str
    named: bool
    generator: str
    embedder: str
    answerer: str
    collection_name: str
    embed_dim: int | None
    confidence_threshold: float

    @property
    def line(self) -> str:
        """One line for people: which models, and why."""
        text = (
            f"profile {self.profile} ({self.reason}): generator {self.generator}, "
            f"embedder {self.embedder}, answerer {self.answerer}"
        )
        if self.generator == "rules":
            text += (
                "; questions come from rules, not from a model: set OPENAI_API_KEY and "
                "ANTHROPIC_API_KEY, or start Ollama, to use one"
            )
        return text


def resolve_models(settings: "Settings") -> Models:
    """The models that the settings mean; `auto` looks for keys, then for Ollama.

    Raises UsageError when the settings contradict themselves.
    """
    if settings.profile == "auto":
        profile, reason = _pick(settings)
    else:
        name: ProfileName = "offline" if settings.profile == "embedded" else settings.profile
        profile, reason = PROFILES[name], "named by QINDEX_PROFILE"
    return models_of(profile, reason, settings)


def models_of(profile: Profile, reason: str, settings: "Settings") -> Models:
    """The models of `profile` with what the settings override."""
    embedder = settings.embedder or profile.embedder
    own = embedder == profile.embedder
    return Models(
        profile=profile.name,
        reason=reason,
        named=settings.profile != "auto" or settings.embedder is not None,
        generator=settings.generator or profile.generator,
        embedder=embedder,
        answerer=settings.answerer or profile.answerer,
        collection_name=_collection_name(settings.collection_name or profile.collection_name),
        embed_dim=settings.embed_dim or (profile.embed_dim if own else None),
        confidence_threshold=confidence_threshold(settings, embedder),
    )


def collection_names(settings: "Settings") -> set[str]:
    """The aliases of every collection that the settings can mean, whichever profile is picked."""
    models = [models_of(profile, "it may be used", settings) for profile in PROFILES.values()]
    return {one.collection_name for one in (*models, resolve_models(settings))}


def confidence_threshold(settings: "Settings", embedder: str) -> float:
    """The threshold that the settings name, else the embedder's: 0.40 for MiniLM, else 0.60."""
    if settings.confidence_threshold is not None:
        return settings.confidence_threshold
    for profile in PROFILES.values():
        if profile.embedder == embedder:
            return profile.confidence_threshold
    return 0.60


def _pick(settings: "Settings") -> tuple[Profile, str]:
    if settings.openai_api_key and settings.anthropic_api_key:
        return PROFILES["api"], "OPENAI_API_KEY and ANTHROPIC_API_KEY are set"
    if _ollama_answers(settings.ollama_url):
        return PROFILES["local"], f"Ollama answers at {settings.ollama_url}"
    return PROFILES["offline"], "no pair of keys and no Ollama found"


def _ollama_answers(url: str) -> bool:
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"QINDEX_OLLAMA_URL={url!r} is not an http(s) address")
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/api/version", timeout=OLLAMA_TIMEOUT):  # noqa: S310 - scheme checked above
            return True
    except (http.client.InvalidURL, ValueError):
        raise UsageError(f"QINDEX_OLLAMA_URL={url!r} is not an http(s) address") from None
    except (urllib.error.URLError, OSError, http.client.HTTPException):
        return False  # nobody there, or something that is not Ollama


def _collection_name(name: str) -> str:
    if not name.replace("_", "").replace("-", "").isalnum():
        raise UsageError(f"QINDEX_COLLECTION_NAME={name!r}: use letters, digits, '_' and '-'")
    return name
