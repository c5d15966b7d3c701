"""Histories in the `messages` of the OpenAI Chat Completions API and of the many servers that speak it.

Summaries and blocks of the service become user messages of their own: the API takes user messages in any number and
place, except between a call and its results, where the service never puts one. `reasoning_content` and `reasoning`,
the two names under which compatible servers return thinking, count as thinking.
"""

from typing import Any

from condense_grpc.api.condense.v1.edit_pb2 import InsertKind
from condense_grpc.api.condense.v1.message_pb2 import (
    AssistantMessage,
    CustomMessage,
    ImagePart,
    Message,
    Part,
    ThinkingPart,
    ToolCallPart,
    ToolResultMessage,
    UserMessage,
)
from condense_grpc.client.adapters.json_value import (
    JsonAdapter,
    bytes_of,
    compact,
    data_uri,
    opaque_part,
    parse_object,
    parse_or_text,
    rest,
    text_or_empty,
    text_part,
)

_REASONING = ("reasoning_content", "reasoning")


class OpenAIAdapter(JsonAdapter):
    """An object is one chat message, a dict or an object of OpenAI's SDK."""

    results_name_their_tool = False

    def to_message(self, piece: Any) -> Message:
        """Typed fields for what the API names, `extra_json` for the rest."""
        role, content = text_or_empty(piece.get("role")), _content_parts(piece.get("content"))
        match role:
            case "user":
                return Message(user=UserMessage(parts=content), extra_json=rest(piece, "role", "content"))
            case "assistant":
                return _assistant(piece, content)
            case "tool" | "function":
                call_id, name = text_or_empty(piece.get("tool_call_id")), text_or_empty(piece.get("name"))
                result = ToolResultMessage(tool_call_id=call_id, tool_name=name, parts=content)
                return Message(tool_result=result, extra_json=rest(piece, "role", "content", "tool_call_id", "name"))
            case _:
                custom = CustomMessage(role=role, parts=content)
                return Message(custom=custom, extra_json=rest(piece, "role", "content"))

    def from_message(self, message: Message, kind: "InsertKind.ValueType") -> Any:
        """A message of the same role; a custom one becomes a user message."""
        match message.WhichOneof("kind"):
            case "assistant":
                return _assistant_dict(message) | parse_object(message.extra_json)
            case "tool_result":
                result = message.tool_result
                value = {"role": "tool", "tool_call_id": result.tool_call_id, "content": _content_of(result.parts)}
                return value | parse_object(message.extra_json)
            case "user":
                value = {"role": "user", "content": _content_of(message.user.parts)}
                return value | parse_object(message.extra_json)
            case _:
                return {"role": "user", "content": _content_of(message.custom.parts)}

    def replace_result(self, piece: Any, text: str) -> Any:
        """The answer to the same call, with the text in the form that the content had."""
        is_list = isinstance(piece.get("content"), list)
        content: Any = [{"type": "text", "text": text}] if is_list else text
        kept = {name: piece[name] for name in ("role", "tool_call_id", "name") if name in piece}
        return kept | {"content": content}

    def purge_arguments(self, piece: Any, call_index: int, arguments_json: str) -> Any:
        """The call's argument text becomes the placeholder."""
        calls = list(piece.get("tool_calls") or ())
        if call_index == len(calls):
            return piece | {"function_call": piece["function_call"] | {"arguments": arguments_json}}
        call = calls[call_index]
        body, member = _body_of(call)
        calls[call_index] = call | {body: call[body] | {member: arguments_json}}
        return piece | {"tool_calls": calls}

    def strip_thinking(self, piece: Any) -> Any:
        """The message without reasoning."""
        return {name: member for name, member in piece.items() if name not in _REASONING}


def _body_of(call: Any) -> tuple[str, str]:
    """Where a call keeps name and arguments, and under which name the arguments."""
    return ("custom", "input") if "custom" in call and "function" not in call else ("function", "arguments")


def _assistant(piece: dict[str, Any], content: list[Part]) -> Message:
    parts: list[Part] = []
    known = ["role", "content", "tool_calls"]
    for name in _REASONING:
        if isinstance(piece.get(name), str) and not parts:
            parts.append(Part(thinking=ThinkingPart(text=piece[name])))
            known.append(name)
    parts += content
    for call in piece.get("tool_calls") or ():
        body, member = _body_of(call)
        function = call.get(body) or {}
        parts.append(_call_part(text_or_empty(call.get("id")), function, member, rest(call, "id", "type", body)))
    if isinstance(piece.get("function_call"), dict):
        parts.append(_call_part("", piece["function_call"], "arguments", ""))
        known.append("function_call")
    return Message(assistant=AssistantMessage(parts=parts), extra_json=rest(piece, *known))


def _call_part(call_id: str, function: dict[str, Any], member: str, extra_json: str) -> Part:
    name, arguments = text_or_empty(function.get("name")), text_or_empty(function.get(member))
    return Part(tool_call=ToolCallPart(id=call_id, name=name, arguments_json=arguments), extra_json=extra_json)


def _content_parts(content: Any) -> list[Part]:
    if isinstance(content, str):
        return [text_part(content)]
    return [_content_part(block) for block in content] if isinstance(content, list) else []


def _content_part(block: Any) -> Part:
    kind = block.get("type")
    if kind == "text":
        return text_part(text_or_empty(block.get("text")), rest(block, "type", "text"))
    image = block.get("image_url")
    if kind != "image_url" or not isinstance(image, dict):
        return opaque_part(text_or_empty(kind), block)
    uri = text_or_empty(image.get("url"))
    head, separator, encoded = uri.partition(";base64,")
    data = bytes_of(encoded) if separator and head.startswith("data:") else b""
    source = ImagePart(media_type=head.removeprefix("data:"), data=data) if data else ImagePart(uri=uri)
    return Part(image=source, extra_json=rest(image, "url"))


def _content_of(parts: Any) -> Any:
    """Text alone as a string, which every compatible server takes; else a list."""
    if len(parts) == 1 and parts[0].HasField("text") and not parts[0].extra_json:
        return parts[0].text.text
    return [_block(part) for part in parts]


def _block(part: Part) -> Any:
    match part.WhichOneof("kind"):
        case "text":
            return {"type": "text", "text": part.text.text} | parse_object(part.extra_json)
        case "image":
            return {"type": "image_url", "image_url": {"url": data_uri(part.image)} | parse_object(part.extra_json)}
        case "opaque":
            return parse_or_text(part.opaque.json)
        case _:
            return {"type": "text", "text": compact(part.WhichOneof("kind"))}


def _assistant_dict(message: Message) -> dict[str, Any]:
    parts = message.assistant.parts
    content = [part for part in parts if part.WhichOneof("kind") not in ("thinking", "tool_call")]
    value: dict[str, Any] = {"role": "assistant", "content": _content_of(content) if content else None}
    thinking = "\n".join(part.thinking.text for part in parts if part.HasField("thinking"))
    value |= {"reasoning_content": thinking} if thinking else {}
    calls = [
        {
            "id": part.tool_call.id,
            "type": "function",
            "function": {"name": part.tool_call.name, "arguments": part.tool_call.arguments_json},
        }
        | parse_object(part.extra_json)
        for part in parts
        if part.HasField("tool_call")
    ]
    return value | ({"tool_calls": calls} if calls else {})
