"""Keys of the tags between which a prompt carries text as data."""

import hashlib
from collections.abc import Iterable

_KEY_LENGTH = 8


def delimiter_key(texts: Iterable[str]) -> str:
    """Hex digits that occur in none of the texts, so that no text can end its own delimiter.

    They are made from the texts: equal prompts stay equal.
    """
    joined = "\0".join(texts)
    digest = hashlib.sha256(joined.encode("utf-8", "surrogatepass"))
    while (key := digest.hexdigest()[:_KEY_LENGTH]) in joined:
        digest.update(b"again")
    return key
