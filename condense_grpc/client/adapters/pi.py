"""Histories in the JSON of the Pi agent: `role`, `content` as text or blocks, `timestamp`, `toolCallId` and so on.

Reading is lenient, because hosts write what they like: a member of the wrong form counts as absent, and a role that
Pi does not give to users, models or tools is a custom message.
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
    base64_of,
    bytes_of,
    compact,
    opaque_part,
    parse_object,
    parse_or_text,
    rest,
    text_or_empty,
    text_part,
)

_INT64 = 1 << 63


class PiAdapter(JsonAdapter):
    """An object is one Pi message."""

    def to_message(self, piece: Any) -> Message:
        """Typed fields for what Pi names, `extra_json` for the rest."""
        role, parts = text_or_empty(piece.get("role")), _parts(piece)
        known = ["role", "content", "timestamp"]
        message = Message()
        if role == "user":
            message.user.CopyFrom(UserMessage(parts=parts))
        elif role == "assistant":
            message.assistant.CopyFrom(AssistantMessage(parts=parts))
        elif role == "toolResult":
            known += ["toolCallId", "toolName", "isError"]
            call_id, name = text_or_empty(piece.get("toolCallId")), text_or_empty(piece.get("toolName"))
            is_error = piece.get("isError") is True
            result = ToolResultMessage(tool_call_id=call_id, tool_name=name, parts=parts, is_error=is_error)
            message.tool_result.CopyFrom(result)
        else:
            known += ["customType", "details", "display"]
            details = piece.get("details")
            custom = CustomMessage(
                role=role,
                custom_type=text_or_empty(piece.get("customType")),
                parts=parts,
                details_json="" if details is None else compact(details),
                display=piece.get("display") is True,
            )
            message.custom.CopyFrom(custom)
        time = _time_ms(piece.get("timestamp"))
        if time is not None:
            message.timestamp_ms = time
        message.extra_json = rest(piece, *known)
        return message

    def from_message(self, message: Message, kind: "InsertKind.ValueType") -> Any:
        """A Pi message of the same role; a custom message that is only text has text as its content."""
        value: dict[str, Any]
        match message.WhichOneof("kind"):
            case "user":
                value = {"role": "user", "content": [_block(part) for part in message.user.parts]}
            case "assistant":
                value = {"role": "assistant", "content": [_block(part) for part in message.assistant.parts]}
            case "tool_result":
                result = message.tool_result
                value = {"role": "toolResult", "toolCallId": result.tool_call_id, "toolName": result.tool_name}
                value |= {"content": [_block(part) for part in result.parts], "isError": result.is_error}
            case _:
                value = _custom(message.custom)
        value |= parse_object(message.extra_json)
        return value | ({"timestamp": message.timestamp_ms} if message.HasField("timestamp_ms") else {})

    def replace_result(self, piece: Any, text: str) -> Any:
        """A stub in Pi's form: id, name, text, no error, time, and no other member."""
        call_id, name = text_or_empty(piece.get("toolCallId")), text_or_empty(piece.get("toolName"))
        stub: dict[str, Any] = {"role": "toolResult", "toolCallId": call_id, "toolName": name}
        stub |= {"content": [{"type": "text", "text": text}], "isError": False}
        return stub | ({"timestamp": piece["timestamp"]} if "timestamp" in piece else {})

    def purge_arguments(self, piece: Any, call_index: int, arguments_json: str) -> Any:
        """The call's `arguments` become the placeholder."""
        content = list(piece["content"])
        calls = [place for place, block in enumerate(content) if _kind(block) == "toolCall"]
        content[calls[call_index]] = content[calls[call_index]] | {"arguments": parse_or_text(arguments_json)}
        return piece | {"content": content}

    def strip_thinking(self, piece: Any) -> Any:
        """The content without its thinking blocks."""
        return piece | {"content": [block for block in piece["content"] if _kind(block) != "thinking"]}


def _kind(block: Any) -> Any:
    return block.get("type") if isinstance(block, dict) else None


def _time_ms(value: Any) -> int | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and -_INT64 <= value < _INT64 else None


def _parts(message: dict[str, Any]) -> list[Part]:
    content = message.get("content")
    if isinstance(content, list):
        return [_part(block) for block in content if isinstance(block, dict)]
    has_text = isinstance(content, str) and message.get("role") not in ("assistant", "toolResult")
    return [text_part(content)] if has_text and isinstance(content, str) else []


def _part(block: dict[str, Any]) -> Part:
    match block.get("type"):
        case "text":
            return text_part(text_or_empty(block.get("text")), rest(block, "type", "text"))
        case "thinking":
            signature, redacted = text_or_empty(block.get("thinkingSignature")), block.get("redacted") is True
            known = ["type", "thinking"] + ["redacted"] * redacted
            known += ["thinkingSignature"] * isinstance(block.get("thinkingSignature"), str)
            thinking = ThinkingPart(text=text_or_empty(block.get("thinking")), signature=signature, redacted=redacted)
            return Part(thinking=thinking, extra_json=rest(block, *known))
        case "toolCall":
            arguments = block.get("arguments")
            call = ToolCallPart(
                id=text_or_empty(block.get("id")),
                name=text_or_empty(block.get("name")),
                arguments_json="" if arguments is None else compact(arguments),
            )
            return Part(tool_call=call, extra_json=rest(block, "type", "id", "name", "arguments"))
        case "image":
            data, media_type = bytes_of(block.get("data")), text_or_empty(block.get("mimeType"))
            known = ["type", *(["data"] if data else []), *(["mimeType"] if media_type else [])]
            image = ImagePart(media_type=media_type, data=data) if data else ImagePart(media_type=media_type)
            return Part(image=image, extra_json=rest(block, *known))
        case kind:
            return opaque_part(text_or_empty(kind), block)


def _block(part: Part) -> Any:
    block: dict[str, Any]
    match part.WhichOneof("kind"):
        case "text":
            block = {"type": "text", "text": part.text.text}
        case "thinking":
            block = {"type": "thinking", "thinking": part.thinking.text}
            block |= {"thinkingSignature": part.thinking.signature} if part.thinking.signature else {}
            block |= {"redacted": True} if part.thinking.redacted else {}
        case "tool_call":
            block = {"type": "toolCall", "id": part.tool_call.id, "name": part.tool_call.name}
            arguments = part.tool_call.arguments_json
            block |= {"arguments": parse_or_text(arguments)} if arguments else {}
        case "image":
            block = {"type": "image"}
            block |= {"data": base64_of(part.image.data)} if part.image.data else {}
            block |= {"mimeType": part.image.media_type} if part.image.media_type else {}
            block |= {"uri": part.image.uri} if part.image.uri else {}
        case _:
            return parse_or_text(part.opaque.json)
    return block | parse_object(part.extra_json)


def _custom(custom: CustomMessage) -> dict[str, Any]:
    value: dict[str, Any] = {"role": custom.role or "custom"}
    if custom.custom_type:
        value["customType"] = custom.custom_type
    parts = custom.parts
    is_text = len(parts) == 1 and parts[0].HasField("text") and not parts[0].extra_json
    value["content"] = parts[0].text.text if is_text else [_block(part) for part in parts]
    value["display"] = custom.display
    if custom.details_json:
        value["details"] = parse_or_text(custom.details_json)
    return value
