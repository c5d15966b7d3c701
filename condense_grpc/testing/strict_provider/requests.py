"""What a request says: which API it is for, its history, the tools that it offers, and what is wrong with it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from condense_grpc.native.fields import objects_in
from condense_grpc.native.formats import NativeFormat
from condense_grpc.testing.native_validator import validate_native

Json = Mapping[str, Any]
HISTORY = {
    NativeFormat.OPENAI_CHAT: "messages",
    NativeFormat.OPENAI_RESPONSES: "input",
    NativeFormat.ANTHROPIC: "messages",
    NativeFormat.GEMINI: "contents",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that came in. `refused`: what was wrong with it; empty: nothing."""

    form: NativeFormat
    history: Sequence[Json]
    body: Json
    refused: str = ""


def form_of(path: str) -> NativeFormat | None:
    """The API behind a path; None: there is nothing."""
    place = path.partition("?")[0]
    if place.endswith("/chat/completions"):
        return NativeFormat.OPENAI_CHAT
    if place.endswith("/responses"):
        return NativeFormat.OPENAI_RESPONSES
    if place.endswith("/messages"):
        return NativeFormat.ANTHROPIC
    return NativeFormat.GEMINI if place.endswith(":generateContent") else None


def asked(form: NativeFormat, body: Json) -> Asked:
    """A request with what the provider would refuse in it."""
    history: Any = body.get(HISTORY[form])
    if form is NativeFormat.OPENAI_RESPONSES and isinstance(history, str):
        history = [{"role": "user", "content": history}]
    listed = objects_in(history)
    if not isinstance(history, list) or not history or len(listed) != len(history):
        return Asked(form, listed, body, f"{HISTORY[form]} has to be a list of objects, not an empty one")
    defects = validate_native(form, listed, is_request=True)
    told = [
        f"{HISTORY[form]}[{one.message_index}]: {one.kind.value} {one.tool_call_id} {one.what}".strip()
        for one in defects
    ]
    return Asked(form, listed, body, "; ".join([*_wrong_request(form, body), *told]))


def offered_tools(request: Asked) -> set[str]:
    """The names of the tools that the model may call."""
    tools = objects_in(request.body.get("tools"))
    declared = [one for tool in tools for one in objects_in(tool.get("functionDeclarations"))]
    functions = [tool["function"] for tool in tools if isinstance(tool.get("function"), dict)]
    return {str(one["name"]) for one in (*tools, *declared, *functions) if "name" in one}


def last_result(request: Asked) -> str:
    """The text of the result that stands last in the history."""
    found = [text for element in request.history for text in _results(request.form, element)]
    return found[-1] if found else ""


def _wrong_request(form: NativeFormat, body: Json) -> Iterable[str]:
    if form is not NativeFormat.GEMINI and not isinstance(body.get("model"), str):
        yield "model is missing"
    if form is NativeFormat.ANTHROPIC and not isinstance(body.get("max_tokens"), int):
        yield "max_tokens is missing"
    if form is not NativeFormat.OPENAI_CHAT and body.get("stream"):
        yield "this provider streams chat completions only"
    if body.get("previous_response_id"):
        yield "this provider keeps no responses: send the whole input"


def _results(form: NativeFormat, element: Json) -> Iterable[str]:
    if form is NativeFormat.OPENAI_CHAT and element.get("role") == "tool":
        yield _text(element.get("content"))
    elif form is NativeFormat.OPENAI_RESPONSES and element.get("type") == "function_call_output":
        yield _text(element.get("output"))
    elif form is NativeFormat.ANTHROPIC:
        blocks = objects_in(element.get("content"))
        yield from (_text(block.get("content")) for block in blocks if block.get("type") == "tool_result")
    elif form is NativeFormat.GEMINI:
        responses = [part.get("functionResponse") for part in objects_in(element.get("parts"))]
        yield from (json.dumps(one.get("response")) for one in responses if isinstance(one, dict))


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(str(one.get("text", "")) for one in objects_in(content))
