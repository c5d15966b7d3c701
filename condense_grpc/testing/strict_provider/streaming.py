"""A chat completion in pieces, as server-sent events."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

PIECE_CHARS = 24


def chunks(completion: Mapping[str, Any], *, include_usage: bool) -> Iterator[bytes]:
    """The events of a whole completion: who speaks, its text and calls piece by piece, why it ends, what it cost."""
    [choice] = completion["choices"]
    message = choice["message"]

    def event(delta: Mapping[str, Any], finish_reason: str | None = None) -> bytes:
        one = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return _event(fixed | {"choices": [one]} | ({"usage": None} if include_usage else {}))

    fixed = {name: completion[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    yield event({"role": "assistant", "content": ""})
    yield from (event({"content": piece}) for piece in _pieces(message["content"] or ""))
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        yield event({"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]})
        for piece in _pieces(function["arguments"]):
            yield event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield event({}, choice["finish_reason"])
    if include_usage:
        yield _event(fixed | {"choices": [], "usage": completion["usage"]})
    yield b"data: [DONE]\n\n"


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + PIECE_CHARS] for at in range(0, len(text), PIECE_CHARS))


def _event(value: Any) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()
