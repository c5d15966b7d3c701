"""Messages in Pi's JSON: the form in which rules measure messages and in which sessions move in and out.

Reading never fails: what is not an object behaves like a message of an unknown role, a missing or odd id or
name is the empty string, a content that is not a list has no parts (a user's or a custom message's may be a
string), and an element of it that is not an object is no part.
Writing what was read gives the same JSON value back.
"""

import base64
import binascii
from typing import Any

from condense_grpc.domain.json_text import compact, parse_object, parse_or_text
from condense_grpc.domain.messages import (
    ImagePart,
    Message,
    OpaquePart,
    Part,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "toolResult": Role.TOOL_RESULT}
SUMMARY_TYPE = "context-prune-summary"


def text_or_empty(value: Any) -> str:
    """The string, or the empty one for everything else."""
    return value if isinstance(value, str) else ""


def number_or_none(value: Any) -> int | None:
    """A JSON number as an int; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == value and abs(value) != float("inf") else None


def _rest(value: dict[str, Any], known: set[str]) -> str:
    extra = {name: member for name, member in value.items() if name not in known}
    return compact(extra) if extra else ""


def part_from_pi(block: Any) -> Part:
    """One content block. Anything that is not an object is opaque."""
    if not isinstance(block, dict):
        return OpaquePart("", compact(block))
    match block.get("type"):
        case "text":
            return TextPart(text_or_empty(block.get("text")), _rest(block, {"type", "text"}))
        case "thinking":
            return _thinking(block)
        case "toolCall":
            return _tool_call(block)
        case "image":
            return _image(block)
        case kind:
            return OpaquePart(text_or_empty(kind), compact(block))


def _thinking(block: dict[str, Any]) -> Part:
    known = {"type", "thinking"}
    known |= {"thinkingSignature"} if isinstance(block.get("thinkingSignature"), str) else set()
    known |= {"redacted"} if block.get("redacted") is True else set()
    return ThinkingPart(
        text_or_empty(block.get("thinking")),
        text_or_empty(block.get("thinkingSignature")),
        block.get("redacted") is True,
        _rest(block, known),
    )


def _tool_call(block: dict[str, Any]) -> Part:
    arguments = block.get("arguments")
    return ToolCallPart(
        text_or_empty(block.get("id")),
        text_or_empty(block.get("name")),
        None if arguments is None else compact(arguments),
        _rest(block, {"type", "id", "name", "arguments"}),
    )


def _image(block: dict[str, Any]) -> Part:
    known = {"type"}
    data = _base64(block.get("data"))
    known |= {"data"} if data else set()
    media_type = text_or_empty(block.get("mimeType"))
    known |= {"mimeType"} if media_type else set()
    return ImagePart(media_type, data, "", _rest(block, known))


def _base64(value: Any) -> bytes:
    """The bytes of canonical base64; empty for everything else, which then stays as it is."""
    if not isinstance(value, str) or not value:
        return b""
    try:
        data = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return data if base64.b64encode(data).decode() == value else b""


def part_to_pi(part: Part) -> Any:
    """The content block of a part."""
    match part:
        case TextPart():
            block: dict[str, Any] = {"type": "text", "text": part.text}
        case ThinkingPart():
            block = {"type": "thinking", "thinking": part.text}
            block |= {"thinkingSignature": part.signature} if part.signature else {}
            block |= {"redacted": True} if part.redacted else {}
        case ToolCallPart():
            block = {"type": "toolCall", "id": part.id, "name": part.name}
            if part.arguments_json is not None:
                block["arguments"] = parse_or_text(part.arguments_json)
        case ImagePart():
            block = {"type": "image"}
            block |= {"data": base64.b64encode(part.data).decode()} if part.data else {}
            block |= {"mimeType": part.media_type} if part.media_type else {}
            block |= {"uri": part.uri} if part.uri else {}
        case OpaquePart():
            return parse_or_text(part.json)
    return block | parse_object(part.extra_json) if part.extra_json else block


def message_from_pi(value: Any, *, keep_source: bool = True) -> Message:
    """One message. With `keep_source` the whole element stays in `source_json`."""
    source = compact(value) if keep_source else ""
    if not isinstance(value, dict):
        return Message(Role.CUSTOM, source_json=compact(value))
    written = text_or_empty(value.get("role"))
    role = _ROLES.get(written, Role.CUSTOM)
    known = {"role", "content", "timestamp"}
    fields: dict[str, Any] = {}
    if role is Role.TOOL_RESULT:
        known |= {"toolCallId", "toolName", "isError"}
        fields["tool_call_id"] = text_or_empty(value.get("toolCallId"))
        fields["tool_name"] = text_or_empty(value.get("toolName"))
        fields["is_error"] = value.get("isError") is True
    elif role is Role.CUSTOM:
        known |= {"customType", "details", "display"}
        fields["custom_role"] = written
        fields["custom_type"] = text_or_empty(value.get("customType"))
        fields["details_json"] = compact(value["details"]) if value.get("details") is not None else ""
        fields["display"] = value.get("display") is True
    return Message(
        role=role,
        parts=_content(role, value.get("content")),
        timestamp_ms=number_or_none(value.get("timestamp")),
        extra_json=_rest(value, known),
        source_json=source,
        **fields,
    )


def _content(role: Role, content: Any) -> tuple[Part, ...]:
    if isinstance(content, list):
        return tuple(part_from_pi(block) for block in content if isinstance(block, dict))
    if isinstance(content, str) and role in (Role.USER, Role.CUSTOM):
        return (TextPart(content),)
    return ()


def message_to_pi(message: Message) -> Any:
    """The JSON value of a message: its source if it has one, else built from its fields."""
    if message.source_json:
        return parse_or_text(message.source_json)
    value: dict[str, Any] = {"role": message.custom_role or message.role.value}
    if message.role is Role.TOOL_RESULT:
        value |= {"toolCallId": message.tool_call_id, "toolName": message.tool_name}
    if message.custom_type:
        value["customType"] = message.custom_type
    value["content"] = [part_to_pi(part) for part in message.parts]
    if message.role is Role.TOOL_RESULT:
        value["isError"] = message.is_error
    if message.role is Role.CUSTOM:
        value["display"] = message.display
    if message.details_json:
        value["details"] = parse_or_text(message.details_json)
    value |= parse_object(message.extra_json)
    if message.timestamp_ms is not None:
        value["timestamp"] = message.timestamp_ms
    return value
