"""Identities that come from content, so that a re-run names everything as the last run did."""

import hashlib
import uuid

_NAMESPACE = uuid.UUID("6d1c1b0e-3c1d-5a52-9b57-6f1d0f0c7a11")


def content_hash(*parts: str) -> str:
    """SHA-256 over the parts, each behind its length, as 32 hex digits (128 bits).

    The length keeps ("ab", "c") and ("a", "bc") apart. Lone surrogates, which broken pages
    contain, are hashed as they stand.
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()[:32]


def point_id(hex_id: str) -> str:
    """The Qdrant point id (a UUID string) of a 32-hex-digit content id."""
    return str(uuid.UUID(hex=hex_id))


def derived_point_id(hex_id: str, ordinal: int) -> str:
    """The point id of the `ordinal`-th further point of a content id (windows of a chunk)."""
    return str(uuid.uuid5(_NAMESPACE, f"{hex_id}|{ordinal}"))
