"""What of a question is never written down: addresses, secrets and long numbers.

Rules of thumb, which err on the side of masking: they find what has a telling shape. A person's
name or a password that is a plain word has none, and stays.
"""

import re

MAX_CHARACTERS = 1000
"""Of a question that is kept: more than people type, less than a pasted log."""

_READ = 4 * MAX_CHARACTERS  # the rest of a long text is not even looked at

_NAMED = "passwor[dt]|passwd|pwd|secret|token|api[_-]?key|access[_-]?key"

_RULES = tuple(
    (re.compile(pattern, flags), mask)
    for pattern, flags, mask in (
        (r"-----BEGIN [A-Z ]{0,40}-----.*", re.DOTALL, "[secret]"),
        # What stands before the host in `https://user:password@host`.
        (r"(?<=://)[^\s/@]{1,256}(?=@)", 0, "[secret]"),
        (r"[\w.+%-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}", 0, "[e-mail]"),
        # A value that is named a secret: `--password=…`, `"api_key": "…"`, `Bearer …`.
        (
            rf"(?P<name>(?:{_NAMED})[\"']?\s{{0,3}}[=:]\s{{0,3}}[\"']?)(?!\[)[^\s\"'&,;]{{1,512}}",
            re.IGNORECASE,
            r"\g<name>[secret]",
        ),
        (r"(?P<name>\b(?:bearer|basic)\s+)[\w+/=.~-]{12,}", re.IGNORECASE, r"\g<name>[secret]"),
        # Keys, tokens, hashes, identifiers of accounts: long, letters and digits mixed.
        (r"(?<![\w+/=-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[^\W\d_])[\w+/=-]{20,}", 0, "[secret]"),
        # Phone, card and account numbers, also in groups.
        (r"(?<!\w)\+?\(?\d(?:[ ().-]{0,2}\d){6,}(?!\w)", 0, "[number]"),
    )
)


def masked(question: str) -> str:
    """The question as it may be kept: printable, on one line, at most MAX_CHARACTERS long."""
    read = (sign for sign in question[: _READ + 1] if sign.isprintable() or sign.isspace())
    text = " ".join("".join(read).split())
    if len(question) > _READ:  # a word that was cut in two may no longer look like a secret
        text = text.rpartition(" ")[0]
    for pattern, mask in _RULES:
        text = pattern.sub(mask, text)
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"
