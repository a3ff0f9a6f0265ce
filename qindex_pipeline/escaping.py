"""How words of a page stay words, wherever a report is read.

A title must not steer a terminal, call a channel or carry a link of its own.
"""

import re
from collections.abc import Callable

Escape = Callable[[str], str]
"""Makes words of a page harmless where a text is read."""

_LONGEST = 80

# Control characters, and those that turn the direction of a line or hide in it.
_STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&$:@])")
# What makes a mention or a link of plain words: @channel, http://…, www.…, [words](address).
_ACTIVE = re.compile(r"(@|:(?=//)|(?i:www)(?=\.)|\](?=\())")
# What would end an address and begin something else, or call a channel from within it.
_BREAKING = re.compile(r"[\[\]<>|\s]|@(?=(?:all|channel|everyone|here)\b)")


def as_plain(words: str) -> str:
    """One line without control characters, at most 80 characters."""
    line = " ".join(_STEERING.sub(" ", words).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"


def as_markdown(words: str) -> str:
    """Words in which markdown has no meaning."""
    return _MARKDOWN.sub(r"\\\1", as_plain(words))


def as_message(words: str) -> str:
    """Words that call nobody and lead nowhere in Slack, Mattermost and Teams.

    A space without width stands where a mention or a link would begin. The signs of HTML are
    for whoever sends the text.
    """
    return _ACTIVE.sub("\\1\u200b", as_plain(words))


def address(url: str) -> str:
    """The URL of a page with nothing in it but an address, which any reader may open."""
    start = url.find("/", url.find("://") + 3)
    if start < 0:
        return url
    path = _BREAKING.sub(lambda found: f"%{ord(found.group()):02X}", url[start:])
    return url[:start] + _STEERING.sub("", path)
