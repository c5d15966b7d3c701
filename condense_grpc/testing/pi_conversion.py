"""Pi messages in the shapes of providers, as a host that speaks these would hold them.

What a shape has no place for is left out: times, details, error flags where results have none, the host's own notices
become user messages. Messages of one side that follow each other stay apart where the provider takes that.

`carried` is the other half of that: the Pi messages that say no more than a shape can. A session in a shape and its
carried messages are the same to every rule, so that the same has to be decided about both.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from condense_grpc.native.formats import NativeFormat

Json = dict[str, Any]


def converted(messages: Sequence[Json], form: NativeFormat) -> list[list[Json]]:
    """The elements of each message; results of one turn are in the elements of the first of them."""
    if form is NativeFormat.PI:
        return [[message] for message in messages]
    if form in (NativeFormat.ANTHROPIC, NativeFormat.GEMINI):
        return _with_joined_results(messages, form)
    write = _chat if form is NativeFormat.OPENAI_CHAT else _responses
    return [write(message) for message in messages]


def carried(messages: Sequence[Json], form: NativeFormat) -> list[Json]:
    """What is left of messages in a shape, as far as any decision looks at it. Times stay: the server gives some."""
    if form is NativeFormat.PI:
        return list(messages)
    left = [_carried(message, form) for message in messages]
    return _with_joined_answers(left) if form is NativeFormat.OPENAI_RESPONSES else left


def _with_joined_answers(messages: Sequence[Json]) -> list[Json]:
    """Items of the model that follow each other are one answer, whatever they came from."""
    found: list[Json] = []
    for message in messages:
        before = found[-1] if found else {}
        if message.get("role") == before.get("role") == "assistant":
            found[-1] = {**before, "content": [*_blocks(before), *_blocks(message)]}
        else:
            found.append(message)
    return found


def _carried(message: Json, form: NativeFormat) -> Json:
    role = message.get("role")
    if role == "assistant":
        return message
    if role != "toolResult":
        kept: Json = {name: message[name] for name in ("content", "timestamp") if name in message}
        return {**kept, "role": "user"}
    has_flags = form in (NativeFormat.ANTHROPIC, NativeFormat.GEMINI)
    left = message if has_flags else {name: member for name, member in message.items() if name != "isError"}
    if form is NativeFormat.OPENAI_CHAT:
        return {**left, "content": [{"type": "text", "text": _text(message)}]}
    return left


def _blocks(message: Json) -> list[Json]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [block for block in content or () if isinstance(block, dict)]


def _text(message: Json) -> str:
    return "\n".join(block.get("text", "") for block in _blocks(message) if block.get("type") == "text")


def _calls(message: Json) -> list[Json]:
    return [block for block in _blocks(message) if block.get("type") == "toolCall"]


def _thinking(message: Json) -> list[Json]:
    return [block for block in _blocks(message) if block.get("type") == "thinking"]


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# OpenAI


def _chat(message: Json) -> list[Json]:
    role = message.get("role")
    if role == "toolResult":
        return [{"role": "tool", "tool_call_id": message.get("toolCallId", ""), "content": _text(message)}]
    if role != "assistant":
        return [{"role": "user", "content": _chat_content(message)}]
    value: Json = {"role": "assistant", "content": _text(message) or None}
    thinking = "\n".join(str(block.get("thinking", "")) for block in _thinking(message))
    value |= {"reasoning_content": thinking} if thinking else {}
    calls = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": _arguments(call)}}
        for call in _calls(message)
    ]
    return [value | ({"tool_calls": calls} if calls else {})]


def _arguments(call: Json) -> str:
    return _compact(call.get("arguments", {}))


def _chat_content(message: Json) -> Any:
    blocks = _blocks(message)
    if all(block.get("type") == "text" for block in blocks):
        return _text(message)
    return [_chat_block(block) for block in blocks]


def _chat_block(block: Json) -> Json:
    if block.get("type") == "image":
        return {"type": "image_url", "image_url": {"url": _data_uri(block)}}
    return {"type": "text", "text": block.get("text", "")}


def _data_uri(block: Json) -> str:
    return f"data:{block.get('mimeType')};base64,{block.get('data')}"


def _responses(message: Json) -> list[Json]:
    role = message.get("role")
    if role == "toolResult":
        return [{"type": "function_call_output", "call_id": message.get("toolCallId", ""), "output": _output(message)}]
    if role != "assistant":
        return [{"type": "message", "role": "user", "content": [_input(block) for block in _blocks(message)]}]
    items: list[Json] = []
    for kind, run in groupby(_blocks(message), key=lambda block: block.get("type")):
        items += _answer_items(kind, list(run))
    is_silent = all(item["type"] == "reasoning" for item in items)
    return [*items, _said("")] if is_silent else items


def _answer_items(kind: Any, blocks: Sequence[Json]) -> list[Json]:
    match kind:
        case "thinking":
            summary = [{"type": "summary_text", "text": str(block.get("thinking", ""))} for block in blocks]
            return [{"type": "reasoning", "summary": summary}]
        case "text":
            return [_said("\n".join(block.get("text", "") for block in blocks))]
        case "toolCall":
            given = [{"call_id": call["id"], "name": call["name"], "arguments": _arguments(call)} for call in blocks]
            return [{"type": "function_call", **call} for call in given]
    return []


def _said(text: str) -> Json:
    content = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "role": "assistant", "content": [content]}


def _output(message: Json) -> Any:
    is_text = all(block.get("type") == "text" for block in _blocks(message))
    return _text(message) if is_text else [_input(block) for block in _blocks(message)]


def _input(block: Json) -> Json:
    if block.get("type") == "image":
        return {"type": "input_image", "image_url": _data_uri(block)}
    return {"type": "input_text", "text": block.get("text", "")}


# Anthropic and Gemini


def _with_joined_results(messages: Sequence[Json], form: NativeFormat) -> list[list[Json]]:
    """All results between two other messages are one element."""
    writers: Mapping[NativeFormat, tuple[str, Callable[[Json], Json], Callable[[Json, str], Json]]] = {
        NativeFormat.ANTHROPIC: ("content", _anthropic, lambda message, _: _anthropic_result(message)),
        NativeFormat.GEMINI: ("parts", _gemini, _gemini_result),
    }
    name, write, write_result = writers[form]
    names: dict[str, str] = {}
    found: list[list[Json]] = []
    before: Json | None = None
    for message in messages:
        if message.get("role") != "toolResult":
            names |= {call["id"]: call["name"] for call in _calls(message)}
            found.append([write(message)])
            before = None
            continue
        part = write_result(message, names.get(message.get("toolCallId", ""), ""))
        if before is None:
            before = {"role": "user", name: [part]}
            found.append([before])
        else:
            before[name].append(part)
            found.append([])
    return found


def _anthropic(message: Json) -> Json:
    if message.get("role") != "assistant":
        blocks = [_anthropic_block(block) for block in _blocks(message)]
        return {"role": "user", "content": blocks}
    blocks = [_anthropic_block(block) for block in _blocks(message)]
    return {"role": "assistant", "content": [block for block in blocks if block.get("text") != ""]}


def _anthropic_block(block: Json) -> Json:
    match block.get("type"):
        case "thinking":
            signature = str(block.get("thinkingSignature") or "sig")
            return {"type": "thinking", "thinking": str(block.get("thinking", "")), "signature": signature}
        case "toolCall":
            arguments = block.get("arguments")
            given = arguments if isinstance(arguments, dict) else {"value": arguments}
            return {"type": "tool_use", "id": block["id"], "name": block["name"], "input": given}
        case "image":
            source = {"type": "base64", "media_type": block.get("mimeType"), "data": block.get("data")}
            return {"type": "image", "source": source}
        case _:
            return {"type": "text", "text": block.get("text", "")}


def _anthropic_result(message: Json) -> Json:
    blocks = [_anthropic_block(block) for block in _blocks(message)]
    result: Json = {"type": "tool_result", "tool_use_id": message.get("toolCallId", ""), "content": blocks}
    return result | ({"is_error": True} if message.get("isError") is True else {})


def _gemini(message: Json) -> Json:
    role = "model" if message.get("role") == "assistant" else "user"
    return {"role": role, "parts": [_gemini_part(block) for block in _blocks(message)]}


def _gemini_part(block: Json) -> Json:
    match block.get("type"):
        case "thinking":
            return {"text": str(block.get("thinking", "")), "thought": True}
        case "toolCall":
            arguments = block.get("arguments")
            given = arguments if isinstance(arguments, dict) else {"value": arguments}
            return {"functionCall": {"id": block["id"], "name": block["name"], "args": given}}
        case "image":
            return {"inlineData": {"mimeType": block.get("mimeType"), "data": block.get("data")}}
        case _:
            return {"text": block.get("text", "")}


def _gemini_result(message: Json, name: str) -> Json:
    label = "error" if message.get("isError") is True else "output"
    response = {"id": message.get("toolCallId", ""), "name": name, "response": {label: _text(message)}}
    images = [_gemini_part(block) for block in _blocks(message) if block.get("type") == "image"]
    return {"functionResponse": response | ({"parts": images} if images else {})}
