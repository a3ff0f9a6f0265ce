"""Bringing a query to a question by a model, and by the rules wherever the model is not needed.

A question costs no call, a query costs one call ever, and a model that fails costs a warning:
asking goes on with the rules.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from qindex_pipeline.errors import QIndexError
from qindex_pipeline.retrieval.normalizing.cache import RewriteCache, rewrite_key
from qindex_pipeline.retrieval.normalizing.forms import Normalizer
from qindex_pipeline.retrieval.normalizing.normalize import (
    MAX_CHARACTERS,
    is_question,
    normalize_query,
    verbatim_words,
)
from qindex_pipeline.retrieval.normalizing.rewriters import REWRITE_VERSION, Rewriter, open_rewriter

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings

PAUSE = 60.0
"""Seconds after a failed call in which the model is not asked again: each try would be waited
for by somebody."""

_LOCKS = 64
"""Queries that may be rewritten at once; two of the same query always wait for each other."""


class ModelNormalizer:
    """Canonical questions by a rewriter, remembered for good; safe to call from threads."""

    def __init__(
        self,
        open_model: Callable[[], Rewriter],
        cache: RewriteCache,
        warn: Callable[[str], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Rewrite by what `open_model` gives, opened with the first query that needs it.

        Args:
            open_model: Opens the rewriter; may raise a QIndexError.
            cache: Remembers the replies.
            warn: Hears one line when the model or the cache first fails.
            now: A clock in seconds.
        """
        self._open_model, self._cache = open_model, cache
        self._warn, self._now = warn, now
        self._locks: Sequence[threading.Lock] = [threading.Lock() for _ in range(_LOCKS)]
        self._warned = False
        self._paused_until = float("-inf")

    def __call__(self, query: str) -> str:
        """The canonical question of a query, itself where it is one."""
        given = query.strip()
        by_rules = normalize_query(given)
        if not given or len(given) > MAX_CHARACTERS or is_question(given):
            return by_rules
        if self._now() < self._paused_until:
            return by_rules
        try:
            reply = self._reply(given)
        except (QIndexError, sqlite3.Error, OSError) as error:
            self._fail(error)
            return by_rules
        return accepted(given, reply) or by_rules

    def _reply(self, query: str) -> str:
        key = rewrite_key(self._rewriter.spec, REWRITE_VERSION, query)
        with self._locks[int(key, 16) % _LOCKS]:
            known = self._cache.get(key)
            if known is not None:
                return known
            reply = self._rewriter.rewrite(query)
            self._cache.put(key, reply)
            return reply

    def _fail(self, error: Exception) -> None:
        self._paused_until = self._now() + PAUSE
        if not self._warned:
            self._warned = True
            self._warn(f"queries are brought to questions by rules, not by the model: {error}")

    @cached_property
    def _rewriter(self) -> Rewriter:
        return self._open_model()


def accepted(query: str, reply: str) -> str | None:
    """The reply as a form to search, or None where it is none.

    It has to be one line of at most MAX_CHARACTERS + 100 characters that keeps every code word
    of the query.
    """
    text = reply.strip().strip('"').strip()
    kept = all(word in text for word in verbatim_words(query))
    is_line = bool(text) and "\n" not in text and len(text) <= MAX_CHARACTERS + 100
    return text if kept and is_line else None


def open_normalizer(settings: "Settings", answerer: str, warn: Callable[[str], None]) -> Normalizer:
    """The normalizer that QINDEX_NORMALIZE names.

    Args:
        settings: The settings.
        answerer: The answerer's `provider:model`, whose model rewrites.
        warn: Hears one line when the model fails.
    """
    if settings.normalize == "off":
        return str.strip
    if settings.normalize == "rules":
        return normalize_query
    cache = RewriteCache(settings.state_dir / "rewritten_queries.sqlite")
    return ModelNormalizer(lambda: open_rewriter(answerer, settings), cache, warn)
