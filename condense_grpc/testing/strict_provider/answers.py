"""What the provider answers, in the format of each API: a turn of the script, or a refusal."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from condense_grpc.native.formats import NativeFormat
from condense_grpc.testing.strict_provider.requests import HISTORY, Asked
from condense_grpc.testing.strict_provider.script import Turn

Json = dict[str, Any]

_ANTHROPIC_ERRORS = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}
_GEMINI_ERRORS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}


def answer(form: NativeFormat, turn: Turn, number: int, request: Asked) -> Json:
    """The body of the `number`-th answer. Ids of calls are unique over all answers; tokens are characters / 4."""
    writers: Mapping[NativeFormat, Callable[[Turn, int, str], Json]] = {
        NativeFormat.OPENAI_CHAT: _chat,
        NativeFormat.OPENAI_RESPONSES: _responses,
        NativeFormat.ANTHROPIC: _anthropic,
        NativeFormat.GEMINI: _gemini,
    }
    body = writers[form](turn, number, str(request.body.get("model", "none")))
    sent, came = len(json.dumps(request.body)) // 4, len(json.dumps(body)) // 4
    match form:
        case NativeFormat.GEMINI:
            counts = {"promptTokenCount": sent, "candidatesTokenCount": came, "totalTokenCount": sent + came}
            return body | {"usageMetadata": counts}
        case NativeFormat.OPENAI_CHAT:
            counts = {"prompt_tokens": sent, "completion_tokens": came, "total_tokens": sent + came}
        case NativeFormat.OPENAI_RESPONSES:
            counts = {"input_tokens": sent, "output_tokens": came, "total_tokens": sent + came}
        case _:
            counts = {"input_tokens": sent, "output_tokens": came}
    return body | {"usage": counts}


def refusal(form: NativeFormat, status: int, message: str) -> Json:
    """The body of an answer that is an error."""
    if form is NativeFormat.ANTHROPIC:
        kind = _ANTHROPIC_ERRORS.get(status, "overloaded_error" if status == 529 else "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}
    if form is NativeFormat.GEMINI:
        return {"error": {"code": status, "message": message, "status": _GEMINI_ERRORS.get(status, "INTERNAL")}}
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": HISTORY[form], "code": None}}


def _id(number: int, place: int) -> str:
    return f"call_{number}_{place}"


def _chat(turn: Turn, number: int, model: str) -> Json:
    message: Json = {"role": "assistant", "content": turn.text or None, "refusal": None}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": _id(number, place),
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for place, (name, arguments) in enumerate(turn.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if turn.calls else "stop"}
    fixed = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1, "model": model}
    return fixed | {"choices": [choice]}


def _responses(turn: Turn, number: int, model: str) -> Json:
    output: list[Json] = [{"type": "reasoning", "id": f"rs_{number}", "summary": []}]
    if turn.text:
        content = {"type": "output_text", "text": turn.text, "annotations": []}
        said = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        output.append(said | {"content": [content]})
    output += [
        {
            "type": "function_call",
            "id": f"fc_{number}_{place}",
            "call_id": _id(number, place),
            "name": name,
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
        for place, (name, arguments) in enumerate(turn.calls)
    ]
    fixed = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": model, "status": "completed"}
    return fixed | {"output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}


def _anthropic(turn: Turn, number: int, model: str) -> Json:
    content: list[Json] = [{"type": "text", "text": turn.text}] if turn.text else []
    content += [
        {"type": "tool_use", "id": _id(number, place), "name": name, "input": dict(arguments)}
        for place, (name, arguments) in enumerate(turn.calls)
    ]
    stop = "tool_use" if turn.calls else "end_turn"
    fixed = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": model}
    return fixed | {"content": content, "stop_reason": stop, "stop_sequence": None}


def _gemini(turn: Turn, number: int, model: str) -> Json:
    parts: list[Json] = [{"text": turn.text}] if turn.text else []
    for place, (name, arguments) in enumerate(turn.calls):
        signature = {} if place else {"thoughtSignature": "c2lnbmVk"}
        parts.append({"functionCall": {"name": name, "args": dict(arguments)}} | signature)
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "modelVersion": model, "responseId": str(number)}
