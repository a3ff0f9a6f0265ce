"""Streams of server-sent events, as both providers send a whole reply in pieces."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic_core import to_json

PIECE = 3
"""Characters of text an event: small, so that nothing that a reader looks for comes whole."""


@dataclass(frozen=True)
class EventStream:
    """Body of a reply that is sent event by event."""

    events: tuple[bytes, ...]
    whole: bool = True
    """False: the connection ends behind the last event, before the stream does."""

    def broken_after(self, count: int | None) -> "EventStream":
        """The stream as it arrives when the server dies after `count` events."""
        if count is None:
            return self
        return replace(self, events=self.events[:count], whole=False)


@dataclass(frozen=True)
class Said:
    """A reply that a test puts into the model's mouth."""

    text: str = ""
    stop: str | None = None
    """Stop or finish reason in the provider's own words; None: the ordinary one, "": none."""
    refusal: str | None = None
    """OpenAI's own field for a declined answer."""
    error: str | None = None
    """Message of an error event behind the text, in a stream that began well."""


def anthropic_events(message: Any, error: object | None = None) -> EventStream:
    """The events of a Messages reply whose only block is text."""
    (block,) = message["content"]
    start = {**message, "content": [], "stop_reason": None}
    ends = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": piece},
            }
            for piece in _pieces(block["text"])
        ),
    ]
    if error is not None:
        events.append({"type": "error", "error": error})
    else:
        usage = {"output_tokens": message["usage"]["output_tokens"]}
        events += [
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": ends, "usage": usage},
            {"type": "message_stop"},
        ]
    return EventStream(
        tuple(f"event: {item['type']}\n".encode() + _data(to_json(item)) for item in events)
    )


def openai_events(completion: Any, error: object | None = None) -> EventStream:
    """The chunks of a chat completion with one choice, and the mark at their end."""
    (choice,) = completion["choices"]
    message = choice["message"]
    deltas: list[tuple[dict[str, Any], str | None]] = [
        ({"role": "assistant", "content": "", "refusal": None}, None)
    ]
    deltas += [({"content": piece}, None) for piece in _pieces(message["content"] or "")]
    deltas += [({"refusal": piece}, None) for piece in _pieces(message["refusal"] or "")]
    head = {"id": completion["id"], "created": 0, "model": completion["model"]}
    head["object"] = "chat.completion.chunk"
    if error is None:
        deltas.append(({}, choice["finish_reason"]))
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in deltas
    ]
    last = [b"[DONE]"] if error is None else [to_json({"error": error})]
    return EventStream(tuple(_data(item) for item in [*map(to_json, chunks), *last]))


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


def _data(line: bytes) -> bytes:
    return b"data: " + line + b"\n\n"
